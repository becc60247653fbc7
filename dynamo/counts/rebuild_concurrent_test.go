package counts_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
)

// world is a table with a stream that is written and counted at the same time.
type world struct {
	t      *testing.T
	client *dynamodb.Client
	table  string
	store  *dynamo.Store
	pages  counts.PageIndex // kept by the counters; nil for none

	mu      sync.Mutex
	fewer   *sync.Cond // records that are not counted
	model   *commenttest.Model
	history history // of all writes
	reached [2]int  // how far each shard is counted
	written int
}

// newWorld makes a table whose first comments have no records.
func newWorld(t *testing.T, client *dynamodb.Client, comments []comment.Comment) *world {
	t.Helper()
	w := &world{t: t, client: client, table: newTable(t, client), model: commenttest.NewModel(comments...)}
	w.store, w.fewer = dynamo.NewStore(client, w.table, dynamo.Options{}), sync.NewCond(&w.mu)
	load(t, client, w.table, comments)
	return w
}

// mostBehind is how many records may wait to be counted.
const mostBehind = 30

func (w *world) behind() int {
	return len(w.history.shards[0]) + len(w.history.shards[1]) - w.reached[0] - w.reached[1]
}

// write makes a random change.
func (w *world) write(ctx context.Context, r *rand.Rand) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.behind() > mostBehind && ctx.Err() == nil {
		w.fewer.Wait()
	}
	before, after := w.history.change(r, w.model.All(), func(product string) comment.Comment { return commenttest.Random(r, product) })
	w.written++
	w.history.add(w.written, before, after)
	apply(w.model, before, after)
	switch {
	case after == nil:
		return w.store.Delete(ctx, *before)
	case before != nil:
		return w.store.Replace(ctx, *before, *after)
	}
	loader := dynamo.NewLoader(w.client, w.table, 1)
	loader.Revive = true
	_, err := loader.Load(ctx, []comment.Comment{*after})
	return err
}

// batch returns some of the next records of a shard, and some that were counted before.
func (w *world) batch(r *rand.Rand, shard int) (records []stream.Record, end int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.history.shards[shard]
	start := max(0, w.reached[shard]-r.IntN(20))
	end = min(w.reached[shard]+r.IntN(15), len(all))
	return all[start:end], end
}

// count reads a shard from somewhere before its last place, and now and then applies an old batch.
// It reports whether everything is counted.
func (w *world) count(ctx context.Context, r *rand.Rand, counter *counts.Counter, shard int, inHand *[][]stream.Record) (all bool, err error) {
	records, end := w.batch(r, shard)
	if r.IntN(4) == 0 && len(records) > 0 {
		*inHand = append(*inHand, records[:1+r.IntN(len(records))])
	}
	if err := counter.Handle(ctx, records); err != nil {
		w.fewer.Broadcast()
		return false, err
	}
	if n := len(*inHand); n > 0 && r.IntN(3) == 0 {
		if err := counter.Handle(ctx, (*inHand)[r.IntN(n)]); err != nil {
			return false, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached[shard] = end
	w.fewer.Broadcast()
	return end == len(w.history.shards[shard]), nil
}

// live writes and counts until work is done and everything written is counted.
func (w *world) live(r *rand.Rand, work func(ctx context.Context) error) {
	w.t.Helper()
	var done, written atomic.Bool
	group, ctx := errgroup.WithContext(w.t.Context())
	group.Go(func() error {
		defer done.Store(true)
		return work(ctx)
	})
	writes := rand.New(rand.NewPCG(r.Uint64(), 1))
	group.Go(func() error {
		defer written.Store(true)
		for !done.Load() {
			if err := w.write(ctx, writes); err != nil {
				return err
			}
		}
		return nil
	})
	for shard := range w.history.shards {
		r := rand.New(rand.NewPCG(r.Uint64(), 1))
		group.Go(func() error {
			var inHand [][]stream.Record
			options := counts.CounterOptions{Logger: slog.New(slog.DiscardHandler)}
			if w.pages != nil {
				options.Pages = w.pages
			}
			counter := counts.NewCounter(w.client, w.table, options)
			for {
				over := written.Load()
				all, err := w.count(ctx, r, counter, shard, &inHand)
				if err != nil || all && over {
					return err
				}
			}
		})
	}
	must.Do(w.t, group.Wait())
}

// leases returns leases that prove exactly what is counted.
func (w *world) leases(context.Context) ([]stream.Lease, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var leases []stream.Lease
	for shard, records := range w.history.shards {
		leases = append(leases, stream.Lease{Shard: fmt.Sprint(shard), Counter: int64(len(records)), Proven: int64(w.reached[shard]) + 1})
	}
	return leases, nil
}

// check fails unless statistics and leaderboards match the comments.
func (w *world) check() {
	w.t.Helper()
	checkCounted(w.t, w.client, w.table, historicProducts, w.model)
	verify(w.t, w.client, w.table)
}

// Changes under way are not drift. Wrong counts are, even of products that are written all the
// time.
func TestVerifyWhileAllGoesOn(t *testing.T) {
	r := commenttest.Rand(t)
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	w := newWorld(t, client, commenttest.Many(r, "globe", 30))
	rebuild(t, client, w.table)
	bystander := commenttest.Random(r, "bystander")
	load(t, client, w.table, []comment.Comment{bystander})
	w.live(r, func(ctx context.Context) error {
		verifier := counts.HastenVerifier(counts.NewVerifier(client, w.table, counts.VerifyOptions{Calls: 2}))
		verifier.Leases = w.leases
		for range 3 {
			found, err := verifier.Run(ctx, func(int) {})
			if err != nil {
				return err
			}
			for _, drift := range found.Drifts {
				if drift.Product != "bystander" {
					t.Errorf("found %s", drift)
				}
			}
			if len(found.Drifts) == 0 {
				t.Error("the comment that was never counted is not found")
			}
		}
		return nil
	})
}

// Rebuilds beside writes, and beside counting that replays, falls behind and comes late, are exact
// in the end, and so are page numbers if they are kept. Engines could differ in how they combine
// transactions and conditions: TestRebuildHoldsWhatIsNeverCalm and TestCountsAreExact check that in
// both.
func TestRebuildWhileAllGoesOn(t *testing.T) {
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		client := call.NewLocalClient(endpoint)
		for _, most := range []int{30, 300} { // comments of a product; page numbers are for many
			var comments []comment.Comment
			for _, product := range historicProducts {
				comments = append(comments, commenttest.Many(r, product, r.IntN(30))...)
			}
			w := newWorld(t, client, append(comments, commenttest.Many(r, "globe", most-30)...))
			if most > 30 {
				w.pages = table.New(client, w.table)
			}
			w.live(r, func(ctx context.Context) error {
				for range 3 {
					rebuilder := newRebuilder(client, w.table)
					rebuilder.Pages, rebuilder.Logger = w.pages, slog.New(slog.DiscardHandler)
					if _, err := rebuilder.Run(ctx, func(counts.RebuildProgress) {}); err != nil {
						return fmt.Errorf("rebuild: %w", err)
					}
				}
				return nil
			})
			w.check()
			if w.pages != nil {
				checkRanks(t, r, client, w.table, "globe", w.model)
			}
		}
	})
}
