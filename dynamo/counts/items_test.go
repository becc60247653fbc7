package counts

import (
	"slices"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// Statistics are in no list of comments. Only places on leaderboards are in their index.
func TestWhatIsInWhichIndex(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "42")
	now := c.CreatedAt()
	stats := statistics{stats: comment.Stats{"en": {Counts: comment.Counts{0, 0, 0, 0, 3}}}, hold: hold{owner: "me", until: now}}
	for kind, row := range map[string]struct {
		item layout.Item
		want []string
	}{
		"statistics":             {statisticsItem("42", stats, 4), []string{layout.AttrBoard, layout.AttrPlace}},
		"place on a leaderboard": {languageItem(leaderPlace{product: "42", language: "en", count: 3}, 4), []string{layout.AttrBoard, layout.AttrPlace}},
		"marker":                 {markerItem("42", c.ID, marker{cell: &comment.Cell{Language: "en", Rating: 5}, position: "1"}, now), nil},
	} {
		if got := dynamotest.IndexAttributes(layout.Definition("t"), row.item); !slices.Equal(got, row.want) {
			t.Errorf("%s has %v, want %v", kind, got, row.want)
		}
	}
}
