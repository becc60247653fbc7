package command_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
)

// productPage is the operation of a product page: the newest comments, the statistics, the latest
// praise and complaint, and the time of the last comment.
const productPage = `{ product(id: "vase") {
	comments { nodes { id text } }
	stats { total average ratings { rating count } }
	languages { language count }
	latestPositive { id text }
	latestNegative { id text }
	lastCommentedAt
} }`

// paced makes calls and notes them. It makes the calls of a wave once all of them have arrived, so
// none can have waited for another.
type paced struct {
	under dynamodb.HTTPClient
	mu    sync.Mutex
	calls []string
	waves []int         // calls missing from each wave; calls after the last wave are made at once
	whole chan struct{} // closed once the first wave is complete
}

// Do implements dynamodb.HTTPClient.
func (p *paced) Do(request *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	if operation != "GetItem" { // statistics read in the background, for later pages
		select {
		case <-p.note(operation):
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
	return p.under.Do(request)
}

// note notes a call, and returns a channel that is closed once its wave is complete.
func (p *paced) note(operation string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, operation)
	whole := p.whole
	if len(p.waves) > 0 {
		p.waves[0]--
	}
	if len(p.waves) == 0 || p.waves[0] == 0 {
		close(whole)
		p.waves, p.whole = p.waves[min(1, len(p.waves)):], make(chan struct{})
	}
	return whole
}

// expect forgets the calls so far, and expects waves with the given numbers of calls.
func (p *paced) expect(waves ...int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls, p.waves, p.whole = nil, slices.Clone(waves), make(chan struct{})
}

// made returns the calls since the last expect, sorted.
func (p *paced) made() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(slices.Values(p.calls))
}

// pacedAPI returns a service whose calls are noted, over a table whose comments are counted.
func pacedAPI(a *api) (*api, *paced) {
	client := &paced{under: a.session.Client.Options().HTTPClient}
	client.expect()
	service := &api{tb: a.tb, session: a.session, pages: a.pages, watermark: streamtest.Prompt{}}
	service.useClient(call.Over(a.session.Client, client))
	return service, client
}

// On a server that knows nothing of the product, a product page takes three calls in two waves.
// Afterwards it takes two calls in one wave. Whatever happens to the comments, it shows the newest.
func TestAProductPageTakesFewCalls(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	model := commenttest.NewModel()
	comments := commenttest.Many(commenttest.Rand(t), "vase", 60)
	slices.SortFunc(comments, func(a, b comment.Comment) int { return strings.Compare(string(b.ID), string(a.ID)) })
	for i := range comments {
		comments[i].Rating = map[int]int{7: 5, 40: 1, 50: 2, 55: 1}[i]
		if comments[i].Rating == 0 {
			comments[i].Rating = 3
		}
		model.Insert(comments[i])
	}
	a.load(comments...)
	a.count(arrived(comments...)...)
	service, client := pacedAPI(a)
	service.mustAsk(`{ product(id: "other") { stats { total } } }`, nil, &struct{}{}) // each process checks once whether anything was counted
	for _, row := range []struct {
		why   string
		do    func()
		first int // how many calls are made at once
		most  int // how many calls there are at most
	}{
		{"nothing is known", func() {}, 2, 3},
		{"the newest complaint is known to be beyond the page", func() {}, 2, 2},
		{"it was edited, which is not counted yet", func() {
			a.delete(comments[40].ID)
			after := comments[40]
			after.Rating = 3
			a.load(after)
			model.Replace(after)
		}, 1, 7}, // the counts are wrong for a moment, and plans follow them
		{"that is counted", func() {
			after := comments[40]
			after.Rating = 3
			a.count(change{before: &comments[40], after: &after})
		}, 2, 4}, // the second wave depends on whether the server has read the counts again
		{"a complaint is new", func() {
			fresh := commenttest.Many(commenttest.Rand(t), "vase", 1)[0]
			fresh.ID, fresh.Rating = comment.IDOf(comments[0].ID.Position().Next()), 1
			a.load(fresh)
			a.count(arrived(fresh)...)
			service.store.Changed(counts.Change{Product: "vase", ID: fresh.ID, After: new(fresh.Cell())}) // as counting does beside it
			model.Insert(fresh)
		}, 2, 2},
	} {
		row.do()
		var calls []string
		for range 20 { // one page, unless plans still use counts that were read just before a change
			client.expect(row.first)
			var data newestAnswer
			service.mustAsk(productPage, nil, &data)
			data.check(t, row.why, model)
			if calls = client.made(); len(calls) <= row.most || row.why != "that is counted" {
				break
			}
		}
		if len(calls) > row.most {
			t.Errorf("%s: %v, want at most %d calls", row.why, calls, row.most)
		}
	}
	client.expect(1)
	service.mustAsk(`{ product(id: "vase") { comments(first: 0, filter: {ratings: [3]}) { totalCount stats { average } } } }`, nil, &struct{}{})
	if calls := client.made(); !slices.Equal(calls, []string{"BatchGetItem"}) {
		t.Errorf("counts alone take %v", calls)
	}
	client.expect()
	var written struct {
		AddComment struct {
			Comment struct {
				ID      string
				Product struct{ LatestNegative struct{ ID string } }
			}
		}
	}
	service.mustAsk(`mutation { addComment(input: {productId: "vase", rating: 2, language: "de", text: "", author: {id: "a", name: "A"}}) {
		comment { id product { stats { total } latestNegative { id } lastCommentedAt } }
	} }`, nil, &written)
	if got := written.AddComment.Comment; got.Product.LatestNegative.ID != got.ID {
		t.Errorf("the answer to a write does not have it: %+v", got)
	}
	var data newestAnswer
	service.mustAsk(productPage, nil, &data)
	if got := data.Product; got.LatestNegative == nil || got.LatestNegative.ID != got.Comments.Nodes[0].ID {
		t.Errorf("who wrote does not find it: %+v", got)
	}
}

// newestAnswer is the answer to productPage.
type newestAnswer struct {
	Product struct {
		Comments                       struct{ Nodes []struct{ ID, Text string } }
		Stats                          struct{ Total int }
		LatestPositive, LatestNegative *struct{ ID, Text string }
		LastCommentedAt                *time.Time
	}
}

// check compares the answer with the model.
func (a newestAnswer) check(t *testing.T, why string, model *commenttest.Model) {
	t.Helper()
	list := model.List("vase", comment.Filter{}, comment.NewestFirst)
	newest := func(ratings ...int) (id string) {
		for _, c := range list {
			if slices.Contains(ratings, c.Rating) {
				return string(c.ID)
			}
		}
		return ""
	}
	got := a.Product
	shown := func(c *struct{ ID, Text string }) string {
		if c == nil {
			return ""
		}
		return c.ID
	}
	if shown(got.LatestPositive) != newest(4, 5) || shown(got.LatestNegative) != newest(1, 2) || len(got.Comments.Nodes) != min(20, len(list)) ||
		got.Stats.Total != len(list) || got.LastCommentedAt == nil || !got.LastCommentedAt.Equal(list[0].CreatedAt()) {
		t.Errorf("%s: %+v", why, got)
	}
}

// The cost of a product page's fields together, and each in its own operation, on servers that know
// nothing of the product, and again.
func TestCostOfAProductPage(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	comments := commenttest.Many(commenttest.Rand(t), "vase", 300)
	slices.SortFunc(comments, func(a, b comment.Comment) int { return strings.Compare(string(b.ID), string(a.ID)) })
	for i := range comments {
		comments[i].Rating = 3 + 2*(i%2) // 3 and 5
		if i == 40 || i > 200 {
			comments[i].Rating = 1
		}
	}
	a.load(comments...)
	a.count(arrived(comments...)...)
	inner := strings.TrimSuffix(strings.TrimPrefix(productPage, `{ product(id: "vase") {`), "} }")
	apart := strings.Split(strings.TrimSpace(inner), "\n")
	for _, row := range []struct {
		why     string
		queries []string
	}{
		{"together", []string{inner}}, {"apart", apart},
		{"without a page", []string{"latestPositive { id } latestNegative { id } lastCommentedAt", "latestPositive { id } latestNegative { id }"}},
	} {
		service, client := pacedAPI(a)
		service.mustAsk(`{ product(id: "other") { stats { total } } }`, nil, &struct{}{})
		for _, visit := range []string{"first", "second"} {
			calls, units := 0, 0.0
			for _, fields := range row.queries {
				client.expect()
				estimated, taken := service.consumed(`{ product(id: "vase") {` + fields + `} }`)
				units += taken
				calls += len(client.made())
				if row.why != "apart" && taken > estimated { // a rare one may cost more than its estimate, up to its bound
					t.Errorf("%s\ntook %.1f read units, more than the estimate of %.1f", fields, taken, estimated)
				}
			}
			t.Logf("%s, %s visit: %d calls, %.1f read units", row.why, visit, calls, units)
			if row.why == "together" && (visit == "first" && calls > 3 || visit == "second" && calls > 2) {
				t.Errorf("%d calls", calls)
			}
		}
	}
}

// A refused page tells nothing to the fields beside it.
func TestRefusedPageBesideNewestComments(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	comments := commenttest.Many(commenttest.Rand(t), "x", 40)
	a.load(comments...)
	a.pages = a.inTable(t, comments...)
	a.useClient(a.session.Client)
	const newest = "latestPositive { id createdAt } latestNegative { id createdAt } lastCommentedAt"
	alone := a.ask("{ product(id: \"x\") { "+newest+" } }", nil)
	for _, arguments := range []string{
		"page: 1, last: 5, order: OLDEST_FIRST", "page: 0", "page: -1", "page: 1, first: 0", "first: 3, last: 3", "first: 101", "first: -1",
		"last: -1, order: OLDEST_FIRST", "filter: {ratings: [9]}", `page: 1, after: "x"`, "page: 1, settledOnly: true", "order: HIGHEST_RATED, settledOnly: true", `last: 5, order: OLDEST_FIRST, before: "x"`,
	} {
		got := a.ask("{ product(id: \"x\") { comments("+arguments+") { nodes { id } } "+newest+" } }", nil)
		without := strings.Replace(string(got.Data), `"comments":null,`, "", 1)
		if len(got.Errors) != 1 || without != string(alone.Data) {
			t.Errorf("beside comments(%s): %s with %d errors, want %s with one", arguments, without, len(got.Errors), alone.Data)
		}
	}
}

// The first view of a product page costs one wave. A server that knows nothing of the product reads
// the page and the statistics, half a unit. While the counts are known, it reads the page alone.
// Only a praise or complaint beyond the page takes half a unit more, and a second wave while
// nothing is known. So do the most helpful ones.
func TestFirstViewOfAProductPage(t *testing.T) {
	t.Parallel()
	operation := must.Get(os.ReadFile("../web/product/product.graphql"))(t)
	a := newAPI(t, dynamotest.Dynoxide(t))
	var all []comment.Comment
	for product, complaint := range map[string]int{"vase": 3, "cup": 40, "bowl": 200} {
		comments := commenttest.Many(commenttest.Rand(t), product, 300)
		slices.SortFunc(comments, func(a, b comment.Comment) int { return strings.Compare(string(b.ID), string(a.ID)) })
		for i := range comments {
			comments[i].Rating, comments[i].Text, comments[i].Title = 5, "fine", nil
		}
		comments[complaint].Rating = 1
		if product == "bowl" {
			comments[complaint].ImportedVotes.Helpful, comments[100].ImportedVotes.Helpful = 7, 3
			comments[complaint].Votes, comments[100].Votes = comments[complaint].ImportedVotes, comments[100].ImportedVotes
		}
		all = append(all, comments...)
	}
	a.load(all...)
	a.pages = a.inTable(t, all...)
	service, client := pacedAPI(a)
	service.mustAsk(`{ product(id: "other") { stats { total } } }`, nil, &struct{}{}) // each process checks once whether anything was counted
	for _, row := range []struct {
		why, product string
		waves        []int
		units        float64
	}{
		{"cold", "vase", []int{2}, 1},
		{"known", "vase", []int{1}, 0.5},
		{"cold, and the complaint is beyond the page", "cup", []int{2, 1}, 1.5},
		{"known", "cup", []int{2}, 1},
		{"cold, and there are votes", "bowl", []int{2, 1}, 1.5},
		{"known", "bowl", []int{2}, 1},
	} {
		client.expect(row.waves...)
		var got firstViewed
		service.asked(string(operation), map[string]any{"id": row.product, "first": 20, "highlights": true}, &got)
		list, calls := got.Data.Product.List, 0
		for _, n := range row.waves {
			calls += n
		}
		if made := client.made(); len(made) != calls || got.Extensions.Cost.ReadUnits > row.units {
			t.Errorf("%s: %v for %v read units; want waves of %v calls, and %v units", row.why, made, got.Extensions.Cost.ReadUnits, row.waves, row.units)
		}
		if got.Data.Product.Complaint.Rating != 1 || list.TotalCount != 300 || list.PageCount != 15 || list.PageNumber != 1 {
			t.Errorf("%s: %+v", row.why, got.Data.Product)
		}
	}
}

// firstViewed is an answer to the operation of a product page.
type firstViewed struct {
	Data struct {
		Product struct {
			Complaint struct{ Rating int }
			List      struct{ TotalCount, PageCount, PageNumber int }
		}
	}
	Extensions struct{ Cost struct{ ReadUnits float64 } }
}
