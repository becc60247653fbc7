package command_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
)

// skippingPage is a page with the reads that were skipped.
type skippingPage struct {
	Nodes    []struct{ Rating int }
	PageInfo struct{ HasNextPage, HasPreviousPage bool }
	Plan     struct {
		Summary        string
		Queries, Waves int
		Skipped        []struct {
			Purpose, Index, PartitionKey string
			AsOf                         time.Time
		}
	}
}

func (a *api) skippingPage(filter string) skippingPage {
	a.tb.Helper()
	var data struct {
		Product struct{ Comments skippingPage }
	}
	a.mustAsk(`{ product(id: "vase") { comments(filter: {`+filter+`}) { nodes { rating } pageInfo { hasNextPage hasPreviousPage }
		plan { summary queries waves skipped { purpose index partitionKey asOf } } } } }`, nil, &data)
	return data.Product.Comments
}

// trusted asks until reads are skipped.
func (a *api) trusted(filter string) (p skippingPage) {
	a.tb.Helper()
	must.Wait(a.tb, "reads are left out under {"+filter+"}", func() bool {
		p = a.skippingPage(filter)
		return len(p.Plan.Skipped) > 0
	})
	return p
}

// Partitions that are empty according to the statistics are not read. The page and its plan are
// otherwise unchanged, and a client finds its own new comment at once.
func TestEmptyPartitionsAreNotRead(t *testing.T) {
	t.Parallel()
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		a := newAPI(t, endpoint)
		a.watermark = streamtest.Prompt{}
		a.useClient(a.session.Client)
		comments := commenttest.Many(r, "vase", 10)
		for i := range comments {
			comments[i].Rating, comments[i].Language = 4, "de"
		}
		a.load(comments...)
		a.count(arrived(comments...)...)

		first := a.skippingPage("ratings: [1, 4]")
		if first.Plan.Queries != 1 || len(first.Plan.Skipped) > 0 { // one read of the whole product
			t.Errorf("before anything is known: %+v", first.Plan)
		}
		before := time.Now()
		p := a.trusted("ratings: [1, 4]")
		skip := p.Plan.Skipped[0]
		if p.Plan.Queries != 1 || skip.Purpose != "PAGE" || skip.Index != "byRating" || skip.PartitionKey != "P#vase/1" || before.Sub(skip.AsOf) > 5*time.Second {
			t.Errorf("%+v", p.Plan)
		}
		if !strings.Contains(p.Plan.Summary, "skip P#vase/1 in byRating: empty by statistics of ") {
			t.Errorf("the summary does not tell what was left out:\n%s", p.Plan.Summary)
		}
		if !slices.Equal(p.Nodes, first.Nodes) || len(p.Nodes) != len(comments) || p.PageInfo != first.PageInfo {
			t.Errorf("%+v, want %+v", p, first)
		}
		if p := a.trusted(`ratings: [1], languages: ["de", "en"]`); len(p.Nodes) > 0 || p.Plan.Queries+p.Plan.Waves > 0 || len(p.Plan.Skipped) != 2 || p.PageInfo.HasNextPage {
			t.Errorf("an empty page: %+v", p)
		}

		var data struct {
			AddComment struct{ Comment struct{ ID string } }
		}
		a.mustAsk(`mutation { addComment(input: {productId: "vase", rating: 1, language: "de", text: "", author: {id: "a", name: "A"}}) { comment { id } } }`, nil, &data)
		deadline := time.Now().Add(time.Minute) // an index may take a moment, and not more
		for len(a.skippingPage("ratings: [1]").Nodes) == 0 {
			if p := a.skippingPage("ratings: [1]"); len(p.Plan.Skipped) > 0 || time.Now().After(deadline) {
				t.Fatalf("who wrote does not find it: %+v", p)
			}
		}
		id := must.Get(comment.ParseID(data.AddComment.Comment.ID))(t)
		a.count(change{after: &comment.Comment{ID: id, ProductID: "vase", Rating: 1, Language: "de"}})
		if p := a.trusted("ratings: [1, 2]"); len(p.Nodes) != 1 || len(p.Plan.Skipped) != 1 || p.Plan.Skipped[0].PartitionKey != "P#vase/2" {
			t.Errorf("once it is counted: %+v", p)
		}
	})
}
