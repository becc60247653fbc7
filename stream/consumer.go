package stream

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"os"
	"time"

	"github.com/talkback/talkback/internal/wait"
)

// What a Consumer does when its options are left zero.
const (
	// DefaultPoll asks each shard 4 times a second; AWS allows 5.
	DefaultPoll = 250 * time.Millisecond
	// DefaultHeartbeat is how often heartbeats are sent and leases renewed: how old the time is up to which counts are known to
	// be right, beside what a heartbeat takes to come through.
	DefaultHeartbeat = 2 * time.Second
	// DefaultExpiry outlasts a few failed renewals.
	DefaultExpiry = 12 * time.Second
	// DefaultDiscover is how often all shards are listed; new ones are found earlier, as their parents end.
	DefaultDiscover = 10 * time.Second
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
	// Handler processes the records.
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
	// Heartbeat is the time between two heartbeats, and two writes of a lease, by which it is renewed and progress kept.
	// 0: DefaultHeartbeat.
	Heartbeat time.Duration
	// Expiry is how long a lease has to stay unrenewed until others take it; a few times Heartbeat. 0: DefaultExpiry.
	Expiry time.Duration
	// Discover is the time between two listings of the shards. 0: DefaultDiscover.
	Discover time.Duration

	// owner and random make a run of the simulation repeatable.
	owner  string
	random func(time.Duration) time.Duration

	readers readers
}

// Run reads until the context ends, and then releases its leases and returns nil. It returns an error only when there is
// no stream at the start; all else is retried for ever.
func (c *Consumer) Run(ctx context.Context) error {
	w := &worker{
		shared:   c.shared(),
		readers:  &c.readers,
		engine:   c.Engine,
		discover: cmp.Or(c.Discover, DefaultDiscover),
		wake:     make(chan struct{}, 1),
	}
	defer c.readers.see(sighted{})
	defer w.stop()
	for failures := 0; ctx.Err() == nil; {
		err := w.turn(ctx)
		if errors.Is(err, ErrNoStream) && w.label == "" {
			return err
		}
		wait := w.spread(w.heartbeat)
		if failures++; err == nil {
			failures = 0
		} else {
			w.report(ctx, failures, err, "what is to be read cannot be looked up")
			wait = w.backoff(failures)
		}
		w.rest(ctx, wait)
	}
	return nil
}

// shared are the options of one run.
func (c *Consumer) shared() *shared {
	s := &shared{
		source: c.Source, leases: c.Leases, journal: c.Journal, handler: c.Handler, logger: c.Logger, onGap: c.OnGap,
		me:        cmp.Or(c.owner, newOwner()),
		poll:      cmp.Or(c.Poll, DefaultPoll),
		heartbeat: c.heartbeat(),
		expiry:    cmp.Or(c.Expiry, DefaultExpiry),
		random:    mathrand.N[time.Duration],
	}
	if c.random != nil {
		s.random = c.random
	}
	return s
}

func (c *Consumer) heartbeat() time.Duration { return cmp.Or(c.Heartbeat, DefaultHeartbeat) }

// Status is the leases that this process holds, in the order of their shards, with the progress since they were last
// written.
func (c *Consumer) Status() []Lease { return c.readers.status() }

// ProcessedUpTo is a time before which every change was processed, as far as this process knows without a call: from the
// shards that it reads itself, and from the leases of others, which it read up to a few times Heartbeat ago. known is false
// while the state is not complete, a shard has no lease yet, or the clock of another process is too far ahead. current is
// false unless the process is running and could read the leases lately.
func (c *Consumer) ProcessedUpTo() (before time.Time, known, current bool) {
	return c.readers.processedUpTo(3 * c.heartbeat())
}

// Drain waits until every change that was committed before the call was processed, by whichever processes hold the leases.
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
		if err := wait.For(ctx, c.heartbeat()/4); err != nil {
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

// newOwner names a process so that no other has the name, and people see which one it is.
func newOwner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "/" + rand.Text()
}
