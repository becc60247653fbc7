package counts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

// traitCounts returns the counts of comments in languages of very different use. 80 in a hundred
// are verified, 6 have media and 20 are helpful, if traits includes these.
func traitCounts(comments, languages int, traits comment.Traits) comment.Stats {
	r, stats, tags := rand.New(rand.NewPCG(1, 2)), comment.Stats{}, commenttest.ManyLanguages(languages)
	for range comments {
		language := int(math.Pow(float64(languages), r.Float64())) - 1
		cell := comment.Cell{Language: tags[language], Rating: []int{5, 5, 5, 5, 5, 5, 4, 4, 3, 1, 2}[r.IntN(11)]}
		for i, percent := range []int{80, 6, 20} {
			if trait := comment.AllTraits()[i]; r.IntN(100) < percent {
				cell.Traits |= trait & traits
			}
		}
		stats.Add(cell, 1)
	}
	return stats
}

// The size of a statistics item grows with the traits in use, and the item reads back unchanged.
func TestTraitedStatistics(t *testing.T) {
	const all = comment.IsVerified | comment.HasMedia | comment.IsHelpful
	for _, row := range []struct {
		comments, languages int
		traits              comment.Traits
		most                int // bytes of the split
	}{
		{26_880, 1, 0, 0}, {26_880, 1, comment.IsVerified, 20}, {26_880, 1, all, 80},
		{3_000, 10, all, 200}, {100_000, 30, all, 1_300}, {100_000, 100, comment.IsVerified, 850}, {100_000, 100, all, 2_800},
	} {
		want := statistics{stats: traitCounts(row.comments, row.languages, row.traits), changes: 1}
		item := statisticsItem("espresso", want, 4)
		size := layout.SizeOf(item, []string{layout.AttrSplit})
		name := fmt.Sprintf("%d comments in %d languages with traits %q", row.comments, row.languages, row.traits)
		t.Logf("%s: %d bytes of the split, %d beside it", name, size, layout.SizeOf(item, []string{layout.AttrGrid}))
		if size > row.most || row.traits == 0 && item[layout.AttrSplit] != nil {
			t.Errorf("%s: the split has %d bytes, more than %d", name, size, row.most)
		}
		got := decodeStatistics(item)
		if diff := cmp.Diff(want.stats, got.stats); diff != "" || got.damage != nil {
			t.Errorf("%s: %v %s", name, got.damage, diff)
		}
	}
}

// Without traits, stored items have the format from before traits existed.
func TestWithoutTraits(t *testing.T) {
	cell, now := comment.Cell{Language: "de", Rating: 5}, time.Unix(1_700_000_000, 0)
	stats := comment.Stats{}
	stats.Add(cell, 3)
	item := statisticsItem("espresso", statistics{stats: stats, changes: 7}, 4)
	for name, want := range map[string]string{"g": "de=0,0,0,0,3", "k": ""} {
		if got := layout.NewReader(item).OptionalText(name); got != want {
			t.Errorf("attribute %q is %q, want %q", name, got, want)
		}
	}
	for text, cell := range map[string]comment.Cell{
		"de/5":    cell,
		"de/5/mv": {Language: "de", Rating: 5, Traits: comment.IsVerified | comment.HasMedia},
	} {
		marked := markerItem("espresso", comment.IDOf(comment.Position{1}), marker{cell: &cell}, now)
		got := decodeMarker(marked)
		if stored := layout.NewReader(marked).Text(layout.AttrCell); stored != text || got.damage != nil || *got.cell != cell {
			t.Errorf("%v is counted as %q, want %q; it reads back as %v, %v", cell, stored, text, got.cell, got.damage)
		}
	}
	for _, text := range []string{"de/5/", "de/5/vm", "de/5/vv", "de/5/x", "de/6", "/5", "de"} {
		if got, err := layout.ParseCell(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
