package dynamo

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

func languages(tags ...comment.Language) []comment.Language { return tags }

// planRows are queries, each with the reason for its plan. The plans are in testdata/plans.golden.
var planRows = []struct {
	why   string
	query comment.Query
}{
	{"no filter: the whole product is one partition", comment.Query{Slice: comment.Slice{Size: 20}}},
	{"one language: its partition holds nothing else", comment.Query{Filter: comment.Filter{Languages: languages("de")}, Slice: comment.Slice{Size: 20}}},
	{"several languages: a partition for each, any of which may hold the whole page", comment.Query{Filter: comment.Filter{Languages: languages("de", "en")}, Slice: comment.Slice{Size: 20}}},
	{"one rating in any language", comment.Query{Filter: comment.Filter{Ratings: []int{5}}, Slice: comment.Slice{Size: 20}}},
	{"duplicates in a filter are one partition", comment.Query{Filter: comment.Filter{Ratings: []int{4, 1, 4}}, Slice: comment.Slice{Size: 20}}},
	{"all five ratings are no filter", comment.Query{Filter: comment.Filter{Ratings: []int{5, 4, 3, 2, 1}}, Slice: comment.Slice{Size: 20}}},
	{"all five ratings of a language are that language", comment.Query{Filter: comment.Filter{Languages: languages("de"), Ratings: []int{5, 4, 3, 2, 1}}, Slice: comment.Slice{Size: 20}}},
	{"languages and ratings: a partition for each cell of the grid", comment.Query{Filter: comment.Filter{Languages: languages("de", "en"), Ratings: []int{1, 4}}, Slice: comment.Slice{Size: 20}}},
	{"many languages and ratings: fewer partitions by rating, which keep only those languages", comment.Query{Filter: comment.Filter{Languages: commenttest.ManyLanguages(17), Ratings: []int{1, 4}}, Slice: comment.Slice{Size: 20}}},
	{"very many languages: the whole product, which keeps only those", comment.Query{Filter: comment.Filter{Languages: commenttest.ManyLanguages(33)}, Slice: comment.Slice{Size: 20}}},
	{"oldest first reads upwards", comment.Query{Order: comment.OldestFirst, Slice: comment.Slice{Size: 20}}},
	{"the last page of a list is read from its end, and one more tells whether it has a previous one", comment.Query{Slice: comment.Slice{Size: 20, FromEnd: true}}},
	{"after a cursor: its own comment is read too, since it proves that a previous page exists", comment.Query{Slice: comment.Slice{Size: 20, After: commenttest.Moment(9)}}},
	{"before a cursor, backwards", comment.Query{Slice: comment.Slice{Size: 20, FromEnd: true, Before: commenttest.Moment(9)}}},
	{"between two cursors", comment.Query{Slice: comment.Slice{Size: 20, After: commenttest.Moment(9), Before: commenttest.Moment(3)}}},
	{"between two cursors, oldest first and backwards", comment.Query{Order: comment.OldestFirst, Slice: comment.Slice{Size: 20, FromEnd: true, After: commenttest.Moment(3), Before: commenttest.Moment(9)}}},
	{"a range of dates bounds the sort key at both ends", comment.Query{Filter: comment.Filter{CreatedAfter: commenttest.Midnight(2), CreatedBefore: commenttest.Midnight(9)}, Slice: comment.Slice{Size: 20}}},
	{"a cursor inside a range of dates is the narrower bound on its side", comment.Query{Filter: comment.Filter{CreatedAfter: commenttest.Midnight(2), CreatedBefore: commenttest.Midnight(9)}, Slice: comment.Slice{Size: 20, After: commenttest.Moment(5)}}},
	{"a range that ends before comments can exist is not read", comment.Query{Filter: comment.Filter{CreatedBefore: at1970()}, Slice: comment.Slice{Size: 20}}},
	{"a page of no comments still looks whether there are any", comment.Query{Slice: comment.Slice{Size: 0}}},
}

func at1970() *time.Time { return new(time.Unix(0, 0).UTC()) }

func planOf(t *testing.T, q comment.Query) planner.Plan {
	t.Helper()
	q.Product, q.Filter, q.Order = "42", must.Get(q.Filter.Normalize())(t), cmp.Or(q.Order, comment.NewestFirst)
	return plannerOf(q, planner.Knowledge{}).Take(planner.Request{Window: windowOf(q), Purpose: comment.ReadPage, Want: planner.StretchOf(q).Want(q.Slice.Size)})
}

func plannerOf(q comment.Query, known planner.Knowledge) *planner.Planner {
	return &planner.Planner{Product: q.Product, Filter: q.Filter, Known: known}
}

// trusted returns statistics that are a second old.
func trusted(stats comment.Stats) planner.Knowledge {
	return planner.Knowledge{Stats: stats, AsOf: *commenttest.Midnight(9), Age: time.Second, Trusted: true}
}

// countedRows are queries that count, or queries for a product whose statistics are known.
var countedRows = []struct {
	why      string
	filter   comment.Filter
	counting comment.Counting // CountNothing plans a page
	known    planner.Knowledge
}{
	{"what is known to be empty is not read", comment.Filter{Languages: languages("de", "en"), Ratings: []int{1, 4}}, comment.CountNothing,
		trusted(comment.Stats{"de": {Counts: comment.Counts{1, 0, 0, 0, 9}}, "en": {Counts: comment.Counts{0, 7, 0, 2, 0}}})},
	{"when all is empty, nothing is read", comment.Filter{Ratings: []int{2}}, comment.CountNothing, trusted(comment.Stats{"de": {Counts: comment.Counts{1, 0, 0, 0, 9}}})},
	{"a partition that holds others too is empty when nothing of what is wanted is in it", comment.Filter{Languages: commenttest.ManyLanguages(17), Ratings: []int{1, 4}}, comment.CountNothing,
		trusted(comment.Stats{"l03": {Counts: comment.Counts{2, 0, 0, 0, 0}}, "de": {Counts: comment.Counts{5, 5, 5, 5, 5}}})},
	{"counts that are not trusted leave nothing out", comment.Filter{Ratings: []int{2}}, comment.CountNothing, planner.Knowledge{AsOf: *commenttest.Midnight(1), Age: time.Hour}},
	{"the total of a range of dates", comment.Filter{CreatedAfter: commenttest.Midnight(2), CreatedBefore: commenttest.Midnight(9)}, comment.CountTotal, planner.Knowledge{}},
	{"a total under a filter: the narrowest cover, as for a page", comment.Filter{Languages: languages("de"), Ratings: []int{1, 4}, CreatedAfter: commenttest.Midnight(2)}, comment.CountTotal, planner.Knowledge{}},
	{"the counts by rating of a range of dates: a partition for each rating", comment.Filter{CreatedBefore: commenttest.Midnight(9)}, comment.CountByRating, planner.Knowledge{}},
	{"counts by rating in a language: a partition for each cell", comment.Filter{Languages: languages("de"), CreatedBefore: commenttest.Midnight(9)}, comment.CountByRating, planner.Knowledge{}},
	{"counts by rating in many languages: a partition for each rating, of which only those languages are counted", comment.Filter{Languages: commenttest.ManyLanguages(17), CreatedBefore: commenttest.Midnight(9)}, comment.CountByRating, planner.Knowledge{}},
	{"what is known to be empty is not counted either", comment.Filter{CreatedBefore: commenttest.Midnight(9)}, comment.CountByRating, trusted(comment.Stats{"de": {Counts: comment.Counts{1, 0, 0, 0, 9}}})},
	{"a range that ends before comments can exist is not counted", comment.Filter{CreatedBefore: at1970()}, comment.CountTotal, planner.Knowledge{}},
}

func TestPlans(t *testing.T) {
	var got bytes.Buffer
	add := func(why string, plan planner.Plan) {
		fmt.Fprintf(&got, "# %s\n%s\n", why, plan)
		for i, read := range plan.Reads {
			if i == 4 {
				fmt.Fprintf(&got, "... and %d calls more\n", len(plan.Reads)-i)
				break
			}
			fmt.Fprintf(&got, "%s\n", inputText(t, queryInput("comments", &plan, &read, read.Limit, nil)))
		}
		got.WriteString("\n")
	}
	for _, row := range planRows {
		add(row.why, planOf(t, row.query))
	}
	for _, row := range countedRows {
		q := comment.Query{Product: "42", Filter: row.filter, Order: comment.NewestFirst}
		plan := plannerOf(q, row.known).Take(planner.Request{Window: windowOf(q), Purpose: comment.ReadPage, Want: planner.StretchOf(q).Want(comment.DefaultPageSize)})
		if row.counting != comment.CountNothing {
			plan = plannerOf(q, row.known).Count(row.counting)
		}
		add(row.why, plan)
	}
	goldentest.Compare(t, "testdata/plans.golden", got.Bytes())
}

// inputText returns the input of an SDK call as JSON, without unset fields.
func inputText(t *testing.T, input any) string {
	t.Helper()
	raw := must.Get(json.Marshal(input))(t)
	var fields map[string]any
	must.Do(t, json.Unmarshal(raw, &fields))
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil || value == "" })
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must.Do(t, encoder.Encode(fields))
	return strings.TrimSpace(out.String())
}
