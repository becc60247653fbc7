package spans

import (
	"context"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.opentelemetry.io/otel/trace"
)

// Writes remembers which spans wrote the latest items, so that what the table's stream brings later
// can be linked to them. A nil Writes remembers nothing. It is safe for concurrent use.
type Writes struct {
	latest *lru.Cache[string, trace.SpanContext] // by the key of the item
}

// rememberedWrites is how many items Writes remembers: some seconds of writing, in 300 KB.
const rememberedWrites = 1024

// NewWrites returns an empty Writes.
func NewWrites() *Writes {
	latest, err := lru.New[string, trace.SpanContext](rememberedWrites)
	if err != nil {
		panic(err) // of a size below 1
	}
	return &Writes{latest}
}

// Note notes that the span of a context writes an item, unless it is not recorded.
func (w *Writes) Note(ctx context.Context, key string) {
	if by := trace.SpanContextFromContext(ctx); w != nil && by.IsSampled() {
		w.latest.Add(key, by)
	}
}

// of returns the spans that wrote items with these keys last, each once.
func (w *Writes) of(keys []string) []trace.SpanContext {
	if w == nil {
		return nil
	}
	var out []trace.SpanContext
	seen := map[trace.SpanID]bool{}
	for _, key := range keys {
		by, known := w.latest.Get(key)
		if known && !seen[by.SpanID()] {
			seen[by.SpanID()] = true
			out = append(out, by)
		}
	}
	return out
}
