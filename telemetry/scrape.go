package telemetry

import (
	"errors"
	"io"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Reading has the metrics of one scrape by their names.
type Reading map[string][]Sample

// Sample is a series: the value of a counter or a gauge, or the number of values in a histogram.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// ReadMetrics reads metrics in Prometheus' format.
func ReadMetrics(r io.Reader) (Reading, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return nil, errors.New("it is not in Prometheus' format")
	}
	out := Reading{}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			s := Sample{Labels: map[string]string{}}
			for _, label := range metric.GetLabel() {
				s.Labels[label.GetName()] = label.GetValue()
			}
			switch {
			case metric.Counter != nil:
				s.Value = metric.Counter.GetValue()
			case metric.Gauge != nil:
				s.Value = metric.Gauge.GetValue()
			case metric.Histogram != nil:
				s.Value = float64(metric.Histogram.GetSampleCount())
			}
			out[name] = append(out[name], s)
		}
	}
	return out, nil
}
