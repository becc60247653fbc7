package counts

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/panics"
	"github.com/talkback/talkback/internal/wait"
	"github.com/talkback/talkback/stream"
)

// How a rebuild ends exact while comments are written and counted, and whenever it is killed.
//
// A parallel, consistent scan finds the products: every comment, mark and piece of statistics names its own. Each product is
// looked at as it is first met, and a page is passed when every product on it is done, whichever segment works on it: the
// page that the other segment met it on may be gone when an interrupted rebuild goes on. A segment waits for others only
// when its own products are done, so that no two wait for each other. So all that a kill can undo is in the pages that were
// not passed. Bringing a product to right statistics takes two things that do not depend on each other.
//
// Marks. The marks of a product and its comments in the index All lie in one order and are compared side by side
// (verify_look.go). Where they differ, the comment itself and the mark are read consistently, and if they do differ, the
// comment is counted as what it is, in the transaction of counter.go with one more condition: that it still is so. The mark
// keeps its position, so that the records which are still to come are applied, in their order, up to the last; and it
// notes that a look was ahead of them, so that the next record moves the position even if it changes nothing. Without that,
// a look and a record that finds nothing to do could leave a mark behind records which a slow reader applies later.
// The index is a moment behind. A comment that it does not show as it is was written within that moment, and its record is
// read by someone later: nobody needs to look. After this, each mark is what its comment was when the rebuild began, or
// later, or has a record coming.
//
// Counts. Every writer changes marks and counts in one transaction. So the difference between the sum of a product's marks
// and its counts is the same at all times, whichever process counts. Only an edit by hand or a lost item makes it other than zero.
// To know it, the statistics are read before and after the marks: when their number of changes is the same, nobody counted
// meanwhile, and the sum belongs to them. They are then put right under the condition that the number still is the same.
// DynamoDB may show one item of a transaction before another for a moment. So a difference is believed only when a second
// look, a second later, finds the same: a true one does not change. Places on leaderboards follow from the counts, and are
// put right in the same transaction. A product that is counted during every look is held: counters wait while the
// hold lasts, which is for a few looks. That needs no common clock: a counter that takes the hold for expired removes it
// with its own write, and the rebuild's write fails.
//
// Shards. The new number is written first, with the old one beside it, and the leaderboards are read by the larger one from
// then on. Each product is rewritten, whether it moves or not. A counter that decided by the old number read the statistics
// before that, and its write fails. A counter that reads the statistics afterwards reads the new number, because it reads
// that last. A product that is counted for the first time meanwhile is counted on condition that the number is the one that
// was read (settings.go). So are all repairs: a rebuild that was taken over, and does not know it yet, fails.
//
// That the statistics are complete is said last, of the time when the rebuild began, unless records were lost since.

const (
	// secondLook is after how long a difference is looked at again.
	secondLook = time.Second
	// shardsKnown is after how long nobody reads a leaderboard any more by a number of shards that was changed.
	shardsKnown = 5 * time.Second
	// lastWords is how long a rebuild that ends early may take to say how far it came.
	lastWords = 3 * time.Second
)

// rebuildClient is the part of the SDK's client that a Rebuilder works with.
type rebuildClient interface {
	looker
	call.Transactor
	leases.LeaseClient
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Rebuilder counts all comments of a table anew and makes statistics, marks and leaderboards right, while others write and
// count. It remembers the ids of all products; of comments it holds no more than a page for each call under way.
type Rebuilder struct {
	// LeaderShards is into how many shards the leaderboards are to be parted, 1 to MaxLeaderShards; 0 leaves it as it is.
	LeaderShards int
	// Who names the process that rebuilds, for the message to a second rebuild.
	Who string
	// Engine names the run of the engine that the table is in, if that tells who is gone: a rebuild that was interrupted
	// together with another run is gone on with at once. Empty where engines outlive those who use them, such as on AWS.
	Engine string

	client rebuildClient
	table  string
	calls  int
	pace   pace
}

// pace are the waits of a rebuild.
type pace struct{ heartbeat, secondLook, shardsKnown, lastWords time.Duration }

// NewRebuilder makes a rebuilder for a table, which must be as Definition says. calls is how many products may be worked on
// at once, 1 or more; 0 stands for DefaultScanCalls.
func NewRebuilder(client rebuildClient, table string, calls int) *Rebuilder {
	if calls < 1 {
		calls = call.DefaultScanCalls
	}
	return &Rebuilder{Who: "another process", client: client, table: table, calls: calls, pace: pace{rebuildHeartbeat, secondLook, shardsKnown, lastWords}}
}

// RebuildProgress is how far a rebuild came.
type RebuildProgress struct {
	// Items are those of the table that were looked at, also before an interruption.
	Items int64
	// Products is how many were looked at since.
	Products int
}

// RebuildResult is what a rebuild did, since it was interrupted if it was.
type RebuildResult struct {
	// Products is how many were looked at.
	Products int
	// Comments is how many were counted that were not, or no longer, or as something else.
	Comments int
	// Repaired is how many products had statistics or places on leaderboards that did not follow from what was counted.
	Repaired int
	// Resumed is whether it went on where another was interrupted.
	Resumed bool
	// Improper are items that are not what they should be, and that no rebuild can mend: comments without a language or a
	// rating, which count as none. Those seen before an interruption are not among them.
	Improper []layout.Improper
	// Failed are products whose statistics cannot be mended, since DynamoDB refuses what would have to be written.
	Failed []string
	// Complete is whether the statistics are known to miss nothing now. They are not when records of the stream were lost
	// while this went on: then another rebuild is needed. Nor are they when products failed.
	Complete bool
}

// Run rebuilds. It tells now and then how far it came. After an error, running it again goes on where it was. While another
// rebuild is under way, the error is of the kind Conflict.
func (r *Rebuilder) Run(ctx context.Context, progress func(RebuildProgress)) (RebuildResult, error) {
	owner := rand.Text()
	run := &rebuilding{
		Rebuilder: r,
		client:    r.client,
		table:     r.table,
		recounter: recounter{
			examiner:   examiner{client: r.client, table: r.table},
			transactor: r.client, counter: NewCounter(r.client, r.table), owner: owner,
		},
		lease:    &rebuildLease{client: r.client, table: r.table, heartbeat: r.pace.heartbeat, owner: owner, engine: r.Engine},
		progress: progress,
		seen:     productSet{claims: map[string]*claim{}},
	}
	if err := run.lease.acquire(ctx, r.Who); err != nil {
		return RebuildResult{}, err
	}
	err := run.whileOurs(ctx)
	if err != nil {
		run.lease.release(ctx, r.pace.lastWords)
	}
	return run.result(), err
}

// rebuilding is a rebuild under way.
type rebuilding struct {
	*Rebuilder
	recounter
	client   rebuildClient
	table    string
	lease    *rebuildLease
	resumed  bool
	complete bool

	seen     productSet
	mu       sync.Mutex // over what follows
	progress func(RebuildProgress)
	done     int // products
	failed   []string
}

func (r *rebuilding) result() RebuildResult {
	return RebuildResult{
		Products: r.done, Comments: int(r.counted.Load()), Repaired: int(r.repaired.Load()),
		Improper: layout.SortedImproper(r.improper), Failed: r.failed, Resumed: r.resumed, Complete: r.complete,
	}
}

// whileOurs does all the work, and stops when another rebuild takes over.
func (r *rebuilding) whileOurs(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	kept := make(chan error, 1)
	go func() {
		defer stop()
		kept <- panics.Guarded(func() error { return r.lease.keep(ctx) })()
	}()
	err := r.work(ctx)
	stop()
	if lost := <-kept; lost != nil {
		return lost
	}
	return err
}

func (r *rebuilding) work(ctx context.Context) error {
	if err := r.chooseShards(ctx); err != nil {
		return err
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	if err := r.scan(ctx); err != nil {
		return err
	}
	return r.end(ctx)
}

// begin goes on with what was interrupted, or starts anew.
func (r *rebuilding) begin(ctx context.Context) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	state, err := r.streamState(ctx)
	if err != nil {
		return err
	}
	r.lease.update(func(p *rebuildProgress) {
		if r.resumed = p.goesOn(r.settings.shards, now, state); r.resumed {
			return
		}
		p.shards, p.began, p.stream, p.scanned = r.settings.shards, now, state, 0
		p.segments = make([]segmentProgress, r.calls*call.SegmentsPerCall)
	})
	return r.lease.save(ctx)
}

func (r *rebuilding) streamState(ctx context.Context) (state stream.State, err error) {
	err = call.Retry(ctx, func() (further bool, err error) {
		state, err = r.journal().State(ctx)
		return false, err
	})
	return state, err
}

func (r *rebuilding) journal() *leases.Leases { return leases.NewLeases(r.client, r.table) }

// scan brings each product to right statistics.
func (r *rebuilding) scan(ctx context.Context) error {
	segments := r.lease.snapshot().segments
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.calls)
	for i, s := range segments {
		if s.done {
			continue
		}
		group.Go(panics.Guarded(func() error {
			return r.eachPage(ctx, i, len(segments), s.start, func(page scanPage) error {
				r.report(page.improper...)
				fresh, ours, others := r.seen.fresh(page.products)
				if err := r.bringAll(ctx, fresh); err != nil {
					return err
				}
				ours.end()
				if err := await(ctx, others); err != nil {
					return err
				}
				r.passed(i, page.items, len(fresh), page.next)
				return nil
			})
		}))
	}
	return group.Wait()
}

// bringAll brings products to right statistics, one after the other. What needs a second look waits for the others' first.
func (r *rebuilding) bringAll(ctx context.Context, products []string) error {
	pending := make([]*recount, len(products))
	for i, product := range products {
		pending[i] = &recount{product: product}
	}
	for {
		var left []*recount
		for _, rc := range pending {
			done, err := r.bring(ctx, rc)
			if hopeless(err) {
				done, err = true, nil
				r.fail(rc.product)
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
		if err := wait.For(ctx, r.pace.secondLook); err != nil {
			return err
		}
	}
}

// hopeless tells whether the statistics of a product cannot be mended, though those of others can: DynamoDB refuses what
// would have to be written.
func hopeless(err error) bool { return err != nil && invalid(err) }

// fail notes that the statistics of a product could not be mended.
func (r *rebuilding) fail(product string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, product)
}

// passed notes that a page of a segment is done.
func (r *rebuilding) passed(segment, items, products int, next layout.Item) {
	var scanned int64
	r.lease.update(func(p *rebuildProgress) {
		p.segments[segment] = segmentProgress{start: next, done: len(next) == 0}
		p.scanned += int64(items)
		scanned = p.scanned
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += products
	r.progress(RebuildProgress{Items: scanned, Products: r.done})
}

// end says that all is done.
func (r *rebuilding) end(ctx context.Context) error {
	if r.settings.was != 0 { // the index is a moment behind those that moved last
		if err := wait.For(ctx, r.pace.secondLook); err != nil {
			return err
		}
	}
	if err := r.changeSettings(ctx, leaderSettings.settled); err != nil {
		return err
	}
	if len(r.failed) == 0 {
		if err := r.markComplete(ctx); err != nil {
			return err
		}
	}
	return r.lease.finish(ctx)
}

// markComplete says that statistics are complete, unless records were lost since the beginning.
func (r *rebuilding) markComplete(ctx context.Context) error {
	done := r.lease.snapshot()
	return call.Retry(ctx, func() (further bool, err error) {
		now, err := r.journal().State(ctx)
		if err != nil {
			return false, err
		}
		if r.complete = now.Complete && now.Since.Equal(done.began); r.complete { // an earlier try of ours
			return false, nil
		}
		err = stream.MarkComplete(ctx, r.journal(), done.stream, done.began)
		if r.complete = err == nil; comment.KindOf(err) == comment.Conflict {
			return false, nil
		}
		return false, err
	})
}

// chooseShards sees to the number of shards of the leaderboards. From then on they are read by the larger one of both
// numbers; nothing moves before everybody does so.
func (r *rebuilding) chooseShards(ctx context.Context) error {
	var latest int64
	err := call.Retry(ctx, func() (further bool, err error) {
		latest, err = guarded(ctx, r.client, r.table)
		return false, err
	})
	if err != nil {
		return err
	}
	err = r.changeSettings(ctx, func(s leaderSettings) leaderSettings { return s.change(r.LeaderShards, latest, time.Now()) })
	if err != nil || r.settings.was == 0 {
		return err
	}
	if err := r.settings.raise(ctx, r.client, r.table); err != nil {
		return err
	}
	return wait.For(ctx, r.pace.shardsKnown)
}

// changeSettings changes the settings of the leaderboards.
func (r *rebuilding) changeSettings(ctx context.Context, change func(leaderSettings) leaderSettings) error {
	return call.Retry(ctx, func() (further bool, err error) {
		now, err := fetchSettings(ctx, r.client, r.table)
		if err != nil && now.damaged == nil {
			return false, err
		}
		if r.settings = change(now); r.settings.same(now) {
			return false, nil
		}
		return false, call.Transact(ctx, r.client, []types.TransactWriteItem{r.settings.write(r.table, now)})
	})
}
