package workload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Failure is an operation that got errors or no answer.
type Failure struct {
	// Code is the code of the first error, or CONNECTION without an answer.
	Code string
	// Message is what the answer says, or what happened to the connection.
	Message string
}

// Error implements error.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// codes are the errors that an operation may fail with while the table is in trouble:
// docs/guide/errors.md.
var codes = []string{"THROTTLED", "UNAVAILABLE", "TIMEOUT", "OVERLOADED"}

// answered is one answer: when the request was sent and when it came.
type answered struct{ sent, came time.Time }

// ask posts an operation and reads its data. The error is a *Failure.
func (w *Workload) ask(ctx context.Context, operation string, variables map[string]any, data any) (answered, error) {
	at := answered{sent: time.Now()}
	err := w.post(ctx, operation, variables, data)
	at.came = time.Now()
	w.count(ctx, operation, err)
	return at, err
}

// page asks for a page of a list.
func (w *Workload) page(ctx context.Context, operation string, variables map[string]any) (page, answered, error) {
	var data struct{ Product struct{ Comments page } }
	at, err := w.ask(ctx, operation, variables, &data)
	return data.Product.Comments, at, err
}

// leaderboard asks for the leaderboard of a language; "" is any.
func (w *Workload) leaderboard(ctx context.Context, language string) ([]leader, answered, error) {
	variables := map[string]any{}
	if language != "" {
		variables["language"] = language
	}
	var data struct{ Leaderboard []leader }
	at, err := w.ask(ctx, leaderboard, variables, &data)
	return data.Leaderboard, at, err
}

func (w *Workload) post(ctx context.Context, operation string, variables map[string]any, data any) error {
	body, err := json.Marshal(map[string]any{"query": operation, "variables": variables})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := w.Client.Do(request)
	if err != nil {
		return &Failure{"CONNECTION", err.Error()}
	}
	defer func() { _ = response.Body.Close() }() // it was read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return &Failure{"CONNECTION", err.Error()}
	}
	var answer struct {
		Data   json.RawMessage
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return &Failure{"CONNECTION", fmt.Sprintf("status %d: %q", response.StatusCode, text)}
	}
	if len(answer.Errors) > 0 {
		return &Failure{answer.Errors[0].Extensions.Code, answer.Errors[0].Message}
	}
	if err := json.Unmarshal(answer.Data, data); err != nil {
		return &Failure{"INTERNAL", err.Error()}
	}
	return nil
}

// count adds an operation to the tally. An error that a table in trouble cannot cause is a
// violation.
func (w *Workload) count(ctx context.Context, operation string, err error) {
	kind, _, _ := strings.Cut(operation, " ")
	code := "ok"
	var failure *Failure
	if errors.As(err, &failure) {
		code = failure.Code
	}
	if ctx.Err() != nil {
		return // the context has ended
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally[kind+" "+code]++
	if code != "ok" && !slices.Contains(codes, code) && !slices.Contains(w.MayFail, code) {
		w.violate("%s fails with %v", operation, err)
	}
}
