package table_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/pageindex"
)

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
	counter := counts.NewCounter(large.client, large.table, counts.CounterOptions{Pages: noMerge{}, Logger: slog.New(slog.DiscardHandler)})
	unmerged := countedIndex{Index: large.Index, counter: counter}
	if err := unmerged.Apply(t.Context(), []pageindex.Entry{large.insert(rand.New(rand.NewPCG(3, 3)))}); err != nil {
		t.Fatal(err)
	}
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
