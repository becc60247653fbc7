package counts

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// How a rebuild gets exact counts while comments are written and counted, and even if it is killed.
//
// A parallel, consistent scan finds the products: every comment, marker and statistics item names
// its product. Each product is recounted when a segment first meets it. A page is passed once all
// of its products are done, whichever segment works on them. After an interruption, the page on
// which another segment met a product may be gone. A segment first finishes its own products and
// then waits for others, so no two segments wait for each other. So a kill can only lose work on
// pages that were not passed. Correcting a product's statistics takes two independent steps.
//
// Markers. The markers of a product and its comments in the index All have the same order and are
// compared side by side (examiner.go). Where they differ, the comment itself and the marker are
// read consistently. If they still differ, the comment is counted in its cell. That uses the
// transaction of counter.go with one more condition: that the comment is unchanged. The marker
// keeps its position, so later records are applied in their order, up to the last. It also notes
// that its cell was read from the comment, so that the next record moves the position even if it
// changes nothing. Otherwise, if that record changes nothing, the marker could stay behind records
// that a slow reader applies later. The index lags a moment behind. If it is wrong about a comment,
// the comment was written within that moment, and its record is yet to come. So it needs no look.
// After this step, each marker shows its comment as it was when the rebuild began, or later, or its
// record is yet to come.
//
// Counts. Every writer changes markers and counts in one transaction. So the difference between the
// sum of a product's markers and its counts never changes, whichever process counts. Only an edit
// by hand or a lost item makes it non-zero. To find it, the statistics are read before and after
// the markers. If their number of changes is the same, the product was not counted meanwhile, and
// the sum belongs to them. They are then corrected under the condition that the number is still the
// same. DynamoDB may show one item of a transaction before another for a moment. So a difference is
// corrected only if a second look, a second later, finds the same one; a true difference does not
// change. Places on leaderboards follow from the counts and are corrected in the same transaction.
// A product that is counted during every look is held: counters wait for the duration of the hold,
// a few looks. That needs no common clock: a counter that considers the hold expired removes it
// with its own write, and the rebuild's write fails.
//
// Shards. The new number of shards is written first, beside the old one. From then on, leaderboards
// are read with the larger of the two. Each product is rewritten, whether it moves or not. A
// counter that uses the old number read the statistics before that, so its write fails. A counter
// that reads the statistics afterwards reads the new number, since it reads that last. The first
// count of a product has the condition that the number is still the one that was read
// (settings.go). All repairs have the same condition, so a rebuild fails if another process took it
// over unnoticed.
//
// As its last step, the rebuild notes that the statistics are complete since it began, unless
// records were lost meanwhile.

const (
	secondLook  = time.Second     // after which a difference is checked again
	shardsKnown = 5 * time.Second // after which no reader of a leaderboard uses an old number of shards
	lastWords   = 3 * time.Second // for a rebuild that ends early to save its progress
)

// rebuildClient is the part of the SDK's client that a Rebuilder works with.
type rebuildClient interface {
	examinerClient
	countClient
	leases.LeaseClient
	call.Deleter
}

// RebuildOptions are the settings of a Rebuilder.
type RebuildOptions struct {
	// Calls is how many products are recounted at once; 0 means DefaultScanCalls.
	Calls int
	// LeaderShards is the new number of shards of the leaderboards, 1 to MaxLeaderShards; 0 keeps
	// the current number.
	LeaderShards int
	// Who and Engine are fields of leases.WorkOptions.
	Who, Engine string
	// Feed is an index of ranks that receives an entry for each wrongly counted comment before its
	// count is corrected.
	Feed feed
	// Pages is the page index in the table. It is compared with the markers, and started anew where
	// it is missing or does not match. A rebuild without it drops the index of each product that it
	// corrects.
	Pages PageIndex
	// Lost is called before a gap of the stream is closed, so that those who follow events learn
	// that some are missing. A rebuild that is killed between the two calls it again. It may be nil.
	Lost func(context.Context) error
	// Logger logs merges of that index that fail. It may be nil without Pages.
	Logger *slog.Logger
}

// PageIndex is the index behind page numbers in the table.
type PageIndex interface {
	merger
	runsReader
}

// Rebuilder counts all comments of a table anew. It corrects statistics, markers and leaderboards
// while others write and count. In memory it holds the ids of all products, and at most one page of
// comments for each call under way.
type Rebuilder struct {
	RebuildOptions

	client rebuildClient
	table  string
	pace   pace
	guards int // of the settings; fewer in tests that disturb each call of a rebuild
}

// pace has the waits of a rebuild.
type pace struct{ heartbeat, secondLook, shardsKnown, lastWords time.Duration }

// NewRebuilder makes a rebuilder for a table, whose keys and indexes must be those of Definition.
func NewRebuilder(client rebuildClient, table string, options RebuildOptions) *Rebuilder {
	options.Calls = cmp.Or(options.Calls, call.DefaultScanCalls)
	return &Rebuilder{RebuildOptions: options, client: client, table: table, pace: pace{leases.WorkHeartbeat, secondLook, shardsKnown, lastWords}, guards: settingsGuards}
}

// Run rebuilds, and calls progress now and then. After an error, another Run continues where this
// one stopped. It returns a Conflict error while another rebuild is under way.
func (r *Rebuilder) Run(ctx context.Context, progress func(RebuildProgress)) (RebuildResult, error) {
	counter := NewCounter(r.client, r.table, CounterOptions{Logger: r.Logger, Pages: r.Pages})
	run := &rebuilding{
		Rebuilder: r,
		recounter: recounter{
			examiner:   examiner{client: r.client, table: r.table, runs: r.Pages},
			transactor: r.client, counter: counter, feed: r.Feed, pages: r.Pages, owner: rand.Text(),
		},
		tell: progress,
	}
	run.lease = leases.NewWork(leases.WorkOptions{
		Client: r.client, Table: r.table, Key: rebuildKey(), Name: rebuildName, Who: r.Who, Engine: r.Engine, Heartbeat: r.pace.heartbeat,
		Progress: func() layout.Item {
			run.mu.Lock()
			defer run.mu.Unlock()
			return run.progress.attributes()
		},
	})
	before, err := run.lease.Acquire(ctx)
	if err != nil {
		return RebuildResult{}, err
	}
	if run.progress, err = decodeRebuild(before); err != nil {
		return RebuildResult{}, err
	}
	err = run.lease.Hold(ctx, r.pace.lastWords, run.work)
	run.result.Improper = layout.SortedImproper(run.result.Improper)
	return run.result, err
}

// rebuilding is a rebuild under way.
type rebuilding struct {
	*Rebuilder
	recounter
	lease    *leases.Work
	progress rebuildProgress // guarded by mu while products are recounted
	seen     productSet

	telling sync.Mutex // held instead of mu while tell is called, so that heartbeats do not wait for it
	tell    func(RebuildProgress)
}

// work chooses the number of shards of the leaderboards, resumes an interrupted rebuild or starts a
// new one, corrects all products, and notes that the rebuild is done.
func (r *rebuilding) work(ctx context.Context) error {
	latest, err := call.Retried(ctx, func() (int64, error) { return latestGuard(ctx, r.client, r.table) })
	if err != nil {
		return err
	}
	err = r.changeSettings(ctx, func(s leaderSettings) leaderSettings { return s.change(r.LeaderShards, latest, time.Now()) })
	if err != nil {
		return err
	}
	if r.settings.was != 0 { // products may move once every reader uses the larger of both numbers
		if err := r.settings.raise(ctx, r.client, r.table, r.guards); err != nil {
			return err
		}
		if err := task.Wait(ctx, r.pace.shardsKnown); err != nil {
			return err
		}
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	state, err := call.Retried(ctx, func() (stream.State, error) { return r.journal().State(ctx) })
	if err != nil {
		return err
	}
	r.note(func(result *RebuildResult) {
		if result.Resumed = r.progress.goesOn(r.settings.shards, now, state); !result.Resumed {
			r.progress = rebuildProgress{shards: r.settings.shards, began: now, stream: state, segments: make([]segmentProgress, r.segments())}
		}
	})
	if err := r.lease.Save(ctx); err != nil {
		return err
	}
	if err := r.scan(ctx); err != nil {
		return err
	}
	r.counter.AwaitMerges(ctx)
	if r.settings.was != 0 { // the index lags a moment behind the last moves
		if err := task.Wait(ctx, r.pace.secondLook); err != nil {
			return err
		}
	}
	if err := r.changeSettings(ctx, func(s leaderSettings) leaderSettings { s.was = 0; return s }); err != nil {
		return err
	}
	if len(r.result.Failed) == 0 {
		if err := r.markComplete(ctx); err != nil {
			return err
		}
	}
	return r.lease.Finish(ctx)
}

// segments returns the number of segments into which a new rebuild divides the table.
func (r *rebuilding) segments() int { return min(r.Calls*call.SegmentsPerCall, mostSegments) }

func (r *rebuilding) journal() *leases.Leases { return leases.NewLeases(r.client, r.table) }

// scan corrects the statistics of each product.
func (r *rebuilding) scan(ctx context.Context) error {
	segments := r.progress.segments
	return call.ParallelUpTo(ctx, r.Calls, len(segments), func(ctx context.Context, i int) error {
		if segments[i].done {
			return nil
		}
		return r.eachPage(ctx, i, len(segments), segments[i].start, func(page scanPage) error {
			r.report(page.improper)
			if err := r.refile(ctx, page.misfiled); err != nil {
				return err
			}
			if err := r.recountVotes(ctx, page.voted); err != nil {
				return err
			}
			fresh, ours, others := r.seen.fresh(page.products)
			if err := r.bringAll(ctx, fresh); err != nil {
				return err
			}
			close(ours)
			if err := await(ctx, others); err != nil {
				return err
			}
			var now RebuildProgress
			r.note(func(result *RebuildResult) {
				if len(result.Failed) == 0 { // else one that resumes it must meet the failed products again
					segments[i] = segmentProgress{start: page.next, done: len(page.next) == 0}
				}
				r.progress.scanned += int64(page.items)
				result.Products += len(fresh)
				now = RebuildProgress{Items: r.progress.scanned, Products: result.Products}
			})
			r.telling.Lock()
			defer r.telling.Unlock()
			r.tell(now)
			return nil
		})
	})
}

// bringAll corrects the statistics of products, one after the other. It takes second looks after
// all first looks.
func (r *rebuilding) bringAll(ctx context.Context, products []string) error {
	pending := make([]*recount, len(products))
	for i, product := range products {
		pending[i] = &recount{product: product}
	}
	for {
		var left []*recount
		for _, rc := range pending {
			done, err := r.bring(ctx, rc)
			if err != nil && invalid(err) { // DynamoDB refuses the write, perhaps for this product only
				done, err = true, nil
				r.note(func(result *RebuildResult) { result.Failed = append(result.Failed, rc.product) })
			}
			if err != nil {
				return err
			}
			if !done {
				left = append(left, rc)
			}
		}
		if pending = left; len(pending) == 0 {
			return nil
		}
		if err := task.Wait(ctx, r.pace.secondLook); err != nil {
			return err
		}
	}
}

// markComplete notes that the statistics are complete, unless records were lost since the rebuild
// began.
func (r *rebuilding) markComplete(ctx context.Context) error {
	began, known := r.progress.began, r.progress.stream
	if known.Gap != nil && r.Lost != nil {
		if err := r.Lost(ctx); err != nil {
			return err
		}
	}
	return call.Retry(ctx, func() (further bool, err error) {
		now, err := r.journal().State(ctx)
		if err != nil {
			return false, err
		}
		if r.result.Complete = now.Complete && now.Since.Equal(began); r.result.Complete { // by an earlier try
			return false, nil
		}
		err = stream.MarkComplete(ctx, r.journal(), known, began)
		if r.result.Complete = err == nil; comment.KindOf(err) == comment.Conflict {
			return false, nil
		}
		return false, err
	})
}

func (r *rebuilding) changeSettings(ctx context.Context, change func(leaderSettings) leaderSettings) error {
	return call.Retry(ctx, func() (further bool, err error) {
		now, err := fetchSettings(ctx, r.client, r.table)
		if err != nil && now.damage == nil {
			return false, err
		}
		if r.settings = change(now); r.settings.same(now) {
			return false, nil
		}
		return false, call.Transact(ctx, r.client, []types.TransactWriteItem{r.settings.write(r.table, now)})
	})
}
