package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/metric"
)

// Watch exports a gauge, or one of its series by the values of its attributes. It is looked at
// whenever metrics are collected: read returns false while there is nothing to tell. Call it once
// for each series.
func (m *Metrics) Watch(gauge string, read func() (value float64, known bool), of ...string) {
	m.WatchAll(gauge, func(show func(float64, ...string)) {
		if value, known := read(); known {
			show(value, of...)
		}
	})
}

// WatchAll exports all series of a gauge: read shows each with the values of its attributes.
func (m *Metrics) WatchAll(gauge string, read func(show func(value float64, of ...string))) {
	row := m.meters.row(gauge, Gauge)
	known := newSeries(row.Attributes)
	must(m.meters.Float64ObservableGauge(gauge, metric.WithUnit(row.Unit), metric.WithDescription(row.Description),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			read(func(value float64, of ...string) {
				var v values
				copy(v[:], of)
				o.Observe(value, known.of(v).observe...)
			})
			return nil
		})))
}

// WatchCounter exports a counter that something else counts.
func (m *Metrics) WatchCounter(counter string, read func() int64) {
	row := m.meters.row(counter, Counter)
	must(m.meters.Int64ObservableCounter(counter, metric.WithUnit(row.Unit), metric.WithDescription(row.Description),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(read())
			return nil
		})))
}
