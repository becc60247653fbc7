package planner

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

func languages(tags ...comment.Language) []comment.Language { return tags }

// windowOf returns the window of the first link that a query touches. In an order by date, that is
// the only link.
func windowOf(q comment.Query) Window {
	s := StretchOf(q)
	return s.Window(s.Links[0])
}

func planOf(t *testing.T, q comment.Query) Plan {
	t.Helper()
	q.Filter, q.Order = must.Get(q.Filter.Normalize())(t), comment.NewestFirst
	p := Planner{Product: "42", Filter: q.Filter}
	return p.Take(Request{Window: windowOf(q), Purpose: comment.ReadPage, Want: StretchOf(q).Want(q.Slice.Size)})
}

func anyFilter(t *rapid.T) comment.Filter {
	filter, err := comment.Filter{
		Languages: rapid.SliceOfN(rapid.SampledFrom(commenttest.ManyLanguages(40)), 0, 40).Draw(t, "languages"),
		Ratings:   rapid.SliceOfN(rapid.IntRange(1, 5), 0, 7).Draw(t, "ratings"),
	}.Normalize()
	must.Do(t, err)
	return filter
}

// Whatever the statistics, each cover of a filter holds exactly once, after its residual filter,
// every cell of the language x rating grid that the filter allows. It holds no other cell, and has
// no useless partition.
func TestCoversHoldWhatIsChosen(t *testing.T) {
	grid := commenttest.ManyLanguages(42) // two that are in no filter
	rapid.Check(t, func(t *rapid.T) {
		filter := anyFilter(t)
		known := Knowledge{Stats: commenttest.AnyStats(t), Trusted: rapid.Bool().Draw(t, "trusted")}
		candidates, _ := newEstimator(known, filter, Request{Want: rapid.IntRange(1, 102).Draw(t, "want")}).choose()
		if len(candidates[0].Cover) > maxReads {
			t.Fatalf("%d reads at once", len(candidates[0].Cover))
		}
		for _, candidate := range candidates {
			checkCover(t, grid, filter, candidate.Cover)
			if candidate.Units < 0 || candidate.Price < candidate.Units {
				t.Fatalf("%s: %v units at a price of %v", candidate.Name, candidate.Units, candidate.Price)
			}
		}
	})
}

// Whatever the statistics, each read scans at least one item: a limit of 0 would mean a count,
// which finds no comments.
func TestEveryReadLooksAtSomething(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Planner{Filter: anyFilter(t), Known: Knowledge{Stats: commenttest.AnyStats(t), Trusted: rapid.Bool().Draw(t, "trusted")}}
		p.Known.Sizes.Any.Mean = rapid.SampledFrom([]float64{0, 1e-9, 100, 5000, 1e9}).Draw(t, "bytes")
		want := rapid.IntRange(1, 102).Draw(t, "want")
		for _, read := range p.Take(Request{Window: windowOf(comment.Query{Filter: p.Filter}), Purpose: comment.ReadPage, Want: want}).Reads {
			if read.Limit < 1 || read.Limit > MaxLimit {
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
				if layout.PartitionOf(part.Index, c) == part.Partition && part.wanted(filter).Allows(c) {
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

// Different ways to write a filter give the same plan.
func TestPlanDoesNotDependOnHowTheFilterIsWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		filter := anyFilter(rt)
		otherwise := comment.Filter{
			Languages: append(rapid.Permutation(filter.Languages).Draw(rt, "languages again"), filter.Languages...),
			Ratings:   append(rapid.Permutation(filter.Ratings).Draw(rt, "ratings again"), filter.Ratings...),
		}
		q := comment.Query{Filter: filter, Slice: comment.Slice{Size: 20}}
		again := comment.Query{Filter: otherwise, Slice: comment.Slice{Size: 20}}
		one, other := planOf(t, q), planOf(t, again)
		if diff := cmp.Diff(one, other, cmpopts.IgnoreUnexported(Plan{})) + cmp.Diff(one.Candidates(), other.Candidates()); diff != "" {
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
		{"never more than a call should look at", 900, 900, 0, 5, MaxLimit},
		{"never none, which would be no limit", 22, 22, 22, 0, 1},
	} {
		if got := (Plan{}).NextLimit(Read{}, row.last, row.looked, row.kept, row.missing); got != row.out {
			t.Errorf("%s: %d, want %d", row.why, got, row.out)
		}
	}
}

// A plan's bounds are in its stretch, and so is the last comment that was read.
func TestBoundsAreWithin(t *testing.T) {
	at := func(n byte) comment.Place { return comment.Place{Position: comment.Position{15: n}} }
	for _, descending := range []bool{false, true} {
		p := Plan{Low: at(3), High: at(7), Descending: descending}
		for n := byte(1); n <= 9; n++ {
			inside := n >= 3 && n <= 7
			if p.Spans(at(n).Position) != inside || p.Within(at(n), nil) != inside {
				t.Errorf("%d of 3 to 7: spans %v, within %v", n, p.Spans(at(n).Position), p.Within(at(n), nil))
			}
			if last := at(5); p.Within(at(n), &last) != (inside && (descending && n >= 5 || !descending && n <= 5)) {
				t.Errorf("%d of 3 to 7, read up to 5, descending %v", n, descending)
			}
		}
	}
	for _, low := range []comment.Place{{}, {Key: 1}, {Key: 2}, at(1)} {
		if p := (Plan{Low: low, ByVotes: low.Key > 0}); (p.LowKey() == nil) != (low.Key <= 1 && low.Position == comment.Position{}) {
			t.Errorf("the lower bound of %v is %v", low, p.LowKey())
		}
	}
}

// Without known sizes nothing is said about what fits into a read unit. Steps double at most.
func TestNextLimitOfAPlan(t *testing.T) {
	residual := Read{Part: Part{Conditions: comment.Filter{Ratings: []int{1}}.Conditions()}}
	sized := func(deviation float64) Plan {
		return Plan{Known: Knowledge{Sizes: Sizes{Any: ItemSize{Mean: 100, Deviation: deviation}}}}
	}
	for _, row := range []struct {
		why     string
		plan    Plan
		read    Read
		missing int
		want    int
	}{
		{"ten times what is missing", Plan{}, residual, 5, 50},
		{"as many as fit into the unit that is paid", sized(0), residual, 5, 81},
		{"none fits for sure", sized(1000), residual, 5, 50},
		{"more than the highest limit would fit", sized(0), residual, 100, MaxLimit},
		{"more could only be too many", sized(0), Read{}, 5, 50},
		{"in steps", Plan{InSteps: true}, residual, 5, 16},
	} {
		if got := row.plan.NextLimit(row.read, 8, 80, 8, row.missing); got != row.want {
			t.Errorf("%s: %d, want %d", row.why, got, row.want)
		}
	}
	if !Few(1, 5) || Few(1, 4) || Few(0, 0) {
		t.Error("few are less than one in four")
	}
}
