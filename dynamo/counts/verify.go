package counts

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// A difference may be temporary: a record that was not read yet, a transaction seen in part, or an
// index that lags behind. So it is checked again, this often and after at least these waits. Only
// differences that all steady looks find are drift. A product that is counted all the time gets
// more looks before the verifier gives up.
const (
	verifyLooks   = 4
	verifyGiveUp  = 8
	verifyMarkers = 100 // reported one by one for a product
	verifyFirst   = 500 * time.Millisecond
	verifyLongest = 4 * time.Second
	verifyStream  = 20 * time.Second // total wait for changes to be counted before further looks
)

// VerifyOptions are the settings of a Verifier.
type VerifyOptions struct {
	// Calls is how many products are verified at once; 0 means DefaultScanCalls.
	Calls int
	// Leases reads the leases of the table's stream; none if no process writes any. Differences are
	// checked again only after the leases prove that all earlier changes were counted. The total
	// wait for that is at most 20 s. It may be nil.
	Leases func(ctx context.Context) ([]stream.Lease, error)
	// Pages is the page index in the table, to be compared with the markers; nil for none.
	Pages runsReader
}

// Verifier counts comments anew, and compares statistics, markers and leaderboards with the result.
// It cannot write.
//
// In memory it holds the ids of all products, and its findings about those that drift, which grow
// with products and languages. It holds at most one page of comments for each call under way.
type Verifier struct {
	VerifyOptions

	examiner
	wait     time.Duration
	patience time.Duration // total wait for changes to be counted before further looks
}

// NewVerifier makes a verifier of a table, whose keys and indexes must be those of Definition.
func NewVerifier(client examinerClient, table string, options VerifyOptions) *Verifier {
	options.Calls = cmp.Or(options.Calls, call.DefaultScanCalls)
	return &Verifier{
		VerifyOptions: options, examiner: examiner{client: client, table: table, runs: options.Pages},
		wait: verifyFirst, patience: verifyStream,
	}
}

// Verified is what a Verifier found.
type Verified struct {
	// Products is how many products were verified, Comments how many approved comments they have, and
	// Voted how many comments of any state have votes.
	Products, Comments, Voted int
	// Drifts lists everything that is wrong, by product.
	Drifts []Drift
	// Improper lists malformed items that no rebuild can fix: comments without a product, a
	// language or a rating, which are not counted.
	Improper []layout.Improper
	// Restless lists the products that were counted too often to be verified.
	Restless []string
	// Unproven is whether a further look was taken without proof that all earlier changes were
	// counted. Drifts may then include changes that are still to be counted.
	Unproven bool
}

// Run verifies all products. It calls progress now and then with the number of items scanned.
func (v *Verifier) Run(ctx context.Context, progress func(items int)) (Verified, error) {
	settings, err := call.Retried(ctx, func() (leaderSettings, error) { return fetchSettings(ctx, v.client, v.table) })
	if err != nil {
		return Verified{}, err
	}
	run := &verifying{Verifier: v, settings: settings}
	if err := run.scan(ctx, progress); err != nil {
		return Verified{}, err
	}
	err = run.recheck(ctx)
	slices.SortFunc(run.out.Drifts, Drift.compare)
	slices.Sort(run.out.Restless)
	run.out.Improper = layout.SortedImproper(run.out.Improper)
	return run.out, err
}

// verifying is a verification under way.
type verifying struct {
	*Verifier
	settings leaderSettings

	seen  productSet
	mu    sync.Mutex // guards the fields below
	items int
	again []func(context.Context) error // look again at what differed
	out   Verified
}

// suspect is a product with a difference.
type suspect struct {
	product string
	drifts  map[Drift]bool // found by every steady look; nil before the first
	looks   int            // steady ones
	all     int
}

// scan looks at each product once.
func (v *verifying) scan(ctx context.Context, progress func(items int)) error {
	segments := v.Calls * call.SegmentsPerCall
	return call.ParallelUpTo(ctx, v.Calls, segments, func(ctx context.Context, segment int) error {
		return v.eachPage(ctx, segment, segments, nil, func(page scanPage) error {
			fresh, _, _ := v.seen.fresh(page.products)
			for _, product := range fresh {
				if err := v.inspect(ctx, &suspect{product: product}); err != nil {
					return err
				}
			}
			v.notePage(page, progress)
			for _, id := range page.voted {
				if err := v.inspectVotes(ctx, id, 1); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (v *verifying) notePage(page scanPage, progress func(items int)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.items += page.items
	v.out.Voted += len(page.voted)
	v.out.Improper = append(v.out.Improper, page.improper...)
	for _, keys := range page.misfiled {
		v.out.Drifts = append(v.out.Drifts, misfiledDrifts(keys)...)
	}
	progress(v.items)
}

// recheck looks at the suspects until each is cleared, confirmed or given up.
func (v *verifying) recheck(ctx context.Context) error {
	giveUp := time.Now().Add(v.patience)
	for pause := v.wait; len(v.again) > 0; pause = min(2*pause, verifyLongest) {
		if err := task.Wait(ctx, pause); err != nil {
			return err
		}
		if err := v.awaitCounting(ctx, giveUp); err != nil {
			return err
		}
		looks := v.again
		v.again = nil
		if err := call.ParallelUpTo(ctx, v.Calls, len(looks), func(ctx context.Context, i int) error { return looks[i](ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// awaitCounting waits until the leases prove that all changes before the call were counted, unless
// there are no leases or it takes too long. The proof rests on positions in the stream, and needs
// no clock.
func (v *verifying) awaitCounting(ctx context.Context, giveUp time.Time) error {
	if v.Leases == nil {
		return nil
	}
	for fence := stream.Fence(nil); time.Now().Before(giveUp); {
		leases, err := v.Leases(ctx)
		switch {
		case err != nil && !call.Transient(err):
			return err
		case err == nil && len(leases) == 0:
			v.out.Unproven = true
			return nil
		case err == nil && fence == nil:
			fence = stream.FenceOf(leases)
		case err == nil && fence.Passed(leases):
			return nil
		}
		if err := task.Wait(ctx, v.wait); err != nil {
			return err
		}
	}
	v.out.Unproven = true
	return nil
}

// inspect looks at a product, and decides whether to look again.
func (v *verifying) inspect(ctx context.Context, s *suspect) error {
	var found []Drift // of markers that do not match their comments
	further := false
	seen, err := v.examine(ctx, s.product, func(ctx context.Context, ids []comment.ID) error {
		if further = len(found) >= verifyMarkers; further {
			return nil
		}
		misfits, err := call.Retried(ctx, func() ([]misfit, error) { return v.misfits(ctx, s.product, ids) })
		for _, wrong := range misfits {
			found = append(found, wrong.drift(s.product))
		}
		return err
	})
	if err != nil {
		return err
	}
	s.all++
	if seen.steady() {
		if further {
			found = append(found, Drift{Product: s.product, Kind: FurtherMarkers, Detail: "more comments than these are counted wrongly"})
		}
		s.take(append(found, seen.drifts(v.settings)...))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case s.looks > 0 && len(s.drifts) == 0:
	case s.looks == verifyLooks:
		v.out.Drifts = slices.AppendSeq(v.out.Drifts, maps.Keys(s.drifts))
	case s.all == verifyGiveUp:
		v.out.Restless = append(v.out.Restless, s.product)
	default:
		v.again = append(v.again, func(ctx context.Context) error { return v.inspect(ctx, s) })
		return nil
	}
	v.out.Products++
	v.out.Improper = append(v.out.Improper, seen.improper...)
	v.out.Comments += seen.listed.Total()
	return nil
}

// inspectVotes looks at the votes of a comment for the n-th time, and decides whether to look
// again. A vote may still have to be counted.
func (v *verifying) inspectVotes(ctx context.Context, id comment.ID, n int) error {
	wrong, err := call.Retried(ctx, func() (VoteDifference, error) { return CompareVotes(ctx, v.client, v.table, id) })
	if err != nil || wrong.Detail == "" {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if n < verifyLooks {
		v.again = append(v.again, func(ctx context.Context) error { return v.inspectVotes(ctx, id, n+1) })
		return nil
	}
	v.out.Drifts = append(v.out.Drifts, Drift{Product: wrong.Product, Kind: WrongVotes, Detail: wrong.Detail})
	return nil
}

// take keeps the drifts that were found again. It keeps none if all of them only follow from
// others.
func (s *suspect) take(found []Drift) {
	s.looks++
	now, proven := map[Drift]bool{}, false
	for _, d := range found {
		if s.drifts == nil || s.drifts[d] {
			now[d], proven = true, proven || !d.follows
		}
	}
	if s.drifts = now; !proven {
		clear(now)
	}
}
