package counts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/stream"
)

// world is one product in memory: its markers, and its statistics with all rows.
type world struct {
	markers map[comment.ID]marker
	statistics
}

func (w *world) apply(standings []standing) {
	l := ledger{product: "p", statistics: w.statistics, markers: w.markers}
	l.others = comment.Stats{}
	for _, language := range l.sharing(standings) {
		l.others[language] = w.others[language]
	}
	t := tallyUp(l, standings, maxItemsPerTransaction)
	for _, language := range languagesOf(t.before.others, t.after.others) {
		if row, there := t.after.others[language]; there {
			w.others[language] = row
		} else {
			delete(w.others, language)
		}
	}
	w.stats = t.after.stats
	for _, change := range t.markers {
		w.markers[change.id] = change.after
	}
}

func (w *world) marked() comment.Stats {
	sum := comment.Stats{}
	for _, m := range w.markers {
		if m.cell != nil {
			sum.Add(*m.cell, 1)
		}
	}
	return sum
}

// However comments of very many languages are added, changed and deleted, the counts of each
// language are exact. At most comment.MaxLanguageRows languages have rows of their own; the others
// share one that is their sum.
func TestManyLanguages(t *testing.T) {
	languages := commenttest.ManyLanguages(comment.MaxLanguageRows + 5)
	rapid.Check(t, func(t *rapid.T) {
		w := &world{markers: map[comment.ID]marker{}, statistics: statistics{stats: comment.Stats{}, others: comment.Stats{}}}
		for i, language := range languages[:rapid.SampledFrom([]int{0, comment.MaxLanguageRows - 2, comment.MaxLanguageRows}).Draw(t, "at first")] {
			cell := comment.Cell{Language: language, Rating: 1 + i%5}
			w.markers[comment.IDOf(comment.Position{13: byte(i)})] = marker{cell: &cell, exists: true}
			w.stats.Add(cell, 1)
		}
		for step := range rapid.IntRange(1, 40).Draw(t, "steps") {
			id := comment.IDOf(comment.Position{13: byte(rapid.IntRange(0, 119).Draw(t, "comment"))})
			s := standing{ID: id, position: stream.PositionOf("2026", string(rune('A'+step)))}
			if rapid.IntRange(0, 2).Draw(t, "deleted") > 0 {
				s.Cell = &comment.Cell{
					Language: rapid.SampledFrom(languages).Draw(t, "language"),
					Rating:   rapid.IntRange(1, 5).Draw(t, "rating"),
				}
			}
			w.apply([]standing{s})
			w.check(t)
		}
		sorted := arranged(w.marked(), nil)
		w.statistics = sorted
		w.check(t)
		if kept := arranged(w.marked(), sorted.stats); !cmp.Equal(kept.stats, sorted.stats) {
			t.Errorf("arranging again changes the rows")
		}
	})
}

func (w *world) check(t *rapid.T) {
	if diff := cmp.Diff(w.marked(), w.grid()); diff != "" {
		t.Fatalf("counts: %s", diff)
	}
	if w.stats[comment.OtherLanguages] != w.shared() {
		t.Fatalf("the shared row is %v, and its languages have %v", w.stats[comment.OtherLanguages], w.shared())
	}
	if own := len(languagesOf(w.stats)); own > comment.MaxLanguageRows {
		t.Fatalf("%d languages have rows", own)
	}
	for language := range w.others {
		if _, own := w.stats[language]; own {
			t.Fatalf("%s has a row of its own and shares one", language)
		}
	}
}

// A rebuild gives the rows to the languages with the most comments.
func TestRowsByUse(t *testing.T) {
	grid := comment.Stats{}
	for i, language := range commenttest.ManyLanguages(comment.MaxLanguageRows + 2) {
		grid[language] = comment.Row{Counts: comment.Counts{0, 0, 0, 0, i + 1}}
	}
	got := arranged(grid, nil)
	want := comment.Stats{"l00": {Counts: comment.Counts{0, 0, 0, 0, 1}}, "l01": {Counts: comment.Counts{0, 0, 0, 0, 2}}}
	if diff := cmp.Diff(want, got.others); diff != "" || got.stats[comment.OtherLanguages].Counts != (comment.Counts{0, 0, 0, 0, 3}) {
		t.Errorf("%v share a row: %s", got.stats[comment.OtherLanguages], diff)
	}
}
