package telemetry

import (
	"context"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/metric"
)

// meters makes instruments by their names in the table. A name that is not there, or of another
// kind, is a bug that the first test finds: it panics.
type meters struct{ metric.Meter }

func (m meters) row(name string, kind Kind) Instrument {
	i := slices.IndexFunc(instruments, func(row Instrument) bool { return row.Name == name && row.Kind == kind && !row.Foreign })
	if i < 0 {
		panic(fmt.Sprintf("telemetry: the table of instruments has no %s %s", kind, name))
	}
	return instruments[i]
}

func must[T any](made T, err error) T {
	if err != nil {
		panic(err) // of a name or a unit that OpenTelemetry does not allow
	}
	return made
}

func (m meters) counter(name string) counter {
	row := m.row(name, Counter)
	return counter{newSeries(row.Attributes), must(m.Int64Counter(name, metric.WithUnit(row.Unit), metric.WithDescription(row.Description)))}
}

func (m meters) sum(name string) sum {
	row := m.row(name, Counter)
	return sum{newSeries(row.Attributes), must(m.Float64Counter(name, metric.WithUnit(row.Unit), metric.WithDescription(row.Description)))}
}

func (m meters) level(name string) level {
	row := m.row(name, UpDown)
	return level{newSeries(row.Attributes), must(m.Int64UpDownCounter(name, metric.WithUnit(row.Unit), metric.WithDescription(row.Description)))}
}

func (m meters) histogram(name string) histogram {
	row := m.row(name, Histogram)
	return histogram{newSeries(row.Attributes), must(m.Float64Histogram(name,
		metric.WithUnit(row.Unit), metric.WithDescription(row.Description), metric.WithExplicitBucketBoundaries(row.Buckets...)))}
}

// gauge has a series of a gauge, that of some values of its attributes, looked at whenever metrics
// are collected. read returns false while there is nothing to tell.
func (m meters) gauge(name string, read func() (value float64, known bool), of ...string) {
	m.gauges(name, func(show func(float64, ...string)) {
		if value, known := read(); known {
			show(value, of...)
		}
	})
}

// gauges has all series of a gauge. read shows them with the values of their attributes.
func (m meters) gauges(name string, read func(show func(value float64, of ...string))) {
	row := m.row(name, Gauge)
	known := newSeries(row.Attributes)
	must(m.Float64ObservableGauge(name, metric.WithUnit(row.Unit), metric.WithDescription(row.Description),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			read(func(value float64, of ...string) {
				var v values
				copy(v[:], of)
				o.Observe(value, known.of(v).observe...)
			})
			return nil
		})))
}

// watchedCounter has a counter that something else counts.
func (m meters) watchedCounter(name string, read func() int64) {
	row := m.row(name, Counter)
	must(m.Int64ObservableCounter(name, metric.WithUnit(row.Unit), metric.WithDescription(row.Description),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(read())
			return nil
		})))
}
