package httpapi

import (
	"cmp"
	"context"
	"net/http"

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
		spans.Count("http.response.status_code", e.Status),
		spans.Count("http.response.body.size", e.Bytes),
		spans.Text("talkback.request_id", e.ID),
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
		spans.Text("talkback.outcome", string(e.Outcome)),
		spans.Amount("talkback.estimated_read_units", e.EstimatedUnits),
		spans.Amount("talkback.read_units", e.Units),
		spans.Count("talkback.waves", e.Waves),
		spans.Count("talkback.calls", e.Calls),
	)
	if e.Code != "" {
		span.Fail(e.Code)
	}
}
