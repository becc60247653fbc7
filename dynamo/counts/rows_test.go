package counts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
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
		w.markers[change.ID] = change.after
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
			w.markers[comment.IDOf(comment.Position{13: byte(i)})] = marker{cell: &cell}
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

// mostItemBytes is the largest item that DynamoDB accepts.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const mostItemBytes = 400 << 10

// Whatever is counted, in however many calls, no item is larger than DynamoDB accepts.
func TestLargestItems(t *testing.T) {
	longest := strings.Repeat("x", comment.MaxIDBytes)
	stats, counted := comment.Stats{}, &layout.Bounds{}
	add := func(language comment.Language) {
		for rating := 1; rating <= comment.MaxRating; rating++ {
			for traits := range comment.Traits(1 << len(comment.AllTraits())) {
				cell := comment.Cell{Language: language, Rating: rating, Traits: traits}
				counted.Enter(cell, 0, comment.MaxPosition)
				stats.Add(cell, 1_999_999_999)
			}
		}
	}
	for i := range comment.MaxLanguageRows {
		add(comment.Language(fmt.Sprintf("%.35s", fmt.Sprintf("%03d%s", i, longest))))
	}
	add(comment.OtherLanguages)
	statistics := statistics{stats: stats, changes: 1 << 62, hold: hold{owner: longest, until: time.Now()}, newest: counted, head: make([]byte, maxIndexBytes)}

	progress := rebuildProgress{stream: stream.State{Label: "2026-01-01T00:00:00.000", Gap: &stream.Gap{Found: time.Now(), Shard: longest, Reason: longest}}}
	rebuild := &rebuilding{Rebuilder: NewRebuilder(nil, "t", RebuildOptions{Calls: 1 << 20})}
	progress.segments = make([]segmentProgress, rebuild.segments())
	for i := range progress.segments {
		progress.segments[i].start = layout.ProductKey(longest, languageSK+longest[:35])
	}
	for name, it := range map[string]layout.Item{"statistics": statisticsItem(longest, statistics, MaxLeaderShards), "rebuild": progress.attributes()} {
		if size := layout.SizeOf(it, nil); size > mostItemBytes-1000 {
			t.Errorf("the item of %s has %d bytes", name, size)
		}
	}
}
