package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// What is noted about an operation by its data, its errors, and whether its time was over.
func TestOutcomes(t *testing.T) {
	wrong := gqlerror.List{
		{Extensions: map[string]any{"code": "UNAVAILABLE"}}, {Extensions: map[string]any{"code": "CONFLICT"}}, {Extensions: map[string]any{"code": "UNAVAILABLE"}}, {},
	}
	for _, row := range []struct {
		why    string
		data   string
		errors gqlerror.List
		over   bool
		want   Outcome
	}{
		{"no errors", `{}`, nil, false, OutcomeOK},
		{"it did not run", "", wrong, false, OutcomeRefused},
		{"it was cut off before it had data", "", wrong, true, OutcomeFailed},
		{"no data is left", "null", wrong, false, OutcomeFailed},
		{"some data is left", `{"a":null}`, wrong, false, OutcomePartial},
		{"some data is left at the end of its time", `{"a":null}`, wrong, true, OutcomePartial},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if row.over {
			cancel()
		}
		response := &graphql.Response{Errors: row.errors}
		if row.data != "" {
			response.Data = json.RawMessage(row.data)
		}
		var e Exchange
		e.note(ctx, response)
		cancel()
		if e.Outcome != row.want {
			t.Errorf("%s: %s, want %s", row.why, e.Outcome, row.want)
		}
		if got := len(e.Codes); row.errors != nil && (e.Code != "UNAVAILABLE" || got != 2 || e.Codes[0] != "CONFLICT") {
			t.Errorf("%s: codes are %s and %v", row.why, e.Code, e.Codes)
		}
	}
}

// The noted status is the one that ends the answer: an early hint is none, an upgrade is.
func TestStatusThatIsNoted(t *testing.T) {
	for _, row := range []struct{ sent, want []int }{
		{[]int{http.StatusEarlyHints, http.StatusNotFound}, []int{0, http.StatusNotFound}},
		{[]int{http.StatusSwitchingProtocols}, []int{http.StatusSwitchingProtocols}},
		{[]int{http.StatusOK, http.StatusNotFound}, []int{http.StatusOK, http.StatusOK}},
	} {
		a := &observedAnswer{httptest.NewRecorder(), &Exchange{}}
		for i, status := range row.sent {
			if a.WriteHeader(status); a.exchange.Status != row.want[i] {
				t.Errorf("after %v, %d is noted, want %d", row.sent[:i+1], a.exchange.Status, row.want[i])
			}
		}
	}
}
