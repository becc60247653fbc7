package limits_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/loaders"
	"github.com/talkback/talkback/resolvers"
)

// shop answers every query at once, without a table: each page is full, and each comment exists.
type shop struct {
	text string
}

var _ resolvers.Lister = (*shop)(nil)

func (s *shop) Comments(_ context.Context, q comment.Query) (comment.Page, error) {
	page := comment.Page{HasNext: true}
	for i := range q.Slice.Size {
		page.Comments = append(page.Comments, s.comment(q.Product, i))
	}
	return page, nil
}

func (s *shop) comment(product string, i int) comment.Comment {
	at := time.Date(2024, 5, 1, 0, 0, 0, i, time.UTC)
	return comment.Comment{
		ID: comment.IDOf(comment.PositionAt(at, [10]byte{byte(i)})), ProductID: product, Rating: 1 + i%5, Language: "en",
		Text: s.text, Author: comment.Author{ID: "a", Name: "A. Customer"}, Version: 1,
	}
}

func (s *shop) CommentsByID(_ context.Context, ids []comment.ID, _ bool) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error) {
	found = map[comment.ID]comment.Comment{}
	for i, id := range ids {
		c := s.comment("p", i)
		c.ID = id
		found[id] = c
	}
	return found, nil, nil
}

func (s *shop) StatsOf(_ context.Context, products []string) (found map[string]comment.Stats, failed map[string]error, err error) {
	found = map[string]comment.Stats{}
	for _, product := range products {
		found[product] = comment.Stats{"en": {Counts: comment.Counts{1, 1, 1, 1, 1}}}
	}
	return found, nil, nil
}

func (*shop) RowsOf(context.Context, []comment.ProductLanguage) (map[comment.ProductLanguage]comment.Row, map[comment.ProductLanguage]error, error) {
	return nil, nil, nil // no product has that many languages
}

func (s *shop) OwnComments(context.Context, comment.OwnQuery) (page comment.OwnPage, err error) {
	return page, nil
}

func (s *shop) Leaders(_ context.Context, _ comment.Language, first int) ([]comment.Leader, error) {
	leaders := make([]comment.Leader, first)
	for i := range leaders {
		leaders[i] = comment.Leader{Rank: i + 1, Product: fmt.Sprint("p", i), Count: first - i}
	}
	return leaders, nil
}

// newServer returns the whole handler over a shop, to which no client may write.
func newServer(s *shop, change func(*httpapi.Options)) http.Handler {
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	resolver := &resolvers.Resolver{Comments: s, Service: &auth.Service{Authorizer: auth.Closed{}}}
	options := httpapi.Options{
		Schema:           graph.NewExecutableSchema(graph.Config{Resolvers: resolver}),
		Fields:           resolver.Subgraph(""),
		ErrorPresenter:   resolvers.ErrorPresenter(logger, httpapi.RequestID),
		Loaders:          loaders.Options{Comments: s.CommentsByID, Stats: s.StatsOf, Rows: s.RowsOf},
		Limits:           limits.Default(),
		Pages:            func(http.Handler) http.Handler { return http.NotFoundHandler() },
		Ready:            func(context.Context) error { return nil },
		OperationTimeout: time.Minute,
		Logger:           logger,
	}
	if change != nil {
		change(&options)
	}
	return httpapi.New(options)
}

// post sends a body, and returns the status and the body of the answer.
func post(handler http.Handler, body []byte) (status int, answer []byte) {
	request := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Code, recorder.Body.Bytes()
}

// envelope returns the body of a request.
func envelope(tb testing.TB, query string, variables any) []byte {
	tb.Helper()
	body := map[string]any{"query": query}
	if variables != nil {
		body["variables"] = variables
	}
	return must.Get(json.Marshal(body))(tb)
}

// answer is the body of an answer.
type answer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Path       []any
		Extensions struct {
			Code         string
			Value, Limit int
		}
	}
	Extensions struct {
		Cost struct{ EstimatedReadUnits, Limit int }
	}
}

func ask(tb testing.TB, handler http.Handler, query string, variables any) answer {
	tb.Helper()
	_, raw := post(handler, envelope(tb, query, variables))
	return decode(tb, raw)
}

func decode(tb testing.TB, raw []byte) answer {
	tb.Helper()
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		tb.Fatalf("%v\n%.500s", err, raw)
	}
	return a
}

// code returns the code of the first error, empty without errors.
func (a answer) code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	if a.Errors[0].Extensions.Code == "" {
		return "none: " + a.Errors[0].Message
	}
	return a.Errors[0].Extensions.Code
}

func repeat(text string, n int) string { return strings.Repeat(text, n) }
