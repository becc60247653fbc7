package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/usage"
)

// Observer observes every request. The goroutines of all requests call its methods, so they must be
// quick.
type Observer interface {
	// Began is called before a request is processed, and returns the context for that.
	Began(r *http.Request, e *Exchange) context.Context
	// Ended is called once the answer is sent, with the context that Began returned. The Exchange
	// does not change any more, and belongs to the observers.
	Ended(ctx context.Context, e *Exchange)
}

// Outcome says what became of a request to the API.
type Outcome string

// The outcomes. They are values of a metric, so they do not change.
const (
	// OutcomeOK is an answer without errors.
	OutcomeOK Outcome = "ok"
	// OutcomePartial is an answer with data and with errors.
	OutcomePartial Outcome = "partial"
	// OutcomeFailed is an operation that ran, or timed out before it could, and has no data.
	OutcomeFailed Outcome = "failed"
	// OutcomeRefused is a request whose operation did not run.
	OutcomeRefused Outcome = "refused"
)

// Exchange is a request and its answer.
type Exchange struct {
	// ID is the request's id, as the client and the log know it.
	ID string
	// Method is the method as the client sent it, which may be any text.
	Method string
	// Route is the pattern of the path, one of a few, such as /products/{id}. Scheme is http or https.
	Route, Scheme string
	// Inside says that a page of this server made the request, without HTTP.
	Inside bool
	// Began is when the head of the request had been read. Took is the time from then until the answer
	// was sent, or until the stream of a subscription began.
	Began time.Time
	Took  time.Duration
	// Status is the status of the answer, 0 if the connection was given up before.
	Status int

	// Operation is query or mutation; empty if the request had none that could be recognized.
	Operation string
	// Name is the name of the operation as the client sent it, which may be any text of any length.
	Name string
	// Outcome is empty for requests that are not to the API.
	Outcome Outcome
	// Code is the code of the first error; empty without errors. Codes are the codes of all errors,
	// each once, sorted.
	Code  string
	Codes []string
	// Refused is a word that says which limit of the server refused the request; empty if none did.
	Refused string
	// EstimatedUnits are what the operation was charged beforehand, Units what its reads consumed, in
	// read units.
	EstimatedUnits, Units float64
	// Waves and Calls count the waves and the calls of its reads.
	Waves, Calls int
	// Ran is how long the operation ran, 0 if it did not.
	Ran time.Duration
	// Bytes is the size of the answer as it was sent.
	Bytes int
	// Plans returns the first plans by which the operation read comments, in words. It is nil if
	// there was no operation.
	Plans func() []string
}

// graphQLPath is where the API is.
const graphQLPath = "/graphql"

// routeOf returns one of a few routes for a path.
func routeOf(path string) string {
	switch {
	case path == graphQLPath, path == "/healthz", path == "/readyz", path == "/":
		return path
	case strings.HasPrefix(path, "/products/"):
		return "/products/{id}"
	}
	return "/{file}"
}

// settle fills in Codes and Outcome where they follow from other fields.
func (e *Exchange) settle() {
	if e.Codes == nil && e.Code != "" {
		e.Codes = []string{e.Code}
	}
	if e.Route != graphQLPath || e.Outcome != "" {
		return
	}
	switch {
	case e.Status == 0:
		e.Outcome = OutcomeFailed
	case e.Status >= http.StatusBadRequest:
		e.Outcome = OutcomeRefused
	default: // an answer to OPTIONS
		e.Outcome = OutcomeOK
	}
}

// note records the outcome and the cost of an operation.
func (e *Exchange) note(ctx context.Context, response *graphql.Response) {
	account := usage.From(ctx)
	cost, _ := response.Extensions[limits.CostExtension].(limits.Cost)
	reads := account.Reads()
	e.EstimatedUnits, e.Units = float64(cost.EstimatedReadUnits), reads.Units
	e.Waves, e.Calls, e.Plans = reads.Waves, reads.Calls, account.Plans
	e.Code, e.Codes = codeOf(response.Errors), nil
	for i := range response.Errors {
		if code := codeOf(response.Errors[i:]); code != "" && !slices.Contains(e.Codes, code) {
			e.Codes = append(e.Codes, code)
		}
	}
	slices.Sort(e.Codes)
	switch {
	case len(response.Errors) == 0:
		e.Outcome = OutcomeOK
	case response.Data == nil && ctx.Err() == nil:
		e.Outcome = OutcomeRefused
	case response.Data == nil, bytes.Equal(response.Data, []byte("null")):
		e.Outcome = OutcomeFailed
	default:
		e.Outcome = OutcomePartial
	}
}

// codeOf returns the code of the first error, empty if there is none.
func codeOf(errs gqlerror.List) string {
	if len(errs) == 0 {
		return ""
	}
	code, _ := errs[0].Extensions["code"].(string)
	return code
}

// observedAnswer records the status and the size of an answer.
type observedAnswer struct {
	http.ResponseWriter
	exchange *Exchange
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *observedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (a *observedAnswer) WriteHeader(status int) {
	if a.exchange.Status == 0 && (status >= http.StatusOK || status == http.StatusSwitchingProtocols) {
		a.exchange.Status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (a *observedAnswer) Write(p []byte) (int, error) {
	a.exchange.Status = cmp.Or(a.exchange.Status, http.StatusOK)
	n, err := a.ResponseWriter.Write(p)
	a.exchange.Bytes += n
	return n, err
}

// noteRefusal notes why a request was refused, if it is observed.
func noteRefusal(w http.ResponseWriter, code, reason string) {
	for {
		switch under := w.(type) {
		case *observedAnswer:
			under.exchange.Outcome, under.exchange.Code, under.exchange.Refused = OutcomeRefused, code, reason
			return
		case interface{ Unwrap() http.ResponseWriter }:
			w = under.Unwrap()
		default:
			return
		}
	}
}
