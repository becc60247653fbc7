package httpapi

import (
	"cmp"
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"

	"github.com/talkback/talkback/telemetry/spans"
)

// TraceRequests returns an observer that records requests and their operations as spans, in the
// trace that a request names by the W3C's traceparent. Probes are not recorded. A page that asks the
// API has one span, with that of the operation inside.
func TraceRequests(tracer *spans.Tracer) Observer { return requestTraces{tracer} }

type requestTraces struct{ tracer *spans.Tracer }

func (requestTraces) leavesOut(e *Exchange) bool {
	return e.Inside || e.Route == "/healthz" || e.Route == "/readyz"
}

// Began implements Observer.
func (t requestTraces) Began(r *http.Request, e *Exchange) context.Context {
	if t.leavesOut(e) {
		return r.Context()
	}
	ctx, _ := t.tracer.Request(spans.Joined(r.Context(), r.Header), r, e.Route)
	return ctx
}

// Ended implements Observer.
func (t requestTraces) Ended(ctx context.Context, e *Exchange) {
	if t.leavesOut(e) {
		return
	}
	span := spans.Current(ctx)
	defer span.End()
	if !span.Recording() {
		return
	}
	span.Set(
		attribute.Int("http.response.status_code", e.Status),
		attribute.Int("http.response.body.size", e.Bytes),
		attribute.String("talkback.request_id", e.ID),
	)
	if e.Status == 0 || e.Status >= http.StatusInternalServerError {
		span.Fail(cmp.Or(e.Refused, e.Code, "_OTHER"))
	}
}

// end ends the span of an operation.
func (e *Exchange) end(span spans.Span) {
	defer span.End()
	if !span.Recording() {
		return
	}
	span.Set(
		attribute.String("talkback.outcome", string(e.Outcome)),
		attribute.Float64("talkback.estimated_read_units", e.EstimatedUnits),
		attribute.Float64("talkback.read_units", e.Units),
		attribute.Int("talkback.waves", e.Waves),
		attribute.Int("talkback.calls", e.Calls),
	)
	if e.Code != "" {
		span.Fail(e.Code)
	}
}
