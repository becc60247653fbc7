package dynamo

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

var update = flag.Bool("update", false, "write what is, instead of comparing with what should be")

func languages(tags ...comment.Language) []comment.Language { return tags }

// moment is the position of a comment of a day in May 2024.
func moment(day int) *comment.Position {
	p := comment.PositionAt(time.Date(2024, 5, day, 12, 0, 0, 0, time.UTC), [10]byte{9: byte(day)})
	return &p
}

func midnight(day int) *time.Time {
	t := time.Date(2024, 5, day, 0, 0, 0, 0, time.UTC)
	return &t
}

// planRows are questions and why each is planned as it is. What is planned stands in testdata/plans.golden.
var planRows = []struct {
	why   string
	query comment.Query
}{
	{"no filter: the whole product is one partition",
		comment.Query{Slice: comment.Slice{Size: 20}}},
	{"one language: its partition holds nothing else",
		comment.Query{Filter: comment.Filter{Languages: languages("de")}, Slice: comment.Slice{Size: 20}}},
	{"several languages: a partition for each, any of which may hold the whole page",
		comment.Query{Filter: comment.Filter{Languages: languages("de", "en")}, Slice: comment.Slice{Size: 20}}},
	{"one rating in any language",
		comment.Query{Filter: comment.Filter{Ratings: []int{5}}, Slice: comment.Slice{Size: 20}}},
	{"duplicates in a filter are one partition",
		comment.Query{Filter: comment.Filter{Ratings: []int{4, 1, 4}}, Slice: comment.Slice{Size: 20}}},
	{"all five ratings are no filter",
		comment.Query{Filter: comment.Filter{Ratings: []int{5, 4, 3, 2, 1}}, Slice: comment.Slice{Size: 20}}},
	{"all five ratings of a language are that language",
		comment.Query{Filter: comment.Filter{Languages: languages("de"), Ratings: []int{5, 4, 3, 2, 1}}, Slice: comment.Slice{Size: 20}}},
	{"languages and ratings: a partition for each cell of the grid",
		comment.Query{Filter: comment.Filter{Languages: languages("de", "en"), Ratings: []int{1, 4}}, Slice: comment.Slice{Size: 20}}},
	{"many languages and ratings: fewer partitions by rating, which keep only those languages",
		comment.Query{Filter: comment.Filter{Languages: manyLanguages(17), Ratings: []int{1, 4}}, Slice: comment.Slice{Size: 20}}},
	{"very many languages: the whole product, which keeps only those",
		comment.Query{Filter: comment.Filter{Languages: manyLanguages(33)}, Slice: comment.Slice{Size: 20}}},
	{"oldest first reads upwards",
		comment.Query{Order: comment.OldestFirst, Slice: comment.Slice{Size: 20}}},
	{"the last page of a list is read from its end, and one more tells whether it has a previous one",
		comment.Query{Slice: comment.Slice{Size: 20, FromEnd: true}}},
	{"after a cursor: its own comment is read too, since it proves that there is a previous page",
		comment.Query{Slice: comment.Slice{Size: 20, After: moment(9)}}},
	{"before a cursor, backwards",
		comment.Query{Slice: comment.Slice{Size: 20, FromEnd: true, Before: moment(9)}}},
	{"between two cursors",
		comment.Query{Slice: comment.Slice{Size: 20, After: moment(9), Before: moment(3)}}},
	{"between two cursors, oldest first and backwards",
		comment.Query{Order: comment.OldestFirst, Slice: comment.Slice{Size: 20, FromEnd: true, After: moment(3), Before: moment(9)}}},
	{"a range of dates bounds the sort key at both ends",
		comment.Query{Filter: comment.Filter{CreatedAfter: midnight(2), CreatedBefore: midnight(9)}, Slice: comment.Slice{Size: 20}}},
	{"a cursor inside a range of dates is the narrower bound on its side",
		comment.Query{Filter: comment.Filter{CreatedAfter: midnight(2), CreatedBefore: midnight(9)}, Slice: comment.Slice{Size: 20, After: moment(5)}}},
	{"a range that ends before comments can exist is not read",
		comment.Query{Filter: comment.Filter{CreatedBefore: at1970()}, Slice: comment.Slice{Size: 20}}},
	{"a page of no comments still looks whether there are any",
		comment.Query{Slice: comment.Slice{Size: 0}}},
}

func manyLanguages(n int) []comment.Language {
	var out []comment.Language
	for i := range n {
		out = append(out, comment.Language(fmt.Sprintf("l%02d", i)))
	}
	return out
}

func at1970() *time.Time { t := time.Unix(0, 0).UTC(); return &t }

func planOf(t *testing.T, q comment.Query) Plan {
	t.Helper()
	filter, err := q.Filter.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	q.Product, q.Filter = "42", filter
	if q.Order == "" {
		q.Order = comment.NewestFirst
	}
	w := windowOf(q)
	return plannerOf(q, Known{}).take(w, comment.ReadPage, w.want(q.Slice.Size))
}

func plannerOf(q comment.Query, known Known) planner {
	return planner{product: q.Product, filter: q.Filter, known: known}
}

// trusted are counts of a second ago.
func trusted(stats comment.Stats) Known {
	return Known{Stats: stats, AsOf: *midnight(9), Age: time.Second, Trusted: true}
}

// countedRows are questions that count, or whose product's counts are known.
var countedRows = []struct {
	why      string
	filter   comment.Filter
	counting comment.Counting // nothing plans a page
	known    Known
}{
	{"what is known to be empty is not read", comment.Filter{Languages: languages("de", "en"), Ratings: []int{1, 4}}, comment.CountNothing,
		trusted(comment.Stats{"de": {1, 0, 0, 0, 9}, "en": {0, 7, 0, 2, 0}})},
	{"when all is empty, nothing is read", comment.Filter{Ratings: []int{2}}, comment.CountNothing, trusted(comment.Stats{"de": {1, 0, 0, 0, 9}})},
	{"a partition that holds others too is empty when nothing of what is wanted is in it", comment.Filter{Languages: manyLanguages(17), Ratings: []int{1, 4}}, comment.CountNothing,
		trusted(comment.Stats{"l03": {2, 0, 0, 0, 0}, "de": {5, 5, 5, 5, 5}})},
	{"counts that are not trusted leave nothing out", comment.Filter{Ratings: []int{2}}, comment.CountNothing, Known{AsOf: *midnight(1), Age: time.Hour}},
	{"the total of a range of dates", comment.Filter{CreatedAfter: midnight(2), CreatedBefore: midnight(9)}, comment.CountTotal, Known{}},
	{"a total under a filter: the narrowest cover, as for a page", comment.Filter{Languages: languages("de"), Ratings: []int{1, 4}, CreatedAfter: midnight(2)}, comment.CountTotal, Known{}},
	{"the counts by rating of a range of dates: a partition for each rating", comment.Filter{CreatedBefore: midnight(9)}, comment.CountByRating, Known{}},
	{"counts by rating in a language: a partition for each cell", comment.Filter{Languages: languages("de"), CreatedBefore: midnight(9)}, comment.CountByRating, Known{}},
	{"counts by rating in many languages: a partition for each rating, of which only those languages are counted", comment.Filter{Languages: manyLanguages(17), CreatedBefore: midnight(9)}, comment.CountByRating, Known{}},
	{"what is known to be empty is not counted either", comment.Filter{CreatedBefore: midnight(9)}, comment.CountByRating, trusted(comment.Stats{"de": {1, 0, 0, 0, 9}})},
	{"a range that ends before comments can exist is not counted", comment.Filter{CreatedBefore: at1970()}, comment.CountTotal, Known{}},
}

func TestPlans(t *testing.T) {
	var got bytes.Buffer
	add := func(why string, plan Plan) {
		fmt.Fprintf(&got, "# %s\n%s\n", why, plan)
		for i, read := range plan.Reads {
			if i == 4 {
				fmt.Fprintf(&got, "... and %d calls more\n", len(plan.Reads)-i)
				break
			}
			fmt.Fprintf(&got, "%s\n", inputText(t, queryInput("comments", plan, read, read.Limit, nil)))
		}
		got.WriteString("\n")
	}
	for _, row := range planRows {
		add(row.why, planOf(t, row.query))
	}
	for _, row := range countedRows {
		q := comment.Query{Product: "42", Filter: row.filter, Order: comment.NewestFirst}
		w := windowOf(q)
		plan := plannerOf(q, row.known).take(w, comment.ReadPage, w.want(comment.DefaultPageSize))
		if row.counting != comment.CountNothing {
			plan = plannerOf(q, row.known).count(row.counting)
		}
		add(row.why, plan)
	}
	compareGolden(t, "plans.golden", got.Bytes())
}

// inputText is a call of the SDK as JSON, without what is not set.
func inputText(t *testing.T, input any) string {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	for name, value := range fields {
		if value == nil || value == "" {
			delete(fields, name)
		}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(fields); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what it was; if that is right, run the test with -update\n%s", path, diff)
	}
}

func anyFilter(t *rapid.T) comment.Filter {
	filter, err := comment.Filter{
		Languages: rapid.SliceOfN(rapid.SampledFrom(manyLanguages(40)), 0, 40).Draw(t, "languages"),
		Ratings:   rapid.SliceOfN(rapid.IntRange(1, 5), 0, 7).Draw(t, "ratings"),
	}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// anyStats are random counts, perhaps none, of some of the languages. Some are what they cannot be: someone may have
// changed an item by hand.
func anyStats(t *rapid.T) comment.Stats {
	if rapid.Bool().Draw(t, "unknown") {
		return nil
	}
	stats := comment.Stats{}
	for _, language := range rapid.SliceOfN(rapid.SampledFrom(manyLanguages(42)), 0, 42).Draw(t, "counted") {
		var counts comment.Counts
		for i := range counts {
			counts[i] = rapid.SampledFrom([]int{-400, -1, 0, 0, 1, 3, 20, 500, 1e6}).Draw(t, "count")
		}
		stats[language] = counts
	}
	return stats
}

// Every cover of a filter, whatever is believed of the product, holds every cell of the language x rating grid that the
// filter allows exactly once after its residual filter, none that it does not, and no partition for nothing.
func TestCoversHoldWhatIsChosen(t *testing.T) {
	grid := manyLanguages(42) // two that no filter names
	rapid.Check(t, func(t *rapid.T) {
		filter := anyFilter(t)
		p := planner{filter: filter, known: Known{Stats: anyStats(t), Trusted: rapid.Bool().Draw(t, "trusted")}}
		candidates := p.census().candidates(filter, rapid.IntRange(1, 102).Draw(t, "want"))
		if len(candidates[0].Cover) > maxReads {
			t.Fatalf("%d reads at once", len(candidates[0].Cover))
		}
		for _, candidate := range candidates {
			checkCover(t, grid, filter, candidate.Cover)
		}
	})
}

// Whatever is believed, each read looks at something: a limit of 0 would count, and find no comments.
func TestEveryReadLooksAtSomething(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := planner{filter: anyFilter(t), known: Known{Stats: anyStats(t), Trusted: rapid.Bool().Draw(t, "trusted")}}
		p.known.Sizes.Any.Mean = rapid.SampledFrom([]float64{0, 1e-9, 100, 5000, 1e9}).Draw(t, "bytes")
		want := rapid.IntRange(1, 102).Draw(t, "want")
		for _, read := range p.take(windowOf(comment.Query{Filter: p.filter}), comment.ReadPage, want).Reads {
			if read.Limit < 1 || read.Limit > maxLimit {
				t.Fatalf("%v is read with limit %d", read.Partition, read.Limit)
			}
		}
	})
}

func checkCover(t *rapid.T, grid []comment.Language, filter comment.Filter, cover Cover) {
	kept := make([]int, len(cover))
	for _, language := range grid {
		for rating := 1; rating <= comment.MaxRating; rating++ {
			c := comment.Comment{ID: comment.IDOf(comment.Position{}), Language: language, Rating: rating}
			times := 0
			for i, part := range cover {
				if partitionOf(part.Index, c) == part.Partition && part.wanted().Allows(c) {
					times++
					kept[i]++
				}
			}
			if want := map[bool]int{true: 1}[filter.Allows(c)]; times != want {
				t.Fatalf("%v of filter %v shows %s with %d stars %d times, want %d", cover, filter, language, rating, times, want)
			}
		}
	}
	for i, part := range cover {
		if kept[i] == 0 {
			t.Fatalf("%v of filter %v reads %v for nothing", cover, filter, part)
		}
	}
}

// However a filter is written, it is planned alike.
func TestPlanDoesNotDependOnHowTheFilterIsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		filter := anyFilter(rt)
		otherwise := comment.Filter{
			Languages: append(rapid.Permutation(filter.Languages).Draw(rt, "languages again"), filter.Languages...),
			Ratings:   append(rapid.Permutation(filter.Ratings).Draw(rt, "ratings again"), filter.Ratings...),
		}
		q := comment.Query{Filter: filter, Slice: comment.Slice{Size: 20}}
		again := comment.Query{Filter: otherwise, Slice: comment.Slice{Size: 20}}
		if diff := cmp.Diff(planOf(t, q), planOf(t, again)); diff != "" {
			rt.Fatalf("%v and %v are planned differently: %s", filter, otherwise, diff)
		}
	})
}

func TestNextLimit(t *testing.T) {
	for _, row := range []struct {
		why                              string
		last, looked, kept, missing, out int
	}{
		{"all was kept: just what is missing", 22, 22, 22, 5, 5},
		{"one in ten was kept: ten times what is missing", 80, 80, 8, 5, 50},
		{"rounded up, or one more call would follow", 80, 80, 9, 5, 45},
		{"nothing was kept: twice as many", 80, 80, 0, 5, 160},
		{"never more than a call should look at", 900, 900, 0, 5, maxLimit},
		{"never none", 1, 0, 0, 0, 2},
	} {
		if got := nextLimit(row.last, row.looked, row.kept, row.missing); got != row.out {
			t.Errorf("%s: %d, want %d", row.why, got, row.out)
		}
	}
}
