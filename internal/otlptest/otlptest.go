// Package otlptest receives what OpenTelemetry's exporters send by OTLP over HTTP, for tests.
package otlptest

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Receiver is an endpoint that keeps what it gets.
type Receiver struct {
	// URL is its address, for OTEL_EXPORTER_OTLP_ENDPOINT.
	URL string

	mu    sync.Mutex
	raw   strings.Builder // every body and header
	spans []Span
	t     testing.TB
}

// Span is a span as it was received.
type Span struct {
	// Trace, ID and Parent are in hexadecimal digits; Parent is empty for the first span of a trace.
	Trace, ID, Parent string
	// Name is its name.
	Name string
	// Attributes are its attributes, as text.
	Attributes map[string]string
	// Failed says that its status is an error.
	Failed bool
	// Links are the ids of the spans that it is linked to.
	Links []string
}

// Start starts a receiver, which ends with the test.
func Start(t testing.TB) *Receiver {
	r := &Receiver{t: t}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// ServeHTTP takes what is sent.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		r.t.Errorf("what an exporter sends breaks off: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw.Write(body)
	if err := request.Header.Write(&r.raw); err != nil {
		r.t.Error(err)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	if request.URL.Path != "/v1/traces" {
		return
	}
	var sent collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &sent); err != nil {
		r.t.Errorf("what an exporter sends is no protobuf: %v", err)
	}
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				r.spans = append(r.spans, spanOf(span))
			}
		}
	}
}

func spanOf(s *trace.Span) Span {
	out := Span{
		Trace: hex.EncodeToString(s.TraceId), ID: hex.EncodeToString(s.SpanId), Parent: hex.EncodeToString(s.ParentSpanId),
		Name: s.Name, Attributes: map[string]string{}, Failed: s.Status.GetCode() == trace.Status_STATUS_CODE_ERROR,
	}
	for _, a := range s.Attributes {
		out.Attributes[a.Key] = textOf(a.Value)
	}
	for _, link := range s.Links {
		out.Links = append(out.Links, hex.EncodeToString(link.SpanId))
	}
	return out
}

func textOf(value *common.AnyValue) string {
	switch v := value.Value.(type) {
	case *common.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10)
	case *common.AnyValue_DoubleValue:
		return strconv.FormatFloat(v.DoubleValue, 'g', -1, 64)
	}
	return value.GetStringValue()
}

// Spans are those received so far, of one trace or of all if it is empty.
func (r *Receiver) Spans(trace string) []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.spans), func(s Span) bool { return trace != "" && s.Trace != trace })
}

// Raw is every body and every header received so far.
func (r *Receiver) Raw() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raw.String()
}
