package pagesbench

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/streamtest"
	"github.com/talkback/talkback/stream"
)

// served is the whole server over HTTP, with page numbers in the table, which is the default.
type served struct {
	url    string
	client *http.Client
}

// newServed loads comments into a table, counts them, and serves them.
func newServed(t *testing.T, comments []comment.Comment) served {
	b, endpoint := newTable(t)
	must.Get(dynamo.NewLoader(b.Client, b.table, 0).Load(t.Context(), comments))(t)
	counted := tableOf(b)
	must.Do(t, counted.Apply(t.Context(), entriesOf(comments)))
	must.Do(t, stream.MarkComplete(t.Context(), leases.NewLeases(b.Client, b.table), stream.State{}, time.Now()))
	serve := command.Serve{OperationTimeout: time.Minute, StatisticsAge: 5 * time.Second, Watermark: streamtest.Prompt{}}
	store := serve.Store(&command.Session{Client: b.Client, Table: b.table, Address: endpoint}, counted.Index, slog.New(slog.DiscardHandler))
	server := httptest.NewServer(serve.Handler(store, nil, &auth.Guard{}, command.Terminal{Err: io.Discard, Logger: slog.New(slog.DiscardHandler)}))
	t.Cleanup(server.Close)
	return served{server.URL + "/graphql", server.Client()}
}

const pageOperation = `query Page($product: ID!, $filter: CommentFilter, $first: Int, $page: Int) {
	product(id: $product) {
		comments(filter: $filter, first: $first, page: $page) {
			nodes { id rating language title text author { name } createdAt }
			totalCount
		}
	}
}`

// page asks for a page by number and for the number of comments in the list.
func (s served) page(t *testing.T, l list, page int) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": pageOperation, "variables": map[string]any{
		"product": l.Product, "filter": map[string]any{"ratings": l.Filter.Ratings}, "first": pageSize, "page": page,
	}})
	must.Do(t, err)
	response := must.Get(s.client.Post(s.url, "application/json", bytes.NewReader(body)))(t)
	defer response.Body.Close()
	var answer struct {
		Data struct {
			Product struct {
				Comments struct {
					Nodes      []struct{ ID comment.ID }
					TotalCount int
				}
			}
		}
		Errors any
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Errors != nil {
		t.Fatalf("page %d of %s: %v %v", page, l.name, answer.Errors, err)
	}
	got, want := answer.Data.Product.Comments, l.page(page)
	if got.TotalCount != len(l.positions) || len(got.Nodes) != len(want) || got.Nodes[0].ID.Position() != want[0] {
		t.Fatalf("page %d of %s has other comments, or %d of them instead of %d", page, l.name, got.TotalCount, len(l.positions))
	}
}

// measureServed measures a far page of two ratings through the server, with the number of comments.
// It compares this with the first page by OFFSET and count(*) in PostgreSQL.
func measureServed(t *testing.T, l list, comments []comment.Comment, whole wholeRows) []row {
	server, page := newServed(t, comments), min(100, len(l.positions)/pageSize)
	server.page(t, l, 1) // from now on the statistics are known
	of := row{Comments: int64(len(comments)), Filter: l.name, Operation: overHTTP}
	ours, theirs := of, of
	ours.Store, ours.Page = "the whole server, table", int64(page)
	theirs.Store, theirs.Page = "OFFSET over whole rows", 1
	// Both take turns, so the load of the machine is the same.
	var times, others []time.Duration
	for range tries {
		times = append(times, timed(func() { server.page(t, l, page) }))
		others = append(others, timed(func() { whole.page(t, l, 1) }))
	}
	ours.Time, theirs.Time = middleOf(times), middleOf(others)
	return []row{ours, theirs}
}
