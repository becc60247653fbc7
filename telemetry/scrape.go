package telemetry

import (
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Reading has the metrics of one scrape: the values of counters and gauges, and the numbers of
// values in histograms.
type Reading struct{ families map[string][]sample }

type sample struct {
	labels map[string]string
	value  float64
}

// ReadMetrics reads metrics in Prometheus' format.
func ReadMetrics(r io.Reader) (Reading, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return Reading{}, errors.New("it is not in Prometheus' format")
	}
	out := Reading{map[string][]sample{}}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		for _, metric := range families[name].GetMetric() {
			s := sample{labels: map[string]string{}}
			for _, label := range metric.GetLabel() {
				s.labels[label.GetName()] = label.GetValue()
			}
			switch {
			case metric.Counter != nil:
				s.value = metric.Counter.GetValue()
			case metric.Gauge != nil:
				s.value = metric.Gauge.GetValue()
			case metric.Histogram != nil:
				s.value = float64(metric.Histogram.GetSampleCount())
			}
			out.families[name] = append(out.families[name], s)
		}
	}
	return out, nil
}

// Has reports whether there are values of a name.
func (r Reading) Has(name string) bool { return len(r.families[name]) > 0 }

// Each calls a function with the labels and the value of each series of a name.
func (r Reading) Each(name string, each func(labels map[string]string, value float64)) {
	for _, s := range r.families[name] {
		each(s.labels, s.value)
	}
}
