package stream

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"time"
)

// Defaults of a Consumer's options.
const (
	// DefaultPoll reads each shard 4 times a second while it changes; AWS allows 5.
	DefaultPoll = 250 * time.Millisecond
	// DefaultHeartbeat is the time between two heartbeats and between two renewals of a lease. The
	// watermark is up to that old, plus the time that a heartbeat takes through the stream.
	DefaultHeartbeat = 2 * time.Second
	// DefaultExpiry is longer than two failed renewals take. It is short enough that others read on
	// the shards of a killed process within 10 seconds.
	DefaultExpiry = 6 * time.Second
	// defaultDiscover is the time between two listings of all shards. New shards are found earlier,
	// when their parents end.
	defaultDiscover = 10 * time.Second
)

// ReadsPerSecond estimates how often a Consumer with default options reads a shard, given how many
// changes the shard has a second. They are taken to come at random (Poisson). Leases and heartbeats
// are no changes.
func ReadsPerSecond(changes float64) float64 {
	// At rest: two to see each heartbeat, and one in the pause before the next.
	atRest := 3 / DefaultHeartbeat.Seconds()
	busy := 1 - math.Exp(-changes*restAfter.Seconds())
	return busy/DefaultPoll.Seconds() + (1-busy)*atRest
}

// Consumer reads a stream together with other consumers that share its leases. Together they pass
// every record to a handler at least once. The records of an item are passed in order, except those
// that are passed again. Source, Leases, Journal, Handler and Logger are required. A Consumer can
// be run again, but only once at a time.
type Consumer struct {
	Source Source
	// Leases and Journal are shared by all processes that read the stream.
	Leases  Leases
	Journal Journal
	Handler Handler
	// Logger logs failures, with positions and keys.
	Logger *slog.Logger
	// OnGap, unless nil, is called for each gap that this process found, after the gap is recorded.
	// It is called by several goroutines, which read no further until it returns.
	OnGap func(Gap)
	// Observer observes the Consumer; nil for none.
	Observer Observer

	// Engine identifies the run of the local engine that stores the leases. Leases from an earlier
	// run are taken over at once. It is empty where engines outlive their clients, as on AWS.
	Engine string

	// Poll is the time between two reads of a shard that changes; 0 is DefaultPoll. A shard at rest
	// is read at least every 4 times Poll.
	Poll time.Duration
	// Heartbeat is the time between two heartbeats, and between two writes of a lease, which renew
	// it and save its progress. 0 is DefaultHeartbeat.
	Heartbeat time.Duration
	// Expiry is how long a lease may stay unrenewed before other processes take it: a few times
	// Heartbeat. 0 is DefaultExpiry.
	Expiry time.Duration
	// Discover is the time between two listings of the shards; 0 is defaultDiscover.
	Discover time.Duration

	// owner and random make a simulation repeatable.
	owner  string
	random func(time.Duration) time.Duration

	readers readers
}

// Run reads until the context ends, then releases its leases and returns nil. It returns an error
// only when the table has no stream at the start. All other errors are retried without limit.
func (c *Consumer) Run(ctx context.Context) error {
	w := &worker{
		shared:   c.shared(),
		readers:  &c.readers,
		engine:   c.Engine,
		discover: cmp.Or(c.Discover, defaultDiscover),
		wake:     make(chan struct{}, 1),
	}
	defer c.readers.see(sighted{})
	defer w.stop()
	for failures := 0; ctx.Err() == nil; {
		err := w.turn(ctx)
		if errors.Is(err, ErrNoStream) && w.label == "" {
			return err
		}
		wait := min(w.spread(w.heartbeat), w.expires)
		if failures++; err == nil {
			failures = 0
		} else {
			w.report(ctx, failures, err, "the shards to read cannot be looked up")
			wait = w.backoff(failures)
		}
		select {
		case <-ctx.Done():
		case <-w.wake:
		case <-time.After(wait):
		}
	}
	return nil
}

// shared returns the options of one run.
func (c *Consumer) shared() *shared {
	s := &shared{
		losses: losses{c.Journal, c.Logger, c.Observer}, source: c.Source, leases: c.Leases, onGap: c.OnGap, number: c.readers.number,
		me:        c.owner,
		poll:      cmp.Or(c.Poll, DefaultPoll),
		heartbeat: c.heartbeat(),
		expiry:    cmp.Or(c.Expiry, DefaultExpiry),
		random:    mathrand.N[time.Duration],
	}
	if c.random != nil {
		s.random = c.random
	}
	if c.Observer == nil {
		s.observer = unobserved{}
	}
	s.handler = observed(c.Handler, s.observer)
	if s.me == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "unknown"
		}
		s.me = host + "/" + rand.Text() // unique, and recognizable to people
	}
	return s
}

func (c *Consumer) heartbeat() time.Duration { return cmp.Or(c.Heartbeat, DefaultHeartbeat) }

// Status returns the leases that this process holds, in the order of their shards. Each includes
// the progress since it was last written.
func (c *Consumer) Status() []Lease {
	status := []Lease{}
	for _, r := range c.readers.held() {
		status = append(status, r.status())
	}
	slices.SortFunc(status, func(a, b Lease) int { return cmp.Compare(a.Shard, b.Shard) })
	return status
}

// recent reports whether the leases were read at most a few times Heartbeat ago. The caller holds
// the lock of the readers.
func (c *Consumer) recent() bool {
	return time.Since(c.readers.seen.at) <= 3*c.heartbeat()
}

// SawGap reports whether the state was not complete, a few times Heartbeat ago at most.
func (c *Consumer) SawGap() bool {
	c.readers.mu.Lock()
	defer c.readers.mu.Unlock()
	return c.recent() && !c.readers.seen.complete
}

// ProcessedUpTo returns the watermark without a call: a time before which every change was
// processed. It combines the shards that this process reads with the leases of other processes,
// read up to a few times Heartbeat ago. known is false while the state is not complete, a shard has
// no lease yet, or the clock of another process is too far ahead. current is false unless the
// process runs and has recently read the leases.
//
// A shard that ended since then still counts with its watermark, because the leases of its
// children, which begin with it, were not read yet.
func (c *Consumer) ProcessedUpTo() (before time.Time, known, current bool) {
	rs := &c.readers
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if !c.recent() {
		return time.Time{}, false, false
	}
	leases := slices.Clone(rs.seen.leases)
	for i, lease := range leases {
		if r := rs.byShard[lease.Shard]; r != nil {
			leases[i] = r.status()
			leases[i].Ended = lease.Ended
		}
	}
	before, known = ProcessedUpTo(leases)
	now := time.Now()
	if !known || !rs.seen.complete || before.Sub(now) > clockMargin {
		return time.Time{}, false, true
	}
	if before.After(now) { // by the clock of another process
		before = now
	}
	return before, true, true
}

// Follows reports whether this process alone reads all shards. If so, its Handler has received
// every change committed between since and upTo. It makes no call, like ProcessedUpTo. When a shard
// splits, since begins anew.
func (c *Consumer) Follows() (since, upTo time.Time, ok bool) {
	rs := &c.readers
	rs.mu.Lock()
	defer rs.mu.Unlock()
	now := time.Now()
	if !c.recent() || !rs.seen.complete {
		return since, upTo, false
	}
	for _, lease := range rs.seen.leases {
		if lease.Ended {
			continue
		}
		r := rs.byShard[lease.Shard]
		if r == nil {
			return since, upTo, false
		}
		caughtUp := r.status().CaughtUp
		if caughtUp.IsZero() || caughtUp.Sub(now) > clockMargin {
			return since, upTo, false
		}
		if upTo.IsZero() || caughtUp.Before(upTo) {
			upTo = caughtUp
		}
		if r.since.After(since) {
			since = r.since
		}
	}
	return since, upTo, !upTo.IsZero()
}
