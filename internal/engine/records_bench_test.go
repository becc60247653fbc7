package engine

import (
	"testing"
	"time"
)

// BenchmarkWrites compares writes with our index on the stream records and without it, which is the
// engine's default. The metrics are items per second at the start and after 10,000 items.
//
//	go test ./internal/engine -run - -bench Writes -benchtime 1x
func BenchmarkWrites(b *testing.B) {
	const batch, between = 1000, 10_000
	for _, c := range []struct {
		name    string
		indexed bool
	}{{"indexed", true}, {"as it comes", false}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				e := running(b, options(b))
				if !c.indexed {
					execute(b, database(b, e), "DROP INDEX talkback_stream_order")
				}
				a := api{b, e.Endpoint()}
				a.createTable("comments")
				speed := func(first int) float64 {
					start := time.Now()
					a.write("comments", first, batch)
					return batch / time.Since(start).Seconds()
				}
				b.ReportMetric(speed(0), "items/s-first")
				a.write("comments", batch, between-batch)
				b.ReportMetric(speed(between), "items/s-later")
			}
		})
	}
}
