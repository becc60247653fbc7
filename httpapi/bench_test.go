package httpapi_test

import (
	stdlib "compress/gzip"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/sample"
	"github.com/talkback/talkback/internal/usage"
)

// The cost of observing a request is nothing if there is no observer.
func BenchmarkObservers(b *testing.B) {
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	tracesOf := func(sampler trace.Sampler) httpapi.Observer {
		return httpapi.TraceRequests(usage.NewTracer(trace.NewTracerProvider(trace.WithSampler(sampler))))
	}
	for _, row := range []struct {
		name      string
		observers []httpapi.Observer
	}{
		{"none", nil},
		{"slow operations", []httpapi.Observer{httpapi.NewSlowLog(log, time.Hour)}},
		{"a line for each", []httpapi.Observer{httpapi.LogRequests(log)}},
		{"traces that are not sampled", []httpapi.Observer{tracesOf(trace.NeverSample())}},
		{"traces", []httpapi.Observer{tracesOf(trace.AlwaysSample())}},
	} {
		b.Run(row.name, func(b *testing.B) {
			handler := httpapi.New(options(func(o *httpapi.Options) { o.Observers = row.observers }))
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(httptest.NewRecorder(), posted(`{"query":"query Mine { echo }"}`))
			}
		})
	}
}

// BenchmarkGzip compresses a page of comments with each codec. The metric is the size of the result
// in bytes.
//
//	go test ./httpapi -run - -bench Gzip
func BenchmarkGzip(b *testing.B) {
	page := pageOf(b, 20)
	klauspost := func(w io.Writer, level int) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, level) }
	standard := func(w io.Writer, level int) (io.WriteCloser, error) { return stdlib.NewWriterLevel(w, level) }
	for _, codec := range []struct {
		name string
		open func(io.Writer, int) (io.WriteCloser, error)
	}{{"klauspost", klauspost}, {"standard", standard}} {
		for _, level := range []int{gzip.BestSpeed, gzip.DefaultCompression} {
			b.Run(codec.name+"/level="+strconv.Itoa(level), func(b *testing.B) {
				var size counter
				compressor := must.Get(codec.open(&size, level))(b)
				for b.Loop() {
					size = 0
					compressor.(interface{ Reset(io.Writer) }).Reset(&size)
					compressor.Write(page)
					compressor.Close()
				}
				b.ReportMetric(float64(size), "bytes")
				b.ReportMetric(float64(len(page)), "bytes-before")
			})
		}
	}
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// pageOf is n comments of the sample data as JSON.
func pageOf(b *testing.B, n int) []byte {
	var nodes []map[string]any
	for c := range sample.Comments() {
		if len(nodes) == n {
			break
		}
		nodes = append(nodes, map[string]any{
			"id": c.ID, "rating": c.Rating, "language": c.Language, "title": c.Title, "text": c.Text, "author": c.Author,
		})
	}
	return must.Get(json.Marshal(map[string]any{"data": map[string]any{"product": map[string]any{"comments": map[string]any{"nodes": nodes}}}}))(b)
}
