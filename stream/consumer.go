package stream

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
)

// What a Consumer does when its options are left zero.
const (
	// DefaultPoll asks each shard 4 times a second; AWS allows 5.
	DefaultPoll = 250 * time.Millisecond
	// DefaultBeat is how often heartbeats are sent and leases renewed: how old the time is up to which counts are known to
	// be right, beside what a heartbeat takes to come through.
	DefaultBeat = 2 * time.Second
	// DefaultExpiry outlasts a few failed renewals.
	DefaultExpiry = 12 * time.Second
	// DefaultDiscover is how often all shards are listed; new ones are found earlier, as their parents end.
	DefaultDiscover = 10 * time.Second
)

// Waits after errors double from the first to the longest and are drawn at random from the upper half of their length.
const (
	firstBackoff   = 100 * time.Millisecond
	longestBackoff = 5 * time.Second
	releaseTimeout = 3 * time.Second
)

// Consumer reads a stream, together with other consumers of the same leases. All of them hand over every record at least
// once, those of an item in their order unless they are handed over again. Source, Leases, Journal, Handler and Logger
// have to be given. It can be run again, but not twice at a time.
type Consumer struct {
	// Source is the stream.
	Source Source
	// Leases are shared by all processes that read it, and so is Journal.
	Leases  Leases
	Journal Journal
	// Handler works off the records.
	Handler Handler
	// Logger is told what goes wrong, by positions and keys.
	Logger *slog.Logger
	// OnGap is told of each gap that this process found, after it was recorded; nil for nobody. It is called by several
	// goroutines, which read no further until it returns.
	OnGap func(Gap)

	// Engine names the run of the engine that Leases are kept in, if that tells who is gone: leases that were taken through
	// another run are taken over at once. Empty where engines outlive those who use them, such as on AWS.
	Engine string

	// Poll is the time between two reads of a shard. 0: DefaultPoll.
	Poll time.Duration
	// Beat is the time between two heartbeats, and two writes of a lease, by which it is renewed and progress kept.
	// 0: DefaultBeat.
	Beat time.Duration
	// Expiry is how long a lease has to stay unrenewed until others take it; a few times Beat. 0: DefaultExpiry.
	Expiry time.Duration
	// Discover is the time between two listings of the shards. 0: DefaultDiscover.
	Discover time.Duration

	// owner and random make a run of the simulation repeatable.
	owner  string
	random func(time.Duration) time.Duration

	mu      sync.Mutex
	readers map[string]*reader
	seen    sighted
}

// sighted is what a process saw when it last looked at the leases.
type sighted struct {
	at     time.Time // zero while it does not run
	leases []Lease
	// complete says that the leases are all of their stream, and that no gap is known.
	complete bool
}

// Run reads until the context ends, and then releases its leases and returns nil. It returns an error only when there is
// no stream at the start; all else is tried again for ever.
func (c *Consumer) Run(ctx context.Context) error {
	w := &worker{
		Consumer: c,
		me:       cmp.Or(c.owner, newOwner()),
		poll:     cmp.Or(c.Poll, DefaultPoll),
		beat:     cmp.Or(c.Beat, DefaultBeat),
		expiry:   cmp.Or(c.Expiry, DefaultExpiry),
		discover: cmp.Or(c.Discover, DefaultDiscover),
		wake:     make(chan struct{}, 1),
		random:   mathrand.N[time.Duration],
	}
	if c.random != nil {
		w.random = c.random
	}
	defer c.see(sighted{})
	defer w.stop()
	for failures := 0; ctx.Err() == nil; {
		err := w.turn(ctx)
		if errors.Is(err, ErrNoStream) && w.label == "" {
			return err
		}
		wait := w.spread(w.beat)
		if failures++; err == nil {
			failures = 0
		} else {
			c.report(ctx, failures, err, "what is to be read cannot be looked up")
			wait = w.backoff(failures)
		}
		w.rest(ctx, wait)
	}
	return nil
}

// Status is the leases that this process holds, as far as it has got since they were last written.
func (c *Consumer) Status() []Lease {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := make([]Lease, 0, len(c.readers))
	for _, r := range c.readers {
		status = append(status, r.status())
	}
	slices.SortFunc(status, func(a, b Lease) int { return cmp.Compare(a.Shard, b.Shard) })
	return status
}

// WorkedOff is a time before which every change was worked off, as far as this process knows without a call: from what it
// reads itself, and from its last look at the leases of others, up to a few times Beat ago. It is unknown too while the
// state is not complete, not all shards have leases yet, or the clock of another process is too far ahead. The process must
// be running, and able to look: else current is false.
func (c *Consumer) WorkedOff() (before time.Time, known, current bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen.at.IsZero() || time.Since(c.seen.at) > 3*cmp.Or(c.Beat, DefaultBeat) {
		return time.Time{}, false, false
	}
	leases := slices.Clone(c.seen.leases)
	for i, lease := range leases {
		if r := c.readers[lease.Shard]; r != nil {
			leases[i] = r.status()
		}
	}
	before, known = WorkedOff(leases)
	now := time.Now()
	if !known || !c.seen.complete || before.Sub(now) > clockMargin {
		return time.Time{}, false, true
	}
	if before.After(now) { // by the clock of another process
		before = now
	}
	return before, true, true
}

// see takes note of a look at the leases.
func (c *Consumer) see(now sighted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = now
}

// Drain waits until every change that was committed before the call was worked off, by whichever processes hold the leases.
// It does not read by itself. Errors that pass are waited out, as long as the context lasts.
func (c *Consumer) Drain(ctx context.Context) error {
	var fence Fence
	for {
		leases, err := c.allLeases(ctx)
		switch {
		case err != nil && !passes(err):
			return err
		case err == nil && fence == nil:
			fence = FenceOf(leases)
		case err == nil && fence.Passed(leases):
			return nil
		}
		if err := pause(ctx, cmp.Or(c.Beat, DefaultBeat)/4); err != nil {
			return err
		}
	}
}

// allLeases are the leases of the stream that is read, none when there is none yet.
func (c *Consumer) allLeases(ctx context.Context) ([]Lease, error) {
	state, err := c.Journal.State(ctx)
	if err != nil || state.Label == "" {
		return nil, err
	}
	return c.Leases.List(ctx, state.Label)
}

// report logs an error that is waited out, once for each row of them.
func (c *Consumer) report(ctx context.Context, failures int, err error, what string, args ...any) {
	if failures == 3 && ctx.Err() == nil {
		c.Logger.Warn(what+", and is tried again", append(args, "kind", int(comment.KindOf(err)), "error", err)...)
	}
}

// gap records a gap durably before anyone is told.
func (c *Consumer) gap(ctx context.Context, gap Gap) error {
	if err := recordGap(ctx, c.Journal, gap); err != nil {
		return err
	}
	c.tell(gap)
	return nil
}

func (c *Consumer) tell(gap Gap) {
	c.Logger.Error("what is counted from the stream may be wrong, until everything is counted again",
		"shard", gap.Shard, "reason", gap.Reason)
	if c.OnGap != nil {
		c.OnGap(gap)
	}
}

// newOwner names a process so that no other has the name, and people see which one it is.
func newOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "/" + rand.Text()
}

// backoff is the wait after some failures in a row.
func (w *worker) backoff(failures int) time.Duration {
	longest := min(firstBackoff<<min(failures-1, 16), longestBackoff)
	return longest/2 + w.random(longest/2)
}

// spread keeps processes that started together from staying in step.
func (w *worker) spread(d time.Duration) time.Duration {
	return d - d/8 + w.random(d/4)
}
