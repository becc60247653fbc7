package command_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

const pageQuery = `query Page($product: ID!, $filter: CommentFilter, $order: CommentOrder, $first: Int, $after: String, $last: Int, $before: String) {
  product(id: $product) {
    comments(filter: $filter, order: $order, first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { id product { id } rating language title text author { id name } createdAt updatedAt version } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      plan { summary waves queries itemsRead itemsReturned readUnits reads { purpose index partitionKey limit queries itemsRead readUnits } }
    }
  }
}`

// shown is a comment as an answer shows it.
type shown struct {
	ID                   string
	Product              struct{ ID string }
	Rating               int
	Language             string
	Title                *string
	Text                 string
	Author               struct{ ID, Name string }
	CreatedAt, UpdatedAt *time.Time
	Version              int
}

func showing(c comment.Comment) shown {
	s := shown{
		ID: string(c.ID), Rating: c.Rating, Language: string(c.Language), Title: c.Title, Text: c.Text,
		UpdatedAt: c.UpdatedAt, Version: c.Version,
	}
	s.Product.ID, s.Author.ID, s.Author.Name, s.CreatedAt = c.ProductID, c.Author.GlobalID(), c.Author.Name, new(c.CreatedAt())
	return s
}

type edge struct {
	Cursor string
	Node   shown
}

type page struct {
	Edges    []edge
	PageInfo struct {
		HasNextPage, HasPreviousPage bool
		StartCursor, EndCursor       *string
	}
	Plan planned
}

// planned is an answer's record of how a page was read.
type planned struct {
	Summary                                  string
	Waves, Queries, ItemsRead, ItemsReturned int
	ReadUnits                                float64
	Reads                                    []struct {
		Purpose, Index, PartitionKey string
		Limit, Queries, ItemsRead    int
		ReadUnits                    float64
	}
}

// list is a list of comments to page through.
type list struct {
	product string
	filter  comment.Filter
	order   comment.Order
	size    int
}

func (l list) String() string {
	return fmt.Sprintf("%s %+v %s by %d", l.product, l.filter.Conditions(), l.order, l.size)
}

func (l list) variables(backwards bool, cursor *string) map[string]any {
	filter := map[string]any{"languages": l.filter.Languages, "ratings": l.filter.Ratings}
	if l.filter.Verified != nil {
		filter["verified"] = *l.filter.Verified
	}
	if l.filter.WithMedia != nil {
		filter["withMedia"] = *l.filter.WithMedia
	}
	if l.filter.CreatedAfter != nil {
		filter["createdAfter"] = l.filter.CreatedAfter
	}
	if l.filter.CreatedBefore != nil {
		filter["createdBefore"] = l.filter.CreatedBefore
	}
	variables := map[string]any{"product": l.product, "filter": filter, "order": l.order}
	if backwards {
		variables["last"], variables["before"] = l.size, cursor
	} else {
		variables["first"], variables["after"] = l.size, cursor
	}
	return variables
}

func (a *api) page(variables map[string]any) page {
	a.tb.Helper()
	var data struct{ Product struct{ Comments page } }
	a.mustAsk(pageQuery, variables, &data)
	return data.Product.Comments
}

// walk reads a list page by page to its end, and checks every page against the whole expected list.
func (a *api) walk(l list, backwards bool, want []comment.Comment) {
	a.tb.Helper()
	var cursor *string
	for at := 0; ; {
		p := a.page(l.variables(backwards, cursor))
		end := min(at+l.size, len(want))
		expected, first, last := want[at:end], at == 0, end == len(want)
		if backwards {
			expected, first, last = want[len(want)-end:len(want)-at], last, first
		}
		a.checkPage(l, p, expected, first, last)
		if end == len(want) {
			return
		}
		at, cursor = end, p.PageInfo.EndCursor
		if backwards {
			cursor = p.PageInfo.StartCursor
		}
	}
}

func (a *api) checkPage(l list, p page, want []comment.Comment, first, last bool) {
	a.tb.Helper()
	got := make([]shown, 0, len(p.Edges))
	for _, e := range p.Edges {
		got = append(got, e.Node)
	}
	expected := make([]shown, 0, len(want))
	for _, c := range want {
		expected = append(expected, showing(c))
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		a.tb.Fatalf("%s: a page is not what it should be\n%s\n%s", l, diff, p.Plan.Summary)
	}
	if p.PageInfo.HasPreviousPage == first || p.PageInfo.HasNextPage == last {
		a.tb.Fatalf("%s: the page claims hasPreviousPage %v, hasNextPage %v; it is first: %v, last: %v\n%s",
			l, p.PageInfo.HasPreviousPage, p.PageInfo.HasNextPage, first, last, p.Plan.Summary)
	}
}

// ratingSets are all 32 sets of ratings, the empty one and the full one included.
func ratingSets() [][]int {
	var out [][]int
	for bits := range 1 << comment.MaxRating {
		set := []int{}
		for rating := 1; rating <= comment.MaxRating; rating++ {
			if bits&(1<<(rating-1)) != 0 {
				set = append(set, rating)
			}
		}
		out = append(out, set)
	}
	return out
}

func languageSets(r *rand.Rand) [][]comment.Language {
	some := slices.Clone(commenttest.Languages)
	r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	return [][]comment.Language{nil, {"en"}, {"ar", "nl"}, some[:3]}
}

func anyOrder(r *rand.Rand) comment.Order {
	orders := commenttest.Orders()
	return orders[r.IntN(len(orders))]
}

// Every filter, all orders, forwards and backwards, in pages of many sizes. Each list has the
// comments that pass its filter, in its order.
func TestWholeReads(t *testing.T) {
	t.Parallel()
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		a := newAPI(t, endpoint)
		const product = "cup/en"
		comments := commenttest.Voted(r, commenttest.Many(r, product, 200))
		for i := range 7 { // so that there are enough to page through, below
			comments[i].Language = "ar"
		}
		comments = append(comments, commenttest.Many(r, "cup", 60)...)
		comments = append(comments, commenttest.Many(r, "cup/en/5", 60)...)
		a.load(comments...)
		model := commenttest.NewModel(comments...)
		// A residual filter that keeps little makes the read go on, and the page is still full.
		rare := list{product: product, order: comment.NewestFirst, size: 3, filter: comment.Filter{Languages: []comment.Language{"ar"}}}
		for c := range 39 {
			rare.filter.Languages = append(rare.filter.Languages, comment.Language(fmt.Sprintf("en-x-%d", c)))
		}
		few := model.List(product, mustNormalize(t, rare.filter), rare.order)
		a.walk(rare, false, few)
		a.walk(rare, true, few)
		for _, ratings := range ratingSets() {
			for _, languages := range languageSets(r) {
				if r.IntN(timesOn(t, 2, 6, 1)) != 0 {
					continue // every case runs in some run
				}
				l := list{product: product, order: anyOrder(r), size: 5 + r.IntN(comment.MaxPageSize-4)}
				l.filter = comment.Filter{Languages: languages, Ratings: ratings, Verified: anyTruth(r), WithMedia: anyTruth(r)}
				if l.filter.MayMatchFew() {
					l.size = min(l.size, 50) // a larger page of many languages and ratings costs too much
				}
				if r.IntN(3) == 0 {
					from := commenttest.Epoch.Add(time.Duration(r.IntN(2000)) * time.Second)
					to := from.Add(time.Duration(1+r.IntN(2000)) * time.Second)
					l.filter.CreatedAfter, l.filter.CreatedBefore = &from, &to
				}
				want := model.List(product, mustNormalize(t, l.filter), l.order)
				a.walk(l, false, want)
				a.walk(l, true, want)
			}
		}
	})
}

// anyTruth returns a condition on a trait, mostly none.
func anyTruth(r *rand.Rand) *bool {
	return []*bool{nil, nil, nil, nil, new(true), new(false)}[r.IntN(6)]
}

func mustNormalize(t testing.TB, filter comment.Filter) comment.Filter {
	t.Helper()
	return must.Get(filter.Normalize())(t)
}

// DynamoDB ends a page of its own at 1 MB, whatever the limit.
func TestPagesCutByTheEngine(t *testing.T) {
	t.Parallel()
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		a := newAPI(t, endpoint)
		var comments []comment.Comment
		for range 34 {
			comments = append(comments, commenttest.Large(r, "book", 100<<10))
		}
		a.load(comments...)
		model := commenttest.NewModel(comments...)
		for _, filter := range []comment.Filter{{}, {Languages: []comment.Language{"de", "en"}}, {Ratings: []int{4, 5}}} {
			l := list{product: "book", order: comment.NewestFirst, size: 20, filter: filter}
			if filter.Languages != nil || filter.Ratings != nil {
				l.size = 10 // 20 from each of two partitions are 3 MB: more than a page may cost
			}
			want := model.List("book", filter, l.order)
			a.walk(l, false, want)
			a.walk(l, true, want)
		}
		p := a.page(list{product: "book", order: comment.NewestFirst, size: 20}.variables(false, nil))
		if p.Plan.Waves < 2 || p.Plan.Queries != p.Plan.Waves {
			t.Errorf("20 comments of 80 KB as stored took %d calls in %d waves; the engine should have cut them at 1 MB", p.Plan.Queries, p.Plan.Waves)
		}
		var data struct {
			Product struct {
				Comments struct {
					TotalCount int
					Plan       struct{ Queries, Waves int }
				}
			}
		}
		a.mustAsk(`{ product(id: "book") { comments(first: 0, filter: {createdAfter: "2000-01-01T00:00:00Z"}) { totalCount plan { queries waves } } } }`, nil, &data)
		if got := data.Product.Comments; got.TotalCount != len(comments) || got.Plan.Waves < 3 || got.Plan.Queries != got.Plan.Waves+1 {
			t.Errorf("%+v; want 34 comments of 80 KB as stored counted in calls of 1 MB each", got)
		}
	})
}

// A slice between any two cursors, from either end, matches the whole list, and so does its page
// info. Comments at the cursors and elsewhere may be gone.
func TestSlicesBetweenCursors(t *testing.T) {
	t.Parallel()
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		a := newAPI(t, endpoint)
		for round := range 8 {
			product := fmt.Sprint("vase", round)
			comments := commenttest.Many(r, product, 16)
			a.load(comments...)
			l := list{product: product, order: anyOrder(r), size: 100}
			if r.IntN(2) == 0 {
				l.filter.Ratings = []int{4, 5}
			}
			edges := a.page(l.variables(false, nil)).Edges
			model := commenttest.NewModel(comments...)
			for _, c := range comments {
				if r.IntN(3) == 0 {
					a.delete(c.ID)
					model.Delete(c.ID)
				}
			}
			for range 25 {
				a.checkSlice(r, l, edges, model.List(product, l.filter, l.order))
			}
		}
	})
}

// checkSlice asks for a random slice of a list, by cursors of its present or former edges, and
// compares it with the list.
func (a *api) checkSlice(r *rand.Rand, l list, edges []edge, whole []comment.Comment) {
	a.tb.Helper()
	l.size = r.IntN(6)
	backwards := r.IntN(2) == 0
	variables := l.variables(backwards, nil)
	low, high := 0, len(whole) // the slice of the list between the cursors
	from, to := r.IntN(len(edges)+1)-1, r.IntN(len(edges)+1)
	if from >= 0 && to < len(edges) && from >= to {
		return // the wrong way round
	}
	if from >= 0 {
		variables["after"] = edges[from].Cursor
		low = countBefore(l.order, whole, edges[from], true)
	}
	if to < len(edges) {
		variables["before"] = edges[to].Cursor
		high = countBefore(l.order, whole, edges[to], false)
	}
	if backwards {
		low = max(low, high-l.size)
	} else {
		high = min(high, low+l.size)
	}
	a.checkPage(l, a.page(variables), whole[low:high], low == 0, high == len(whole))
}

// countBefore returns how many comments of a list come before the edge, which may be gone, or also
// at it.
func countBefore(order comment.Order, whole []comment.Comment, e edge, inclusive bool) int {
	at := order.PlaceOf(comment.Comment{ID: comment.ID(e.Node.ID), Rating: e.Node.Rating})
	count := 0
	for _, c := range whole {
		compared := order.Compare(order.PlaceOf(c), at)
		if compared < 0 || compared == 0 && inclusive {
			count++
		}
	}
	return count
}

// A cursor costs no further read while its comment exists, and one probe in a second wave when the
// comment is gone.
func TestProbes(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	a.load(commenttest.Many(commenttest.Rand(t), "vase", 5)...)
	l := list{product: "vase", order: comment.NewestFirst, size: 2}
	edges := a.page(l.variables(false, nil)).Edges
	for _, row := range []struct {
		why   string
		waves int
	}{{"the comment at the cursor is there", 1}, {"it is gone", 2}} {
		plan := a.page(l.variables(false, &edges[1].Cursor)).Plan
		if plan.Waves != row.waves || plan.Queries != row.waves || plan.Reads[row.waves-1].Purpose != []string{"PAGE", "PROBE"}[row.waves-1] {
			t.Errorf("%s: want %d waves of one call each\n%s", row.why, row.waves, plan.Summary)
		}
		a.delete(comment.ID(edges[1].Node.ID))
	}
}

// Settled comments are a page of the whole list: with its cursors, and beside the counts of all.
func TestSettledComments(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	comments := commenttest.Many(commenttest.Rand(t), "42", 2)
	comments[1].ID = comment.IDOf(comment.PositionAt(time.Now(), [10]byte{}))
	a.load(comments...)
	a.count(arrived(comments...)...)
	var data struct {
		Product struct{ All, Settled, Next page }
	}
	const asked = `query($after: String) { product(id: "42") {
		all: comments(order: OLDEST_FIRST) { edges { cursor node { id } } }
		settled: comments(order: OLDEST_FIRST, settledOnly: true) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } }
		next: comments(order: OLDEST_FIRST, settledOnly: true, after: $after) { edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } }
	} }`
	a.mustAsk(asked, nil, &data)
	all, settled := data.Product.All.Edges, data.Product.Settled
	if len(all) != 2 || len(settled.Edges) != 1 || settled.Edges[0] != all[0] || settled.PageInfo.HasNextPage {
		t.Fatalf("%d comments, of which settled: %+v", len(all), settled)
	}
	for _, edge := range all { // also after one that is too recent
		a.mustAsk(asked, map[string]any{"after": edge.Cursor}, &data)
		if next := data.Product.Next; len(next.Edges) > 0 || next.PageInfo.HasNextPage || !next.PageInfo.HasPreviousPage || next.PageInfo.EndCursor != nil {
			t.Errorf("after %s: %+v", edge.Node.ID, next)
		}
	}
	var counted struct {
		Product struct{ Comments struct{ TotalCount int } }
	}
	a.mustAsk(`{ product(id: "42") { comments(settledOnly: true) { totalCount } } }`, nil, &counted)
	if total := counted.Product.Comments.TotalCount; total != 2 {
		t.Errorf("%d comments in all", total)
	}
}
