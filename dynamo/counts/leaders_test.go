package counts

import (
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// A product that loses comments while its shard is read appears again further down. It is shown
// once, and displaces no other product.
func TestLeaderIsShownOnce(t *testing.T) {
	place := func(product string, count int) layout.Item {
		out := languageKey(product, "en")
		addLeaderKeys(out, leaderPlace{product: product, language: "en", count: count}, 1)
		return out
	}
	f := boards(func(_ context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		switch {
		case partitionKey(in) != leaderPartition("en", 0):
			return &dynamodb.QueryOutput{}, nil
		case in.ExclusiveStartKey == nil:
			return &dynamodb.QueryOutput{Items: []layout.Item{place("a", 9), place("b", 8)}, LastEvaluatedKey: place("b", 8)}, nil
		default: // in between, four comments on a were deleted, and one on b
			return &dynamodb.QueryOutput{Items: []layout.Item{place("b", 7), place("c", 6), place("a", 5), place("d", 4), place("e", 3)}}, nil
		}
	})
	for _, settings := range []leaderSettings{{shards: 1}, {shards: 1, was: 4}} {
		got, err := NewReader(onlyQueries{queries: f}, "comments", ReaderOptions{}).readLeaders(t.Context(), "en", settings, 4)
		want := []comment.Leader{{Product: "a", Count: 9}, {Product: "b", Count: 8}, {Product: "c", Count: 6}, {Product: "d", Count: 4}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%+v: %v (-want +got):\n%s", settings, err, diff)
		}
	}
}

// Statistics are in no list of comments. Only places on leaderboards are in their index.
func TestWhatIsInWhichIndex(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "42")
	now := c.CreatedAt()
	stats := statistics{stats: comment.Stats{"en": {Counts: comment.Counts{4: 3}}}, hold: hold{owner: "me", until: now}}
	place := []string{layout.AttrBoard, layout.AttrPlace}
	for kind, row := range map[string]struct {
		item layout.Item
		want []string
	}{
		"statistics":             {statisticsItem("42", stats, 4), place},
		"place on a leaderboard": {languageItem(leaderPlace{product: "42", language: "en", count: 3}, 4), place},
		"marker":                 {markerItem("42", c.ID, marker{cell: english5, position: "1"}, now), nil},
	} {
		if got := dynamotest.IndexAttributes(layout.Definition("t"), row.item); !slices.Equal(got, row.want) {
			t.Errorf("%s has %v, want %v", kind, got, row.want)
		}
	}
}
