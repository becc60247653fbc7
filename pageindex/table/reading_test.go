package table_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/table"
)

// busy leaves all keys unprocessed, as a throttled table does.
type busy struct{ *dynamodb.Client }

func (busy) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return &dynamodb.BatchGetItemOutput{UnprocessedKeys: in.RequestItems, Responses: map[string][]map[string]types.AttributeValue{}}, nil
}

// A throttled read is not taken for a product without an index. For 200 comments that would answer
// from all markers, for more advise to rebuild the index.
func TestThrottledReadFails(t *testing.T) {
	c := newCounted(t, dynamotest.Dynoxide(t))
	must.Do(t, c.Apply(t.Context(), entries("p", 0, 300)))
	throttled := table.New(busy{c.client}, c.table)
	_, errFind := throttled.Find(t.Context(), pageindex.List{Product: "p", Order: comment.OldestFirst}, []pageindex.Target{{Rank: 5}})
	_, errRuns := throttled.Runs(t.Context(), "p")
	for _, err := range []error{errFind, errRuns, throttled.Merge(t.Context(), "p")} {
		if comment.KindOf(err) != comment.Throttled {
			t.Errorf("got %v", err)
		}
	}
}

// The reads of a lookup count for the operation that needs it.
func TestLookupIsCharged(t *testing.T) {
	c := newCounted(t, dynamotest.Dynoxide(t))
	must.Do(t, c.Apply(t.Context(), entries("p", 0, 300)))
	operation := usage.NewPool(1).Open(1)
	defer operation.Close()
	found := must.Get(c.Find(usage.With(t.Context(), operation), pageindex.List{Product: "p", Order: comment.OldestFirst}, []pageindex.Target{{Rank: 5, Exact: true}}))(t)
	got, want := operation.Reads(), found.Cost
	if want.Waves != 3 || want.Calls != 4 || want.ReadUnits == 0 || got != (usage.Reads{Units: want.ReadUnits, Calls: want.Calls, Waves: want.Waves}) {
		t.Errorf("charged %+v for a lookup that cost %+v", got, want)
	}
}

// noMerge is a page index whose logs are never merged.
type noMerge struct{}

func (noMerge) Merge(context.Context, string) error { return nil }

// A small product needs no index. A large one reports that it has none. If its merge was lost, it
// reports that its one huge run is not split yet. The lookup then starts the merge, and answers
// after it.
func TestUnfinishedIndexIsUnavailable(t *testing.T) {
	small, _ := newUnindexed(t, 256)
	for _, q := range lists {
		small.jump(t, q, 3, true)
	}
	large, _ := newUnindexed(t, 1500)
	large.checkUnavailable(t, "rebuild --pages")
	must.Do(t, large.unmerged().Apply(t.Context(), []pageindex.Entry{large.insert(rand.New(rand.NewPCG(3, 3)))}))
	merging := counts.NewCounter(large.client, large.table, counts.CounterOptions{Pages: large.Index, Logger: slog.New(slog.DiscardHandler)})
	large.OnUnsplit(merging.MergePages)
	large.checkUnavailable(t, "being built")
	merging.AwaitMerges(t.Context())
	large.jump(t, lists[0], 3, true)
}

func (c *crowd) checkUnavailable(t *testing.T, cure string) {
	t.Helper()
	list := pageindex.List{Product: crowded, Order: comment.NewestFirst}
	found, err := c.Find(t.Context(), list, []pageindex.Target{{Rank: 700}})
	if comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), cure) {
		t.Errorf("got %+v, %v; want an error that says %q", found, err, cure)
	}
}
