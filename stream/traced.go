package stream

import (
	"context"

	"github.com/talkback/talkback/telemetry/spans"
)

// Traced returns a handler that makes a trace for each batch. The trace is linked to the spans that
// wrote the items of the batch. keyOf returns the key of an item in writes. Without a tracer,
// Traced returns the handler as it is.
func Traced(handler Handler, tracer *spans.Tracer, writes *spans.Writes, keyOf func(Record) string) Handler {
	if tracer == nil {
		return handler
	}
	return traced{handler, tracer, writes, keyOf}
}

type traced struct {
	Handler
	tracer *spans.Tracer
	writes *spans.Writes
	keyOf  func(Record) string
}

// Handle implements Handler.
func (h traced) Handle(ctx context.Context, records []Record) error {
	keys := make([]string, len(records))
	for i, r := range records {
		keys[i] = h.keyOf(r)
	}
	ctx, span := h.tracer.Batch(ctx, keys, h.writes)
	defer span.End()
	err := h.Handler.Handle(ctx, records)
	if err != nil {
		span.Fail(reasonOf(err))
	}
	return err
}
