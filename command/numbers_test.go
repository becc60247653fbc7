package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/pageindex/table"
)

const numberedQuery = `query Numbered($product: ID!, $filter: CommentFilter, $order: CommentOrder, $first: Int, $page: Int, $after: String) {
  product(id: $product) {
    comments(filter: $filter, order: $order, first: $first, page: $page, after: $after) {
      nodes { id text }
      totalCount pageCount pageNumber
      pageInfo { hasNextPage hasPreviousPage endCursor }
      pageCursors(around: 1) { first { ...C } previous { ...C } around { ...C } next { ...C } last { ...C } }
      plan { summary position { by rank skipped counted calls waves readUnits } }
    }
  }
}
fragment C on PageCursor { cursor page isCurrent }`

type pageCursor struct {
	Cursor    string
	Page      int
	IsCurrent bool
}

type numbered struct {
	Nodes                             []struct{ ID, Text string }
	TotalCount, PageCount, PageNumber *int
	PageInfo                          struct {
		HasNextPage, HasPreviousPage bool
		EndCursor                    *string
	}
	PageCursors *struct {
		First, Previous, Next, Last *pageCursor
		Around                      []pageCursor
	}
	Plan struct {
		Summary  string
		Position *struct {
			By                    string
			Rank                  *int
			Skipped, Calls, Waves int
			Counted               bool
		}
	}
}

// texts are the texts that a page shows, so that a lost text is noticed too.
func (n numbered) texts() (out []string) {
	for _, node := range n.Nodes {
		out = append(out, node.ID+" "+node.Text)
	}
	return out
}

// crowd makes comments, many with the same time.
func crowd(r *rand.Rand, product string, n int) []comment.Comment {
	comments := commenttest.Voted(r, commenttest.Many(r, product, n))
	for i := range comments {
		at := comments[i].ID.Position()
		moment := commenttest.Epoch.Add(time.Duration(r.IntN(3)) * time.Hour)
		comments[i].ID = comment.IDOf(comment.PositionAt(moment, [10]byte(at[6:])))
		comments[i].UpdatedAt = nil
	}
	return comments
}

// index returns an index of these comments.
func index(t *testing.T, comments ...comment.Comment) *conformance.Model {
	t.Helper()
	model := conformance.NewModel()
	var entries []pageindex.Entry
	for _, c := range comments {
		entries = append(entries, entryOf(c))
	}
	must.Do(t, model.Apply(t.Context(), entries))
	return model
}

func entryOf(c comment.Comment) pageindex.Entry {
	return pageindex.Entry{Product: c.ProductID, Position: c.ID.Position(), Cell: new(c.Cell()), Follows: "1"}
}

func (a *api) numbered(variables map[string]any) numbered {
	a.tb.Helper()
	var data struct{ Product struct{ Comments numbered } }
	a.mustAsk(numberedQuery, variables, &data)
	return data.Product.Comments
}

// inTable counts comments, and returns the index that is kept in the table along with the counts.
func (a *api) inTable(t *testing.T, comments ...comment.Comment) *table.Index {
	t.Helper()
	kept := table.New(a.session.Client, a.session.Table)
	counter := counts.NewCounter(a.session.Client, a.session.Table, counts.CounterOptions{Pages: kept, Logger: slog.New(slog.DiscardHandler)})
	for batch := range slices.Chunk(arrived(comments...), 100) {
		must.Do(t, counter.Handle(t.Context(), a.records(batch)))
	}
	return kept
}

// On quiet data, the pages by number are the pages by cursor, and each page links to the others.
// The index is the one in the table.
func TestPagesByNumber(t *testing.T) {
	t.Parallel()
	a, r := newAPI(t, dynamotest.Dynoxide(t)), commenttest.Rand(t)
	comments := crowd(r, "kettle", 700)
	a.load(comments...)
	a.pages = a.inTable(t, comments...)
	a.useClient(a.session.Client)
	a.checkPagesByNumber(t, r, comments)
	a.checkCostOfNumbers(t)
	a.checkNumbersFromStatistics(t)
}

// checkNumbersFromStatistics checks that page numbers that need no lookup cost no more than the
// statistics of the product.
func (a *api) checkNumbersFromStatistics(t *testing.T) {
	t.Helper()
	for _, arguments := range []string{"first: 20", "first: 20, page: 1", "first: 20, page: 2", "first: 5, filter: {ratings: [1, 5]}", "last: 20"} {
		of := func(fields string) float64 {
			_, consumed := a.consumed(fmt.Sprintf(`{ product(id: "kettle") { comments(%s) { nodes { id } %s } } }`, arguments, fields))
			return consumed
		}
		if page, numbered := of(""), of("pageCount pageNumber totalCount"); numbered > page+0.5 {
			t.Errorf("%s: %v read units, and %v with numbers", arguments, page, numbered)
		}
	}
}

// checkCostOfNumbers compares what pages by number and links consumed, lookups included, with their
// estimate.
func (a *api) checkCostOfNumbers(t *testing.T) {
	t.Helper()
	for _, arguments := range []string{"page: 2", "page: 17", "page: 35", "page: 90", "page: 9, filter: {ratings: [1, 5]}", "page: 17, order: HIGHEST_RATED", "page: 90, order: LOWEST_RATED", "page: 2, order: MOST_HELPFUL", "page: 60, order: MOST_HELPFUL", `page: 11, filter: {createdAfter: "2020-02-29T00:00:00Z"}`} {
		for _, fields := range []string{"", "pageCount", "pageCursors(around: 10) { last { page } }"} {
			estimated, consumed := a.consumed(fmt.Sprintf(`{ product(id: "kettle") { comments(first: 20, %s) { nodes { id } %s } } }`, arguments, fields))
			if consumed > estimated {
				t.Errorf("%s %s: estimated %v, consumed %v", arguments, fields, estimated, consumed)
			}
		}
	}
}

// consumed returns the estimated and the consumed read units of an operation.
func (a *api) consumed(query string) (estimated, consumed float64) {
	a.tb.Helper()
	var got struct {
		Errors     []any
		Extensions struct {
			Cost struct{ EstimatedReadUnits, ReadUnits float64 }
		}
	}
	if a.asked(query, nil, &got); len(got.Errors) > 0 || got.Extensions.Cost.ReadUnits == 0 {
		a.tb.Fatal(query, got)
	}
	return got.Extensions.Cost.EstimatedReadUnits, got.Extensions.Cost.ReadUnits
}

func (a *api) checkPagesByNumber(t *testing.T, r *rand.Rand, comments []comment.Comment) {
	t.Helper()
	middle := commenttest.Epoch.Add(time.Hour)
	for _, l := range []list{
		{order: comment.NewestFirst, size: 100},
		{order: comment.OldestFirst, size: 90},
		{order: comment.NewestFirst, size: 40, filter: comment.Filter{Ratings: []int{1, 5}}},
		{order: comment.OldestFirst, size: 30, filter: comment.Filter{Languages: []comment.Language{"de", "en"}, Ratings: []int{4, 5}, CreatedAfter: &middle}},
		{order: comment.NewestFirst, size: 7, filter: comment.Filter{Languages: []comment.Language{"ar"}}},
		{order: comment.HighestRated, size: 90},
		{order: comment.LowestRated, size: 40, filter: comment.Filter{Languages: []comment.Language{"de", "en"}, CreatedAfter: &middle}},
		{order: comment.HighestRated, size: 60, filter: comment.Filter{Ratings: []int{1, 3, 4}}},
		{order: comment.MostHelpful, size: 70},
		{order: comment.MostHelpful, size: 30, filter: comment.Filter{Ratings: []int{1, 3, 4}, CreatedBefore: &middle}},
		{order: comment.NewestFirst, size: 50, filter: comment.Filter{Verified: new(true)}},
		{order: comment.OldestFirst, size: 40, filter: comment.Filter{Verified: new(false), Ratings: []int{5}}},
		{order: comment.NewestFirst, size: 30, filter: comment.Filter{WithMedia: new(true)}},
	} {
		l.product = "kettle"
		want := commenttest.NewModel(comments...).List(l.product, l.filter, l.order)
		variables := l.variables(false, nil)
		walked := a.numbered(variables)
		for page := 1; ; page++ {
			variables["page"], variables["after"] = page, nil
			got := a.numbered(variables)
			a.checkNumbered(l, got, want, page)
			if diff := cmp.Diff(walked.texts(), got.texts()); diff != "" {
				t.Fatalf("%s: page %d is not the page by cursor\n%s\n%s", l, page, diff, got.Plan.Summary)
			}
			link := pick(r, got.PageCursors.Around...)
			variables["page"], variables["after"] = nil, link.Cursor
			a.checkNumbered(l, a.numbered(variables), want, link.Page)
			if !walked.PageInfo.HasNextPage {
				break
			}
			variables["page"], variables["after"] = nil, walked.PageInfo.EndCursor
			walked = a.numbered(variables)
		}
		variables["page"], variables["after"] = comment.Pages(len(want), l.size)+3, nil
		beyond := a.numbered(variables)
		if len(beyond.Nodes) > 0 || beyond.PageInfo.HasNextPage || !beyond.PageInfo.HasPreviousPage ||
			beyond.PageCursors.Next != nil || beyond.PageCursors.Previous.Page != *beyond.PageCount {
			t.Errorf("%s: beyond the end: %+v", l, beyond)
		}
	}
}

// checkNumbered compares the numbers on a page with the whole list.
func (a *api) checkNumbered(l list, got numbered, list []comment.Comment, page int) {
	a.tb.Helper()
	pages, start := comment.Pages(len(list), l.size), (page-1)*l.size
	var want []string
	for _, c := range list[start:min(start+l.size, len(list))] {
		want = append(want, string(c.ID)+" "+c.Text)
	}
	if diff := cmp.Diff(want, got.texts()); diff != "" {
		a.tb.Fatalf("%s: page %d\n%s\n%s", l, page, diff, got.Plan.Summary)
	}
	if *got.TotalCount != len(list) || *got.PageCount != pages || *got.PageNumber != page ||
		got.PageInfo.HasPreviousPage != (page > 1) || got.PageInfo.HasNextPage != (page < pages) {
		a.tb.Fatalf("%s: page %d of %d, %d comments: %+v", l, page, pages, len(list), got)
	}
	number := func(link *pageCursor) int {
		if link == nil {
			return 0
		}
		return link.Page
	}
	links := got.PageCursors
	if number(links.First) != 1 || number(links.Previous) != page-1 || number(links.Next) != (page+1)%(pages+1) || number(links.Last) != pages {
		a.tb.Fatalf("%s: links of page %d of %d: %+v", l, page, pages, links)
	}
	for i, link := range links.Around {
		if link.Page != max(1, page-1)+i || link.IsCurrent != (link.Page == page) {
			a.tb.Fatalf("%s: links of page %d of %d: %+v", l, page, pages, links)
		}
	}
}

// A link holds a position. When newer comments come, it still leads to the same page, which then
// knows its new number. The link to page 1 leads to the newest comments.
func TestLinksStayRightWhileCommentsCome(t *testing.T) {
	t.Parallel()
	a, r := newAPI(t, dynamotest.Dynoxide(t)), commenttest.Rand(t)
	comments := crowd(r, "kettle", 60)
	a.load(comments...)
	model := index(t, comments...)
	a.pages = model
	a.useClient(a.session.Client)
	first := a.numbered(map[string]any{"product": "kettle", "first": 10})
	third := a.numbered(map[string]any{"product": "kettle", "first": 10, "page": 3})

	newer := comment.Comment{
		ID: comment.IDOf(comment.PositionAt(commenttest.Epoch.Add(24*time.Hour), [10]byte{1})), ProductID: "kettle",
		Rating: 5, Language: "en", Text: "new", Author: comment.Author{ID: "a", Name: "A"}, Version: 1,
	}
	a.load(newer)
	must.Do(t, model.Apply(t.Context(), []pageindex.Entry{entryOf(newer)}))
	again := a.numbered(map[string]any{"product": "kettle", "first": 10, "after": third.PageCursors.Around[1].Cursor})
	check.Equal(t, third.texts(), again.texts(), "the link leads elsewhere")
	if *again.PageNumber != 3 {
		t.Errorf("shifted by one comment, it is page %d", *again.PageNumber)
	}
	start := a.numbered(map[string]any{"product": "kettle", "first": 10, "after": third.PageCursors.First.Cursor})
	if want := append([]string{string(newer.ID) + " new"}, first.texts()[:9]...); cmp.Diff(want, start.texts()) != "" || start.PageInfo.HasPreviousPage {
		t.Errorf("the link to page 1 leads to %v", start.texts())
	}
}

// away is an index whose store cannot be reached.
type away struct{}

func (away) Find(context.Context, pageindex.List, []pageindex.Target) (pageindex.Found, error) {
	return pageindex.Found{}, comment.Errorf(comment.Unavailable, "the store is away: start it")
}

// Without an index, fields that need it say so and what to do, and nothing else fails. A page near
// an end of its list needs none, unless page numbers are off.
func TestPagesWithoutAnIndex(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	comments := commenttest.Many(commenttest.Rand(t), "kettle", 30)
	a.load(comments...)
	a.pages = index(t, comments...)
	a.useClient(a.session.Client)
	page := a.numbered(map[string]any{"product": "kettle", "first": 5})
	end, start := *page.PageInfo.EndCursor, page.PageCursors.First.Cursor
	const off, gone = "page numbers are off", "the store is away: start it"
	for _, row := range []struct {
		why        string
		pages      pageindex.Index
		arguments  string
		fields     string
		code, says string
		nodes      int // of the page, which is beside the error
	}{
		{"a page by number", nil, "first: 5, page: 2", "nodes { id }", "BAD_INPUT", off, 0},
		{"the number of pages", nil, "first: 5", "nodes { id } pageCount", "BAD_INPUT", off, 5},
		{"the number of the page", nil, "first: 5", "nodes { id } pageNumber", "BAD_INPUT", off, 5},
		{"links", nil, "first: 5", "nodes { id } pageCursors { next { page } }", "BAD_INPUT", off, 5},
		{"a count of a range is read", nil, `first: 5, filter: {createdAfter: "2001-01-01T00:00:00Z"}`, "nodes { id } totalCount", "", "", 5},
		{"near the start", away{}, "first: 5, page: 2", "nodes { id } pageNumber", "", "", 5},
		{"far from it", away{}, "first: 5, page: 200", "nodes { id }", "UNAVAILABLE", gone, 0},
		{"the number of pages follows from the statistics", away{}, "first: 5, page: 2", "nodes { id } pageCount", "", "", 5},
		{"that of the last page too", away{}, "last: 5", "nodes { id } pageNumber", "", "", 5},
		{"that of a page by cursor does not", away{}, `first: 5, after: "` + end + `"`, "nodes { id } pageNumber", "UNAVAILABLE", gone, 5},
		{"of pages within dates", away{}, `first: 5, filter: {createdAfter: "2001-01-01T00:00:00Z"}`, "nodes { id } pageCount", "UNAVAILABLE", gone, 5},
		{"links", away{}, "first: 5", "nodes { id } pageCursors { next { page } }", "UNAVAILABLE", gone, 5},
		{"a count of a range is read", away{}, `first: 5, filter: {createdAfter: "2001-01-01T00:00:00Z"}`, "nodes { id } totalCount", "", "", 5},
		{"the first page is known", away{}, "first: 5", "nodes { id } pageNumber", "", "", 5},
		{"no size", away{}, "first: 0", "nodes { id } pageCount pageNumber pageCursors { next { page } }", "", "", 0},
		{"below 1", away{}, "first: 5, page: 0", "nodes { id }", "BAD_INPUT", "pages count from 1", 0},
		{"with a cursor", away{}, `after: "` + end + `", page: 2`, "nodes { id }", "BAD_INPUT", "a cursor alone", 0},
		{"backwards", away{}, "last: 5, page: 2", "nodes { id }", "BAD_INPUT", "not with last", 0},
		{"of no size", away{}, "first: 0, page: 2", "nodes { id }", "BAD_INPUT", "1 to 100 comments", 0},
		{"settled", away{}, "page: 2, settledOnly: true", "nodes { id }", "BAD_INPUT", "settledOnly", 0},
		{"settled in an order by rating", away{}, "order: LOWEST_RATED, settledOnly: true", "nodes { id }", "BAD_INPUT", "OLDEST_FIRST", 0},
		{"too many links", away{}, "first: 5", "nodes { id } pageCursors(around: 11) { next { page } }", "BAD_INPUT", "0 to 10", 5},
		{"before the start", away{}, `last: 5, before: "` + start + `"`, "nodes { id }", "BAD_CURSOR", "as after", 0},
	} {
		a.pages = row.pages
		a.useClient(a.session.Client)
		got := a.ask(fmt.Sprintf(`{ product(id: "kettle") { comments(%s) { %s } } }`, row.arguments, row.fields), nil)
		var data struct {
			Product struct {
				Comments *struct{ Nodes []struct{ ID string } }
			}
		}
		must.Do(t, json.Unmarshal(got.Data, &data))
		nodes := 0
		if page := data.Product.Comments; page != nil {
			nodes = len(page.Nodes)
		}
		code, says := "", ""
		if len(got.Errors) == 1 {
			code, says = fmt.Sprint(got.Errors[0].Extensions["code"]), got.Errors[0].Message
		}
		if nodes != row.nodes || code != row.code || !strings.Contains(says, row.says) || row.code == "" && len(got.Errors) > 0 {
			t.Errorf("%s (%T, %s): %d nodes, %v", row.why, row.pages, row.arguments, nodes, got.Errors)
		}
	}
}
