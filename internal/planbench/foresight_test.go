package planbench

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// tiny returns a product of a few comments in up to three languages, some of which lack ratings.
func tiny(t *rapid.T) *Product {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	var comments []comment.Comment
	for _, c := range Generate(rapid.IntRange(1, 60).Draw(t, "comments"), r.Uint64()) {
		c.Rating = 1 + r.IntN(1+r.IntN(5))
		c.Language = []comment.Language{"de", "en", "fr"}[r.IntN(1+r.IntN(3))]
		c.Text = words(r, 1+r.IntN(6000))
		comments = append(comments, c)
	}
	return must.Get(NewProduct(comments))(t)
}

// Foresight equals the minimum over every assignment of cells to partitions, and no plan costs
// less, whatever its statistics.
func TestForesightIsTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := tiny(t)
		visits := slices.DeleteFunc(p.visits(rapid.IntRange(1, 8).Draw(t, "size")), func(v visit) bool {
			return len(p.cellsOf(v.query.Filter)) >= manyCells
		})
		v := rapid.SampledFrom(visits).Draw(t, "page")
		least := p.foresee(v)
		if want := p.tryAll(v, p.cellsOf(v.query.Filter), map[layout.Partition][]comment.Filter{}); least != want {
			t.Fatalf("foresight says %v, and the cheapest of all covers costs %v", least, want)
		}
		known := planner.Knowledge{Stats: anyBelief(t, p), Sizes: planner.Sizes{Any: planner.ItemSize{Mean: rapid.Float64Range(0, 9000).Draw(t, "mean"), Deviation: 100}}}
		if _, cost, err := ask(t.Context(), p.table.Store(knowing(known)), v.query); err != nil || cost.Units < least {
			t.Fatalf("%v, a plan costs %v, and foresight %v", err, cost.Units, least)
		}
		must.Get(p.measure(t.Context(), v, everyWay...))(t)
	})
}

// anyBelief draws counts that may be wrong.
func anyBelief(t *rapid.T, p *Product) comment.Stats {
	stats := p.stats.Clone()
	for language, counts := range stats {
		for i := range counts.Counts {
			counts.Counts[i] *= rapid.SampledFrom([]int{0, 1, 1, 10}).Draw(t, "times")
		}
		stats[language] = counts
	}
	return stats
}

// manyCells is the number of cells from which trying every assignment takes too long.
const manyCells = 6

// cellsOf returns the cells of a filter that have comments. Their language is empty if the filter
// names none.
func (p *Product) cellsOf(filter comment.Filter) []comment.Filter {
	var cells []comment.Filter
	for _, rating := range ratingsOf(filter) {
		for _, language := range orAny(filter.Languages) {
			cell := comment.Filter{Ratings: []int{rating}}
			if language != "" {
				cell.Languages = []comment.Language{language}
			}
			if p.stats.Counts(cell).Total() > 0 {
				cells = append(cells, cell)
			}
		}
	}
	return cells
}

// tryAll prices every assignment of cells to partitions. Each partition is read as far as its cells
// need.
func (p *Product) tryAll(v visit, cells []comment.Filter, assigned map[layout.Partition][]comment.Filter) float64 {
	if len(cells) == 0 {
		total := 0.0
		for partition, kept := range assigned {
			if len(kept) > 0 {
				total += p.walk(v, partition, kept)
			}
		}
		return total
	}
	cell, best := cells[0], math.Inf(1)
	for _, partition := range partitionsWith(cell) {
		before := assigned[partition]
		assigned[partition] = append(before[:len(before):len(before)], cell)
		best = min(best, p.tryAll(v, cells[1:], assigned))
		assigned[partition] = before
	}
	return best
}

func partitionsWith(cell comment.Filter) []layout.Partition {
	out := []layout.Partition{{Index: layout.All}, {Index: layout.ByRating, Rating: cell.Ratings[0]}}
	if len(cell.Languages) == 0 {
		return out
	}
	return append(out, layout.Partition{Index: layout.ByLang, Language: cell.Languages[0]},
		layout.Partition{Index: layout.ByLangAndRating, Language: cell.Languages[0], Rating: cell.Ratings[0]})
}

// walk reads a partition from the page's first comment to the last comment of the page in one of
// the cells.
func (p *Product) walk(v visit, partition layout.Partition, kept []comment.Filter) float64 {
	from, to := v.window()
	bytes, needed := 0, 0
	entries := p.table.partition(partition, p.id)
	for i, number := range p.ledger[partition].numbers {
		if number < from || number > to {
			continue
		}
		bytes += entries[len(entries)-1-i].bytes
		if slices.ContainsFunc(kept, func(cell comment.Filter) bool { return cell.Allows(p.comments[number]) }) {
			needed = bytes
		}
	}
	return units(needed)
}
