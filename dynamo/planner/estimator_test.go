package planner

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// skewed returns counts that are typical of shops: most comments praise, most are in one language.
func skewed() comment.Stats {
	return comment.Stats{"en": {Counts: comment.Counts{1200, 300, 800, 2000, 15700}}, "de": {Counts: comment.Counts{250, 60, 160, 400, 3130}}, "is": {Counts: comment.Counts{3, 0, 1, 2, 4}}}
}

func TestWhatIsChosen(t *testing.T) {
	sized := func(stats comment.Stats, bytes float64) Knowledge {
		return Knowledge{Stats: stats, Sizes: Sizes{Any: ItemSize{Mean: bytes, Deviation: bytes / 2}}}
	}
	for _, row := range []struct {
		why    string
		filter comment.Filter
		known  Knowledge
		want   int
		chosen string
	}{
		{"nine in ten comments are wanted: one read of all is cheaper than four",
			comment.Filter{Ratings: []int{1, 3, 4, 5}}, sized(skewed(), 500), 21, "whole product"},
		{"few comments are wanted: hundreds of others would be looked at",
			comment.Filter{Ratings: []int{1, 2}}, sized(skewed(), 500), 21, "ratings"},
		{"tiny comments: whatever is read fits into half a unit, so one read is cheapest",
			comment.Filter{Ratings: []int{4, 5}}, sized(skewed(), 60), 21, "whole product"},
		{"a language with a handful of comments: all of it is one read, its cells are two",
			comment.Filter{Languages: languages("is"), Ratings: []int{1, 4}}, sized(skewed(), 200), 21, "languages"},
		{"a rare rating of a large language: its cell alone",
			comment.Filter{Languages: languages("en"), Ratings: []int{2}}, sized(skewed(), 500), 21, "cells"},
		{"a rare rating of both large languages: across the languages, of which hardly any is left out",
			comment.Filter{Languages: languages("de", "en"), Ratings: []int{2}}, sized(skewed(), 500), 21, "ratings"},
		{"nothing is known: most products are small, and one read finds all of them",
			comment.Filter{Ratings: []int{1, 3, 4, 5}}, Knowledge{}, 21, "whole product"},
		{"counts that know of no such comment are as good as none",
			comment.Filter{Languages: languages("fr"), Ratings: []int{1}}, sized(skewed(), 500), 21, "cells"},
	} {
		filter := must.Get(row.filter.Normalize())(t)
		candidates, _ := newEstimator(row.known, filter, Request{Want: row.want}).choose()
		if candidates[0].Name != row.chosen {
			t.Errorf("%s: chosen was %q of %v", row.why, candidates[0].Name, candidates)
		}
	}
}

// Probabilities from the table equal those of the function that it was made from.
func TestAbove(t *testing.T) {
	for x := -7.0; x < 7; x += 0.013 {
		want := math.Erfc((x-1)/2/math.Sqrt2) / 2
		if got := above(x, 1, 2); math.Abs(got-want) > 0.0005 {
			t.Errorf("above %v is %v, want %v", x, got, want)
		}
	}
	if above(1, 2, 0) != 1 || above(2, 1, 0) != 0 {
		t.Error("a certain case has another probability than 0 or 1")
	}
}

// Of one scanned item, none matches with the probability of the others' share.
func TestBelow(t *testing.T) {
	for _, row := range []struct {
		wanted, scanned int
		want            float64
	}{{1, 0, 1}, {1, 1, .75}, {2, 2, 1 - .25*(.25*4+1)/5}, {0, 1, 0}} {
		if got := newBetaBinomial(.25, 4).below(row.wanted, row.scanned); math.Abs(got-row.want) > 1e-9 {
			t.Errorf("fewer than %d of %d match with probability %v, want %v", row.wanted, row.scanned, got, row.want)
		}
	}
}

// The expected cost of a read equals the average cost of reads of random items.
func TestExpectedUnits(t *testing.T) {
	r := commenttest.Rand(t)
	for _, items := range []int{1, 8, 20, 24, 100, 700} {
		size, sum := ItemSize{Mean: 500, Deviation: 250}, 0.0
		const trials = 2000
		for range trials {
			bytes := 0.0
			for range items {
				bytes += max(100, size.Mean+size.Deviation*r.NormFloat64())
			}
			sum += math.Ceil(bytes/layout.UnitBytes) / 2
		}
		if got, want := size.expected(items), sum/trials; math.Abs(got-want) > 0.1+want/20 {
			t.Errorf("%d items: %.2f units, on average they were %.2f", items, got, want)
		}
	}
}

// BenchmarkPlan plans pages of a product with many languages: from its counts, from these and the
// page as it was last read, and from typical products.
func BenchmarkPlan(b *testing.B) {
	stats := comment.Stats{}
	for i, language := range commenttest.ManyLanguages(12) {
		stats[language] = comment.Row{Counts: comment.Counts{100 * i, 40, 70, 300, 1500}}
	}
	for _, row := range []struct{ languages, ratings int }{{0, 1}, {0, 2}, {0, 4}, {1, 2}, {2, 4}, {10, 4}, {40, 4}} {
		b.Run(fmt.Sprintf("languages=%d/ratings=%d", row.languages, row.ratings), func(b *testing.B) {
			filter := must.Get(comment.Filter{Languages: commenttest.ManyLanguages(row.languages), Ratings: []int{1, 2, 3, 4}[:row.ratings]}.Normalize())(b)
			p := Planner{Product: "p", Filter: filter, Known: Knowledge{Stats: stats, Sizes: Sizes{Any: unknownSize}}}
			w := windowOf(comment.Query{Filter: filter, Order: comment.NewestFirst})
			trusted := p.Known
			trusted.Trusted = true
			for _, plan := range []struct {
				name  string
				known Knowledge
				last  *LastPage
			}{{"counted", p.Known, nil}, {"again", trusted, pageOf(filter)}, {"likely", Knowledge{}, nil}} {
				p.Known = plan.known
				b.Run(plan.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						p.Take(Request{Window: w, Purpose: comment.ReadPage, Want: 21, Last: plan.last})
					}
				})
			}
		})
	}
}

// pageOf returns a page of 21 comments that a filter allows, as if it was read from each wider
// partition.
func pageOf(filter comment.Filter) *LastPage {
	taken := make([]layout.Compressed, 21)
	for i := range taken {
		taken[i].Language, taken[i].Rating = "en", filter.Ratings[i%len(filter.Ratings)]
		if len(filter.Languages) > 0 {
			taken[i].Language = filter.Languages[i%len(filter.Languages)]
		}
	}
	page := NewLastPage(taken, true)
	for i, candidate := range covers(filter) {
		for _, part := range candidate.Cover {
			page.NoteScan(part, 40+10*i, 21)
		}
	}
	return page
}

// The estimate of one cover does not depend on the covers that were estimated before.
func TestCoversAreEstimatedApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		filter := comment.Filter{
			Languages: rapid.SampledFrom([][]comment.Language{{"en"}, {"de", "is"}, {"de", "en", "is"}}).Draw(t, "languages"),
			Ratings:   rapid.SampledFrom([][]int{{4}, {1, 4}, {1, 2, 3}, {1, 3, 4, 5}}).Draw(t, "ratings"),
		}
		known := Knowledge{Stats: comment.Stats{}, Trusted: rapid.Bool().Draw(t, "trusted")}
		for _, language := range filter.Languages { // few numbers, so that parts have the same shares
			known.Stats[language] = comment.Row{Counts: rapid.SampledFrom([]comment.Counts{{50, 0, 0, 50, 900}, {50, 0, 50, 0, 50}, {300, 300, 0, 0, 300}}).Draw(t, "counts")}
		}
		r := Request{Want: rapid.IntRange(1, 60).Draw(t, "want")}
		if rapid.Bool().Draw(t, "read before") {
			r.Last = pageOf(filter)
		}
		candidates, _ := newEstimator(known, filter, r).choose()
		for _, candidate := range candidates {
			units, price := newEstimator(known, filter, r).estimate(candidate.Cover)
			if units != candidate.Units || price != candidate.Price {
				t.Errorf("%s %v: %v units at a price of %v, alone %v at %v", candidate.Name, candidate.Cover, candidate.Units, candidate.Price, units, price)
			}
		}
	})
}

// Units are read units only. Price adds the assumed cost of a further call and of an expected
// further wave.
func TestUnitsAndPrice(t *testing.T) {
	for _, row := range []struct {
		why          string
		stats        comment.Stats
		units, price float64
	}{
		{"all of each partition fits into half a unit: further calls cost a tenth each",
			comment.Stats{"en": {Counts: comment.Counts{2, 2, 2, 2, 2}}}, 2.0, 2.3},
		{"13 items fit into half a unit, 10 of deviation 2.74 are needed: a further wave has a probability of 0.18 for each read",
			comment.Stats{"en": {Counts: comment.Counts{2000, 2000, 2000, 2000, 2000}}}, 2.0, 2.3 + 4*0.18*wavePrice},
	} {
		known := Knowledge{Stats: row.stats, Sizes: Sizes{Any: ItemSize{Mean: 300, Deviation: 1}}}
		filter := comment.Filter{Ratings: []int{1, 2, 3, 4}}
		units, price := newEstimator(known, filter, Request{Want: 40}).estimate(covers(filter)[0].Cover)
		if math.Abs(units-row.units) > 0.01 || math.Abs(price-row.price) > 0.02 {
			t.Errorf("%s: %.2f units at a price of %.2f, want %.2f at %.2f", row.why, units, price, row.units, row.price)
		}
	}
}

func TestPageEstimate(t *testing.T) {
	languages := commenttest.ManyLanguages
	for _, row := range []struct {
		why    string
		size   int
		filter comment.Filter
		want   float64
	}{
		{"one comment and the one beyond it: half a unit", 1, comment.Filter{}, 0.5},
		{"four comments of 1 KB fill half a unit", 3, comment.Filter{}, 0.5},
		{"a fifth begins another", 4, comment.Filter{}, 1},
		{"101 comments", 100, comment.Filter{}, 13},
		{"each partition may hold the whole page", 100, comment.Filter{Ratings: []int{1, 2, 3}}, 3 * 13},
		{"four are read a few comments at a time, and some of them again", 100, comment.Filter{Languages: languages(2), Ratings: []int{1, 2}}, 4*0.5 + 3*13},
		{"32 partitions of their own", 1, comment.Filter{Languages: languages(32)}, 16},
		{"33 are read a few comments at a time, and some of them again", 1, comment.Filter{Languages: languages(33)}, 33*0.5 + 3*0.5},
	} {
		got := PageEstimate(comment.Query{Filter: row.filter, Slice: comment.Slice{Size: row.size}})
		if got != row.want {
			t.Errorf("%s: %v units, want %v", row.why, got, row.want)
		}
	}
}

func TestCountEstimate(t *testing.T) {
	for _, row := range []struct {
		why      string
		filter   comment.Filter
		counting comment.Counting
		want     float64
	}{
		{"400 comments of 1 KB, half a unit for each four", comment.Filter{}, comment.CountTotal, 50},
		{"in five partitions, 80 in each", comment.Filter{}, comment.CountByRating, 50},
		{"in three partitions, 133 in each", comment.Filter{Ratings: []int{1, 2, 3}}, comment.CountTotal, 3 * 17},
		{"in 33 languages, all of the product", comment.Filter{Languages: commenttest.ManyLanguages(33)}, comment.CountTotal, 50},
	} {
		got := CountEstimate(comment.Query{Filter: row.filter, Count: row.counting})
		if got != row.want {
			t.Errorf("%s: %v units, want %v", row.why, got, row.want)
		}
	}
}
