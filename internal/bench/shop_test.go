package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

const (
	// shopProducts leave each connection products of its own, so that no two requests in flight are
	// for the same.
	shopProducts = 2 * crowd
	// shopEach leave each product a full page of nearly every rating, and one of 100.
	shopEach = 300
	// settlingVisits is the number of visits to every page before anything is measured.
	settlingVisits = 5
	// tableLatency is how long each call takes. No real table answers sooner, and the SDK for Go
	// closes the connection of an answer that comes at once.
	tableLatency = time.Millisecond
	// watermarkPace is the time between two moves of the watermark.
	watermarkPace = 500 * time.Millisecond
)

// shop is a table of products, replayed from memory, and the programs that serve its comments. Some
// have the same table with plain texts, since compressed texts are not part of the usual way.
type shop struct {
	own, plain *replay
	whole      *program
	others     []*program
	floor      *program // answers nothing, so it is measured with the newest 20 alone
	pages      []shopPage
}

// shopPage is one of the pages that are compared.
type shopPage struct {
	name string
	// requests are bodies, one for each product.
	requests [][]byte
	// planned is whether the whole server has a choice of how to read it.
	planned bool
}

// newShop fills a table, starts the programs and warms up the whole server for its products.
func newShop(tb testing.TB) *shop {
	tb.Helper()
	endpoint, table := dynamotest.Dynoxide(tb), dynamotest.TableName(tb)
	comments := shopComments()
	fill(tb, endpoint, table, comments)
	follow(tb, endpoint, table)
	s := &shop{own: newReplay(endpoint, nil), plain: newReplay(endpoint, plainTexts(comments)), pages: shopPages()}
	own, plain := replayed(tb, s.own, table), replayed(tb, s.plain, table)
	s.whole = startSelf(tb, "whole", own...)
	reads := s.readsOfWhole(tb)
	s.others = []*program{
		startSelf(tb, "bare", append(own, readsVariable+"="+reads)...),
		startSelf(tb, "published", own...),
		startSelf(tb, "published-plain", plain...),
	}
	s.floor = startSelf(tb, "floor", own...)
	if binary := os.Getenv(beforeVariable); binary != "" {
		s.others = append(s.others, startBinary(tb, binary, "whole", "before", own...))
	}
	if apollo := startApollo(tb, plain); apollo != nil {
		s.others = append(s.others, apollo)
	}
	return s
}

func shopComments() []comment.Comment {
	r := rand.New(rand.NewPCG(3, 4))
	var comments []comment.Comment
	for i := range shopProducts {
		comments = append(comments, reviews(r, shopProduct(i), shopEach)...)
	}
	return comments
}

func shopProduct(i int) string { return "product-" + strconv.Itoa(i%shopProducts) }

func shopPages() []shopPage {
	page := func(name string, first int, filter map[string]any) shopPage {
		p := shopPage{name: name, planned: true}
		for i := range shopProducts {
			variables := map[string]any{"product": shopProduct(i), "filter": filter, "first": first}
			p.requests = append(p.requests, newCase(name, pageOperation, variables).body)
		}
		return p
	}
	stats := shopPage{name: "stats-of-20-products"}
	for i := range shopProducts {
		ids := make([]string, productCount)
		for j := range ids {
			ids[j] = shopProduct(i + j)
		}
		stats.requests = append(stats.requests, newCase(stats.name, statsOperation, map[string]any{"ids": ids}).body)
	}
	return []shopPage{
		page("newest-20", pageSize, nil),
		page("two-ratings-of-one-language", pageSize, map[string]any{"languages": []string{"en"}, "ratings": []int{4, 5}}),
		page("all-but-1-star", pageSize, map[string]any{"ratings": []int{2, 3, 4, 5}}),
		page("all-but-5-stars", pageSize, map[string]any{"ratings": []int{1, 2, 3, 4}}),
		stats,
		page("newest-1", 1, nil),
		page("newest-100", 100, nil),
	}
}

// readsOfWhole requests every page from the whole server until its plans have settled. It writes
// the calls that the server then makes to a file, whose name it returns.
func (s *shop) readsOfWhole(tb testing.TB) string {
	tb.Helper()
	var reads []learnedPage
	to := s.whole.connect(tb)
	for _, page := range s.pages {
		for range settlingVisits {
			for _, request := range page.requests {
				to.send(tb, request)
			}
		}
		for _, request := range page.requests {
			calls := s.own.during(func() { to.send(tb, request) })
			if page.planned {
				reads = append(reads, learned(request, calls))
			}
		}
	}
	raw := must.Get(json.Marshal(reads))(tb)
	file := filepath.Join(tb.TempDir(), "reads.json")
	must.Do(tb, os.WriteFile(file, raw, 0o600))
	return file
}

// follow marks the table's statistics as up to date, as long as the test runs. The processes that
// count would do so; here they would have nothing to count.
func follow(tb testing.TB, endpoint, table string) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	tb.Cleanup(func() { cancel(); <-ended })
	kept := leases.NewLeases(call.NewLocalClient(endpoint), table)
	state := must.Get(kept.State(ctx))(tb)
	labelled := state
	labelled.Label = "bench"
	must.Do(tb, kept.SwapState(ctx, state, labelled))
	go func() {
		defer close(ended)
		for lease := (stream.Lease{}); ctx.Err() == nil; {
			next := stream.Lease{Shard: "only", Owner: "bench", Counter: lease.Counter + 1, CaughtUp: time.Now()}
			if err := kept.Swap(ctx, labelled.Label, lease, next); err != nil && ctx.Err() == nil {
				tb.Errorf("the watermark was not written: %v", err)
				return
			}
			lease = next
			select {
			case <-ctx.Done():
			case <-time.After(watermarkPace):
			}
		}
	}()
}

// replay is a tape as a server. It replays reads of pages and of statistics, and passes on
// everything else, such as a server's calls at its start.
type replay struct {
	*tape
	engine string
	calls  atomic.Int64 // replayed
	gate   atomic.Pointer[gate]
}

// gate keeps answers back.
type gate struct {
	waiting atomic.Int64
	open    chan struct{}
}

func newReplay(engine string, change func([]byte) ([]byte, error)) *replay {
	r := &replay{tape: newTape(), engine: engine}
	r.change = change
	return r
}

// replayed starts a replay, and returns the settings by which programs use it.
func replayed(tb testing.TB, r *replay, table string) (environment []string) {
	server := httptest.NewServer(r)
	tb.Cleanup(server.Close)
	return []string{endpointVariable + "=" + server.URL, tableVariable + "=" + table}
}

// ServeHTTP answers a call.
func (r *replay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	answer, err := r.answer(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	for name, values := range answer.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(answer.body))) // the body's length may have changed
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body) // a client that went away needs no answer
}

func (r *replay) answer(request *http.Request) (recorded, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return recorded{}, err
	}
	toEngine, err := http.NewRequestWithContext(request.Context(), http.MethodPost, r.engine, bytes.NewReader(body))
	if err != nil {
		return recorded{}, err
	}
	toEngine.Header = request.Header
	as := tapedCall{request.Header.Get(targetHeader), string(body)}
	if !as.repeats() {
		return passOn(toEngine, as.input)
	}
	r.calls.Add(1)
	time.Sleep(tableLatency)
	if gate := r.gate.Load(); gate != nil {
		gate.waiting.Add(1)
		<-gate.open
	}
	return r.find(toEngine, as)
}

// repeats reports whether a call always gets the same answer: one for a page, or for statistics.
func (c tapedCall) repeats() bool {
	return strings.HasSuffix(c.target, ".BatchGetItem") || strings.HasSuffix(c.target, ".Query") && strings.Contains(c.input, `"IndexName"`)
}

// plainTexts returns a function that makes the texts in an answer plain.
func plainTexts(comments []comment.Comment) func([]byte) ([]byte, error) {
	texts := map[string]string{}
	for i := range comments {
		texts[layout.SortKeyOf(comments[i].ID.Position())] = comments[i].Text
	}
	return func(body []byte) ([]byte, error) {
		var answer map[string]any
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&answer); err != nil {
			return nil, err
		}
		items, _ := answer["Items"].([]any)
		for _, item := range items {
			item := item.(map[string]any)
			key := item["PK"].(map[string]any)["S"].(string)
			item["t"] = map[string]any{"S": texts[key]}
		}
		return json.Marshal(answer)
	}
}
