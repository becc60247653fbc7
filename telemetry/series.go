package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// values are the values of an instrument's attributes, in their order. It is an array so that
// finding a series allocates nothing.
type values [maxAttributes]string

// maxAttributes is the largest number of attributes that an instrument has.
const maxAttributes = 4

// series finds the OpenTelemetry options of a measurement by the values of its attributes. There is
// one series for each combination of values that occurred, and no more than the table of
// instruments allows. It is safe for concurrent use.
type series struct {
	attributes []Attribute

	mu    sync.RWMutex
	known map[values]options
}

// options are the options of one series, for each kind of instrument. They are slices because the
// methods of instruments take slices.
type options struct {
	add     []metric.AddOption
	record  []metric.RecordOption
	observe []metric.ObserveOption
}

func newSeries(attributes []Attribute) *series {
	return &series{attributes: attributes, known: map[values]options{}}
}

// of returns the options for some values. A value that an attribute cannot have becomes Other.
func (s *series) of(v values) options {
	s.mu.RLock()
	found, ok := s.known[v]
	s.mu.RUnlock()
	if ok {
		return found
	}
	for i, a := range s.attributes {
		if len(a.Values) > 0 && !slices.Contains(a.Values, v[i]) {
			v[i] = Other
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found, ok = s.known[v]; !ok {
		pairs := make([]attribute.KeyValue, len(s.attributes))
		for i, a := range s.attributes {
			pairs[i] = attribute.String(a.Key, v[i])
			if number, err := strconv.Atoi(v[i]); err == nil { // such as a status
				pairs[i] = attribute.Int(a.Key, number)
			}
		}
		with := metric.WithAttributeSet(attribute.NewSet(pairs...))
		found = options{[]metric.AddOption{with}, []metric.RecordOption{with}, []metric.ObserveOption{with}}
		s.known[v] = found
	}
	return found
}

// meters has the instruments by their names in the table.
type meters struct {
	metric.Meter
	made map[string]measure
}

// measure adds to a counter, or records a value in a histogram.
type measure func(ctx context.Context, value float64, v values)

func newMeters(meter metric.Meter) meters {
	m := meters{meter, map[string]measure{}}
	for _, row := range instruments {
		known, unit, description := newSeries(row.Attributes), metric.WithUnit(row.Unit), metric.WithDescription(row.Description)
		switch {
		case row.Kind == Gauge || row.Watched: // see Watch and WatchCounter
		case row.Kind == Histogram:
			to := must(m.Float64Histogram(row.Name, unit, description, metric.WithExplicitBucketBoundaries(row.Buckets...)))
			m.made[row.Name] = func(ctx context.Context, value float64, v values) { to.Record(ctx, value, known.of(v).record...) }
		case row.Kind == UpDown:
			to := must(m.Int64UpDownCounter(row.Name, unit, description))
			m.made[row.Name] = func(ctx context.Context, n float64, v values) { to.Add(ctx, int64(n), known.of(v).add...) }
		case row.Fractional:
			to := must(m.Float64Counter(row.Name, unit, description))
			m.made[row.Name] = func(ctx context.Context, n float64, v values) { to.Add(ctx, n, known.of(v).add...) }
		default:
			to := must(m.Int64Counter(row.Name, unit, description))
			m.made[row.Name] = func(ctx context.Context, n float64, v values) { to.Add(ctx, int64(n), known.of(v).add...) }
		}
	}
	return m
}

// note measures a value, in the series that has these values of the instrument's attributes. It
// panics on a name that is not in the table: a bug, which the first test finds.
func (m meters) note(ctx context.Context, name string, value float64, of ...string) {
	var v values
	copy(v[:], of)
	m.made[name](ctx, value, v)
}

// row returns the row of an instrument that is watched. It panics like note.
func (m meters) row(name string, kind Kind) Instrument {
	i := slices.IndexFunc(instruments, func(row Instrument) bool {
		return row.Name == name && row.Kind == kind && (kind == Gauge || row.Watched)
	})
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
