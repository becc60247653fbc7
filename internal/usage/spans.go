package usage

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/talkback/talkback"

// Tracer begins traces. A nil Tracer begins none.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns a tracer of a provider.
func NewTracer(provider trace.TracerProvider) *Tracer { return &Tracer{provider.Tracer(scope)} }

// Span is a span, which may record nothing.
type Span struct{ span trace.Span }

// none returns a span that records nothing.
func none() Span { return CurrentSpan(context.Background()) }

// child begins a span within that of a context, if that is being recorded.
func child(ctx context.Context, name string, kind trace.SpanKind, attributes func() []attribute.KeyValue) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, none()
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes()...))
	return ctx, Span{span}
}

// Recording reports whether the span is being recorded. If not, nothing need be set.
func (s Span) Recording() bool { return s.span.IsRecording() }

// Attribute is an attribute of a span.
type Attribute = attribute.KeyValue

// Text makes an attribute of a text, out of a closed list or an id.
func Text(name, value string) Attribute { return attribute.String(name, value) }

// Count makes an attribute of a whole number.
func Count(name string, value int) Attribute { return attribute.Int(name, value) }

// Amount makes an attribute of any number, such as read units.
func Amount(name string, value float64) Attribute { return attribute.Float64(name, value) }

// Set sets attributes.
func (s Span) Set(attributes ...Attribute) { s.span.SetAttributes(attributes...) }

// Fail marks the span as failed, for a reason out of a closed list, such as an error code.
func (s Span) Fail(reason string) {
	s.Set(attribute.String("error.type", reason))
	s.span.SetStatus(codes.Error, "")
}

// End ends the span.
func (s Span) End() { s.span.End() }

// TraceID returns the id of the trace that a context is part of, "" for none.
func TraceID(ctx context.Context) string {
	if in := trace.SpanContextFromContext(ctx); in.IsValid() {
		return in.TraceID().String()
	}
	return ""
}

// maxTraceState is how much of a caller's tracestate is passed on, in bytes: what the W3C has
// everyone pass on at least. It is part of every span, so that a longer one would multiply.
// https://www.w3.org/TR/trace-context/#tracestate-limits
const maxTraceState = 512

// JoinTrace returns a context that is part of the trace that a request's headers name: traceparent
// and tracestate of the W3C. Headers that break its rules are ignored.
func JoinTrace(ctx context.Context, header http.Header) context.Context {
	if len(header["Traceparent"]) != 1 {
		return ctx
	}
	carrier := propagation.MapCarrier{"traceparent": header["Traceparent"][0]}
	if state := header["Tracestate"]; len(state) == 1 && len(state[0]) <= maxTraceState {
		carrier["tracestate"] = state[0]
	}
	return propagation.TraceContext{}.Extract(ctx, carrier)
}

// Request begins the span of a request to a route, such as /graphql. It is part of the trace of its
// context, if there is one.
func (t *Tracer) Request(ctx context.Context, r *http.Request, route string) (context.Context, Span) {
	if t == nil {
		return ctx, none()
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	ctx, span := t.tracer.Start(ctx, method(r.Method)+" "+route, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", method(r.Method)),
		attribute.String("http.route", route),
		attribute.String("url.scheme", scheme),
		attribute.String("network.protocol.version", strings.TrimPrefix(r.Proto, "HTTP/")),
	))
	return ctx, Span{span}
}

// method returns the method of a request, _OTHER for one that HTTP does not know.
func method(name string) string {
	switch name {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return name
	}
	return "_OTHER"
}

// CurrentSpan returns the span of a context.
func CurrentSpan(ctx context.Context) Span { return Span{trace.SpanFromContext(ctx)} }

// BeginOperation begins the span of an operation of GraphQL. The type is query or mutation, "" if
// the operation could not be read; the name is one that parsed, "" for none.
func BeginOperation(ctx context.Context, kind, name string) (context.Context, Span) {
	return child(ctx, cmp.Or(kind, "GraphQL Operation"), trace.SpanKindInternal, func() []attribute.KeyValue {
		var attributes []attribute.KeyValue
		if kind != "" {
			attributes = append(attributes, attribute.String("graphql.operation.type", kind))
		}
		if name != "" {
			attributes = append(attributes, attribute.String("graphql.operation.name", name))
		}
		return attributes
	})
}

// Wave adds a wave of parallel reads, and begins its span. The purpose is one of a closed list.
func (o *Operation) Wave(ctx context.Context, purpose string, reads int) (context.Context, Span) {
	o.locked(func() { o.reads.Waves++ })
	return child(ctx, "wave", trace.SpanKindInternal, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("talkback.wave.purpose", purpose), attribute.Int("talkback.wave.reads", reads)}
	})
}

// BeginCall begins the span of a call of DynamoDB, such as Query.
func BeginCall(ctx context.Context, operation string) (context.Context, Span) {
	return child(ctx, operation, trace.SpanKindClient, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("db.system.name", "aws.dynamodb"), attribute.String("db.operation.name", operation)}
	})
}

// maxLinks is how many writes a batch is linked to, as many as the SDK keeps.
const maxLinks = 128

// Batch begins the trace of a batch of records of a table's stream, given by the keys of their
// items. It is linked to the spans that wrote these, as far as Writes knows them.
func (t *Tracer) Batch(ctx context.Context, keys []string, writes *Writes) (context.Context, Span) {
	if t == nil {
		return ctx, none()
	}
	var links []trace.Link
	if writes != nil {
		seen := map[trace.SpanID]bool{}
		for _, key := range keys {
			by, known := writes.latest.Get(key)
			if known && !seen[by.SpanID()] && len(links) < maxLinks {
				seen[by.SpanID()] = true
				links = append(links, trace.Link{SpanContext: by})
			}
		}
	}
	ctx, span := t.tracer.Start(ctx, "process stream", trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(links...), trace.WithAttributes(
		attribute.String("messaging.operation.type", "process"),
		attribute.Int("messaging.batch.message_count", len(keys)),
	))
	return ctx, Span{span}
}

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
