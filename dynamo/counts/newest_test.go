package counts

import (
	"fmt"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// The positions of the newest comments take no write unit of the statistics item, unless the
// positions of the five ratings alone do not fit into the rest of its last unit.
func TestNewestTakesNoWriteUnit(t *testing.T) {
	const ofRatings = 1 + 2 + comment.MaxRating*16
	s, dearer := statistics{changes: 10_000, stats: comment.Stats{}, newest: &layout.Bounds{}}, 0
	for languages := 1; languages <= comment.MaxLanguageRows; languages++ {
		for rating := 1; rating <= comment.MaxRating; rating++ {
			s.enter(comment.Cell{Language: comment.Language(fmt.Sprintf("x%d", languages)), Rating: rating}, comment.Position{15: byte(languages)})
		}
		without := s
		without.newest = nil
		before, after := layout.SizeOf(statisticsItem("B09WXYZ123", without, 4), nil), layout.SizeOf(statisticsItem("B09WXYZ123", s, 4), nil)
		units, more := units(before), units(after)-units(before)
		if more > 0 {
			dearer++
		}
		if left := units*layout.WriteUnitBytes - before; more > 0 && left >= ofRatings || after < before+ofRatings {
			t.Errorf("%d languages: %d bytes without and %d with it", languages, before, after)
		}
		if languages == 1 || languages == 6 || languages%10 == 0 {
			t.Logf("%d languages: %d bytes without and %d with it", languages, before, after)
		}
	}
	t.Logf("of 1 to %d languages, %d cost a write unit more", comment.MaxLanguageRows, dearer)
}

func units(bytes int) int { return (bytes + layout.WriteUnitBytes - 1) / layout.WriteUnitBytes }

// Positions that do not match the counts are treated as unknown, and the next change of the product
// drops them. For a product that has lost all of its comments they start anew.
func TestNewestThatIsNotKnown(t *testing.T) {
	s := statistics{changes: 1, stats: comment.Stats{}, newest: &layout.Bounds{}}
	s.enter(*english5, globe.Position())
	it := statisticsItem("p", s, 4)
	it[attrNewest] = layout.Text("not bytes")
	damaged := decodeStatistics(it)
	if damaged.damage != nil || damaged.newest != nil {
		t.Fatalf("%+v, %v", damaged.newest, damaged.damage)
	}
	before := ledger{product: "p", statistics: damaged, markers: map[comment.ID]marker{globe: {cell: english5, position: "1"}}}
	after := tallyUp(before, []standing{{ID: plate, Cell: english1, position: "2"}}, maxItemsPerTransaction).after
	if item := statisticsItem("p", after, 4); item[attrNewest] != nil {
		t.Errorf("damaged bounds are stored again as %v", item[attrNewest])
	}
	before.statistics = tallyUp(before, []standing{{ID: globe, position: "2"}}, maxItemsPerTransaction).after
	after = tallyUp(before, []standing{{ID: plate, Cell: english1, position: "2"}}, maxItemsPerTransaction).after
	if bound := after.newest.Rated(nil); bound.Position != plate.Position() || !bound.Exact {
		t.Errorf("%+v, want the comment that came after all were gone", bound)
	}
}

// A comment that stays in its rating, in another language, is still known to be the newest of it.
func TestNewestStaysInItsRating(t *testing.T) {
	s := statistics{changes: 1, stats: comment.Stats{}, newest: &layout.Bounds{}}
	s.enter(*english5, globe.Position())
	s.enter(*english5, plate.Position())
	before := ledger{product: "p", statistics: s, markers: map[comment.ID]marker{plate: {cell: english5, position: "1"}}}
	after := tallyUp(before, []standing{{ID: plate, Cell: german5, position: "2"}}, maxItemsPerTransaction).after
	if bound := after.newest.Rated([]int{5}); bound.Position != plate.Position() || !bound.Exact {
		t.Errorf("%+v, want the comment that was edited", bound)
	}
}
