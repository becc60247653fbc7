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
		with := metric.WithAttributeSet(s.set(v))
		found = options{[]metric.AddOption{with}, []metric.RecordOption{with}, []metric.ObserveOption{with}}
		s.known[v] = found
	}
	return found
}

// set returns values as a set of attributes. A text of digits, such as a status, becomes a number.
func (s *series) set(v values) attribute.Set {
	pairs := make([]attribute.KeyValue, len(s.attributes))
	for i, a := range s.attributes {
		pairs[i] = attribute.String(a.Key, v[i])
		if number, err := strconv.Atoi(v[i]); err == nil {
			pairs[i] = attribute.Int(a.Key, number)
		}
	}
	return attribute.NewSet(pairs...)
}

// total adds up: a counter whole things, which may also rise and fall, and a sum amounts.
type total[N int64 | float64] struct {
	*series
	to interface {
		Add(ctx context.Context, n N, options ...metric.AddOption)
	}
}

type (
	counter = total[int64]
	sum     = total[float64]
)

func (t total[N]) add(ctx context.Context, n N, v values) { t.to.Add(ctx, n, t.of(v).add...) }

// histogram counts values by their size.
type histogram struct {
	*series
	to metric.Float64Histogram
}

func (h histogram) record(ctx context.Context, value float64, v values) {
	h.to.Record(ctx, value, h.of(v).record...)
}

// meters makes instruments by their names in the table. It panics on a name that is not there or of
// another kind: a bug, which the first test finds.
type meters struct{ metric.Meter }

func (m meters) row(name string, kind Kind) Instrument {
	i := slices.IndexFunc(instruments, func(row Instrument) bool { return row.Name == name && row.Kind == kind })
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

func (m meters) level(name string) counter {
	row := m.row(name, UpDown)
	return counter{newSeries(row.Attributes), must(m.Int64UpDownCounter(name, metric.WithUnit(row.Unit), metric.WithDescription(row.Description)))}
}

func (m meters) histogram(name string) histogram {
	row := m.row(name, Histogram)
	return histogram{newSeries(row.Attributes), must(m.Float64Histogram(name,
		metric.WithUnit(row.Unit), metric.WithDescription(row.Description), metric.WithExplicitBucketBoundaries(row.Buckets...)))}
}
