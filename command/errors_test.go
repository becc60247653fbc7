package command_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

func ids(n int) string {
	return strings.TrimSuffix(strings.Repeat(`"x",`, n), ",")
}

// Every kind of wrong request, and its answer. The answers are in testdata/errors.golden.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	var cursor struct{ Product struct{ Comments page } }
	a.load(comment.Comment{
		ID: comment.IDOf(comment.FirstAt(time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC))), ProductID: "x", Rating: 4,
		Language: "en", Author: comment.Author{ID: "a", Name: "A"}, Version: 1,
	})
	a.mustAsk(`{ product(id: "x") { comments { pageInfo { endCursor } } } }`, nil, &cursor)
	good := *cursor.Product.Comments.PageInfo.EndCursor

	comments := func(arguments string) string {
		return `{ product(id: "x") { comments(` + arguments + `) { nodes { id } } } }`
	}
	var got bytes.Buffer
	for _, row := range []struct{ why, query string }{
		{"both ends at once", comments(`first: 1, last: 1`)},
		{"a negative page", comments(`first: -1`)},
		{"too large a page", comments(`last: 101`)},
		{"a cursor of nobody", comments(`after: "abc"`)},
		{"a cursor of another product", `{ product(id: "y") { comments(after: "` + good + `") { nodes { id } } } }`},
		{"a cursor of another filter", comments(`before: "` + good + `", filter: {ratings: [1]}`)},
		{"a cursor of another order", comments(`after: "` + good + `", order: OLDEST_FIRST`)},
		{"cursors the wrong way round", comments(`after: "` + good + `", before: "` + good + `"`)},
		{"no such rating", comments(`filter: {ratings: [0]}`)},
		{"no language", comments(`filter: {languages: ["klingonisch"]}`)},
		{"a number for a language", comments(`filter: {languages: [7]}`)},
		{"no time", comments(`filter: {createdAfter: "yesterday"}`)},
		{"a time without a zone", comments(`filter: {createdBefore: "2024-05-01T00:00:00"}`)},
		{"a range of nothing", comments(`filter: {createdAfter: "2024-05-02T00:00:00Z", createdBefore: "2024-05-01T00:00:00Z"}`)},
		{"a leaderboard of nobody", `{ leaderboard(first: 0) { rank } }`},
		{"too long a leaderboard", `{ leaderboard(first: 101) { rank } }`},
		{"statistics in no language", `{ product(id: "x") { stats(lang: "klingonisch") { total } } }`},
		{"a chart without a field", `{ product(id: "x") { stats } }`},
		{"no product id", `{ product(id: "") { id } }`},
		{"a comment's id for a product", `{ product(id: "c_1") { id } }`},
		{"a product's id for a comment", `{ comment(id: "42") { id } }`},
		{"half a comment's id", `{ comment(id: "c_01HZ") { id } }`},
		{"too many products", `{ products(ids: [` + ids(101) + `]) { id } }`},
		{"too many nodes", `{ nodes(ids: [` + ids(101) + `]) { id } }`},
		{"no such field", `{ product(id: "x") { price } }`},
		{"no such order", comments(`order: BEST_FIRST`)},
		{"not GraphQL", `{ product(`},
		{"nothing", ``},
		{"defer, which is not served", `{ product(id: "x") { ... @defer { id } } }`},
		{"no such mutation", `mutation { x }`},
		{"no such operation type", `subscription { x }`},
		{"a draft without a text", `mutation { addComment(input: {productId: "x", rating: 1, language: "en", author: {id: "a", name: "A"}}) { comment { id } } }`},
		{"a rating that is no number", `mutation { editComment(input: {id: "c_1", version: 1, rating: "5"}) { comment { id } } }`},
	} {
		fmt.Fprintf(&got, "# %s\n%s\n", row.why, pretty(t, a.ask(row.query, nil)))
	}
	goldentest.Compare(t, "testdata/errors.golden", got.Bytes())
	if a.log.Len() > 0 {
		t.Errorf("a client's mistake is no news for the log:\n%s", a.log)
	}
}

// refuse answers calls in place of the engine.
func refuse(status int, code string) faulttest.HTTP {
	return func(r *http.Request) (*http.Response, error) {
		return faulttest.Answer(r, status, `{"__type":"com.amazonaws.dynamodb.v20120810#`+code+`","message":"secret inside"}`), nil
	}
}

// When the table is in trouble, clients see a code to act on and a sentence, and no internals.
func TestTroubleWithTheTable(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	healthy := a.session.Client
	for _, row := range []struct {
		why   string
		fault faulttest.HTTP
		code  string
	}{
		{"throttled", refuse(400, "ProvisionedThroughputExceededException"), "THROTTLED"},
		{"throttled by the request limit", refuse(400, "RequestLimitExceeded"), "THROTTLED"},
		{"broken inside", refuse(500, "InternalServerError"), "UNAVAILABLE"},
		{"the table is gone", refuse(400, "ResourceNotFoundException"), "UNAVAILABLE"},
		{"no answer in time", func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }, "TIMEOUT"},
		{"no one there", func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}, "UNAVAILABLE"},
		{"refused for a reason of ours", refuse(400, "ValidationException"), "INTERNAL"},
		{"a panic in our own goroutine", func(*http.Request) (*http.Response, error) { panic("secret inside") }, "INTERNAL"},
	} {
		t.Run(row.why, func(t *testing.T) {
			a.useClient(call.Over(healthy, row.fault))
			for _, query := range []string{
				`{ product(id: "x") { id comments(filter: {ratings: [1, 2]}) { nodes { id } } } }`,
				`{ node(id: "c_01HWSAVBG0ZZZZZZZZZZZZZZZZ") { id } product(id: "x") { id } }`,
				`{ product(id: "x") { id stats { total } } }`,
				`{ product(id: "x") { id } leaderboard { rank } }`,
			} {
				got := a.ask(query, nil)
				if len(got.Errors) != 1 || got.Errors[0].Extensions["code"] != row.code {
					t.Fatalf("%+v, want one error with code %s", got.Errors, row.code)
				}
				if strings.Contains(got.Errors[0].Message, "secret") {
					t.Errorf("the client is told what is inside: %s", got.Errors[0].Message)
				}
				if !strings.Contains(string(got.Data), `"id":"x"`) {
					t.Errorf("one field's failure took others along: %s", got.Data)
				}
			}
			if !strings.Contains(a.log.String(), "request=") {
				t.Errorf("the log does not say in which request: %s", a.log)
			}
		})
	}
}
