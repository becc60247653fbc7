package stream

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

const releaseTimeout = 3 * time.Second

// reader reads one shard for as long as it holds the lease.
type reader struct {
	*shared
	label string
	leave context.CancelFunc
	since time.Time // when the reader began to read
	// sent receives a value when a heartbeat of this reader was sent, heard when one came through.
	sent, heard chan struct{}

	// The fields below belong to the reading goroutine. pending has the records that were read,
	// from the first unprocessed one on. atEnd is whether no record follows them. stuck is whether
	// delivery as a whole failed, so that no more records are read. changed is when records of more
	// than leases and heartbeats were last read, or when the reader began.
	iterator string
	pending  []pendingRecord
	atEnd    bool
	stuck    bool
	changed  time.Time

	mu       sync.Mutex
	progress progress
	clock    steps
}

// pendingRecord is a record that was read. It may be processed although an earlier one waits.
type pendingRecord struct {
	Record
	heartbeat *Heartbeat // nil if it has none
	processed bool
}

// Records that wait take some kilobytes of memory each. A shard with as many as it may have is read
// no further.
const (
	mostWaiting   = 4000        // of a shard
	mostOfProcess = 32_000      // of all shards that a process reads, shared out evenly
	longestWait   = time.Second // between reads while records wait
)

// A shard without changes for restAfter is at rest, and is read restPolls times less often, except
// while a heartbeat is under way. AWS bills each read of a stream.
const (
	restAfter = 10 * time.Second
	restPolls = 4
)

// began is when the program began. Times since then use the monotonic clock.
var began = time.Now()

// current returns the progress by the current setting of the clock. The caller holds the lock.
func (r *reader) current() progress {
	now := time.Now()
	r.progress = r.progress.setBack(r.clock.back(now.Round(0), now.Sub(began)))
	return r.progress
}

// run reads until the shard or the context ends, and then releases the lease. Another goroutine
// renews the lease meanwhile, so that a slow handler does not lose it.
func (r *reader) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	lost := make(chan bool, 1)
	go func() {
		lost <- r.keep(ctx)
		cancel()
	}()
	ended := r.read(ctx)
	cancel()
	if <-lost {
		r.logger.Info("another process has taken over a shard", "shard", r.status().Shard)
		return
	}
	releasing, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	err := r.write(releasing, func(lease Lease) Lease {
		lease.Owner, lease.Ended = "", ended
		return lease
	})
	if err != nil { // then a successor has to wait until the lease expires
		r.logger.Warn("a lease was not released", "shard", r.status().Shard, "kind", int(comment.KindOf(err)), "error", err)
	}
}

// keep sends heartbeats and renews the lease; slow calls shorten the pauses. It returns when the
// context ends, or with lost set once another process took the lease.
func (r *reader) keep(ctx context.Context) (lost bool) {
	for unsent, failures := 0, 0; ; {
		started := time.Now()
		r.note(ctx, &unsent, r.sendHeartbeat(ctx), "a heartbeat cannot be sent through the stream")
		err := r.write(ctx, func(lease Lease) Lease { return lease })
		if comment.KindOf(err) == comment.Conflict {
			return true
		}
		r.note(ctx, &failures, err, "a lease cannot be renewed")
		if task.Wait(ctx, r.spread(r.heartbeat)-time.Since(started)) != nil {
			return false
		}
	}
}

// note counts failures in a row, and reports them.
func (r *reader) note(ctx context.Context, failures *int, err error, what string) {
	if *failures++; err == nil {
		*failures = 0
	}
	r.report(ctx, *failures, err, what, "shard", r.status().Shard)
}

// write writes the progress and a change into the lease. It resolves a conflict with its own
// earlier write, whose answer was lost.
func (r *reader) write(ctx context.Context, change func(Lease) Lease) error {
	for {
		old := r.status()
		next := old
		next.Counter++
		next = change(next)
		err := r.leases.Swap(ctx, r.label, old, next)
		if comment.KindOf(err) == comment.Conflict {
			leases, failed := r.leases.List(ctx, r.label)
			if failed != nil {
				return failed
			}
			own := slices.IndexFunc(leases, func(lease Lease) bool {
				return lease.Shard == old.Shard && lease.Owner == r.me && lease.Counter == old.Counter+1
			})
			if own >= 0 {
				r.advance(func(p progress) progress { p.Counter = leases[own].Counter; return p })
				continue
			}
		}
		if err == nil {
			r.advance(func(p progress) progress {
				p.Owner, p.Ended, p.Counter = next.Owner, next.Ended, next.Counter
				return p
			})
		}
		return err
	}
}

// read reads until the context ends. It returns true once it has reached the end of the shard.
func (r *reader) read(ctx context.Context) (ended bool) {
	for failures := 0; ctx.Err() == nil; {
		started := time.Now()
		ended, err := r.step(ctx)
		if ended {
			return true
		}
		rest := r.poll - time.Since(started)
		if failures++; err == nil {
			failures = 0
		} else {
			what := "a shard cannot be read on"
			if rest = r.backoff(failures); !r.stuck {
				rest, what = min(rest, longestWait), "a shard has records that wait"
			}
			r.report(ctx, failures, err, what, "shard", r.status().Shard)
		}
		if err == nil && r.atRest() {
			select {
			case <-ctx.Done():
			case <-time.After(restPolls*r.poll - time.Since(started)):
				continue
			case <-r.sent:
				rest = r.poll / 2 // the stream shows the heartbeat a moment later
			}
		}
		if task.Wait(ctx, rest) != nil {
			return false
		}
	}
	return false
}

// atRest reports whether the shard has had no change for a while, and neither old records nor a
// heartbeat are to come soon.
func (r *reader) atRest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.changed) > restAfter && !r.progress.awaited && !r.progress.behind
}

// step reads once and passes the records to the handler. It checks whether records may have been
// dropped unread, which not every engine reports.
func (r *reader) step(ctx context.Context) (ended bool, err error) {
	lost := false
	r.advance(func(p progress) progress {
		_, lost = p.outOfReach(time.Now())
		return p.intoReach(time.Now()) // unchanged if lost, until the gap is recorded
	})
	if lost {
		if err := r.startOver(ctx, "nobody read the shard for as long as the stream keeps records"); err != nil {
			return false, err
		}
	}
	if !r.stuck && !r.atEnd && len(r.unprocessed()) < min(mostWaiting, mostOfProcess/r.number()) {
		switch err := r.fetch(ctx); {
		case errors.Is(err, ErrTrimmed):
			return false, r.startOver(ctx, "the stream has dropped records that were not read yet")
		case errors.Is(err, ErrExpired):
			r.iterator = ""
			return false, nil
		case err != nil:
			r.iterator = ""
			return false, err
		}
	}
	if err := r.handOver(ctx); err != nil {
		return false, err
	}
	if r.atEnd && len(r.pending) == 0 {
		return r.close(ctx)
	}
	return false, nil
}

// startOver records a gap and then restarts at the oldest record that is left.
func (r *reader) startOver(ctx context.Context, reason string) error {
	if err := r.gap(ctx, Gap{Found: time.Now(), Shard: r.status().Shard, Reason: reason}); err != nil {
		return err
	}
	r.iterator, r.pending, r.atEnd, r.stuck = "", nil, false, false
	r.advance(progress.fromHorizon)
	return nil
}

// fetch reads the next records. Without an iterator it starts after the last record that was read.
func (r *reader) fetch(ctx context.Context) error {
	if r.iterator == "" {
		now := r.status()
		after := now.Checkpoint
		if n := len(r.pending); n > 0 {
			after = r.pending[n-1].Sequence
		}
		iterator, err := r.source.Open(ctx, r.label, now.Shard, after)
		if err != nil {
			return err
		}
		r.iterator = iterator
	}
	batch, err := r.source.Read(ctx, r.label, r.iterator)
	if err != nil {
		return err
	}
	waiting := len(r.pending) > 0
	r.iterator, r.atEnd = batch.Next, batch.Next == ""
	for _, record := range batch.Records {
		p := pendingRecord{Record: record}
		if heartbeat, ok := r.leases.HeartbeatOf(record); ok {
			p.heartbeat = &heartbeat
			r.observer.HeartbeatReceived()
		}
		r.pending = append(r.pending, p)
		if !r.leases.Own(record) {
			r.changed = time.Now()
		}
	}
	behind := waiting || len(batch.Records) > 0 && time.Since(batch.Records[len(batch.Records)-1].Created) > behindAfter
	r.advance(func(p progress) progress { p.behind = behind; return p })
	return nil
}

// unprocessed returns the indexes of pending records that are not processed.
func (r *reader) unprocessed() (at []int) {
	for i, record := range r.pending {
		if !record.processed {
			at = append(at, i)
		}
	}
	return at
}

// handOver passes pending unprocessed records to the handler. The checkpoint moves past a record
// only once it and all before it are processed or dead-lettered.
func (r *reader) handOver(ctx context.Context) error {
	at := r.unprocessed()
	if len(at) == 0 {
		return nil
	}
	records := make([]Record, len(at))
	for i := range at {
		records[i] = r.pending[at[i]].Record
	}
	r.stuck = true
	deadLettered := map[int]bool{} // the counts will lack them
	done, err := Deliver(ctx, r.handler, records, func(i int, reason string) error {
		gap, err := r.deadLetter(ctx, r.status().Shard, records[i], reason)
		if err == nil {
			deadLettered[i] = true
			r.tell(gap)
		}
		return err
	})
	var waiting RecordErrors
	errors.As(err, &waiting)
	deadLetters := 0
	for i := range records {
		processed := i < done || waiting != nil && waiting[i] == nil
		if r.pending[at[i]].processed = processed; processed && deadLettered[i] {
			deadLetters++
		}
	}
	r.pass(deadLetters)
	switch {
	case err == nil, waiting != nil && len(waiting) < len(records):
		r.stuck = false
		return nil
	default:
		r.stuck = waiting == nil || comment.KindOf(err) != comment.Throttled
		return err
	}
}

// pass moves the checkpoint up to the first unprocessed record, and notes the heartbeats on the
// way. It drops records that no checkpoint will need, and heartbeats that a later one makes
// useless.
func (r *reader) pass(deadLetters int) {
	passed := 0
	for passed < len(r.pending) && r.pending[passed].processed {
		passed++
	}
	r.advance(func(p progress) progress {
		if passed == 0 {
			p.DeadLetters += deadLetters
			return p
		}
		return p.through(r.pending[passed-1].Record, deadLetters, time.Now())
	})
	shard := r.status().Shard
	own := func(record pendingRecord) bool {
		return record.heartbeat != nil && record.heartbeat.Label == r.label && record.heartbeat.Shard == shard
	}
	for _, record := range r.pending[:passed] {
		if record.heartbeat == nil {
			continue
		}
		own := own(record)
		r.advance(func(p progress) progress { return p.heard(*record.heartbeat, own).intoReach(time.Now()) })
		if own {
			select {
			case r.heard <- struct{}{}:
			default:
			}
		}
	}
	left := r.pending[passed:]
	r.pending = nil
	later := false // whether a heartbeat of this reader follows, before the next unprocessed record
	for i, record := range slices.Backward(left) {
		switch {
		case !record.processed:
			later = false
		case own(record) && !later:
			later = true
		case i < len(left)-1 && left[i+1].processed:
			continue
		}
		r.pending = append(r.pending, record)
	}
	slices.Reverse(r.pending)
}

// errChildless means that the children of a closed shard are not listed yet.
var errChildless = errors.New("the children of a closed shard are not listed yet")

// close creates the leases of the shard's children. The shard's own lease ends only after that, so
// every unread record is covered by a lease that has not ended. A shard may close a moment before
// its children are listed.
func (r *reader) close(ctx context.Context) (ended bool, err error) {
	listing, err := r.source.Shards(ctx)
	if err != nil || listing.Label != r.label {
		return false, err
	}
	now := r.status()
	for _, shard := range listing.Shards {
		if shard.Parent != now.Shard {
			continue
		}
		err := r.leases.Swap(ctx, r.label, Lease{}, firstLease(shard, now))
		if err != nil && comment.KindOf(err) != comment.Conflict {
			return false, err
		}
		ended = true
	}
	if !ended {
		return false, errChildless
	}
	return true, nil
}

func (r *reader) advance(step func(progress) progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = step(r.current())
}

// status returns the lease with the progress since it was last written.
func (r *reader) status() Lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current().shown()
}

// sendHeartbeat sends a heartbeat for each key that is used or tried. It waits briefly for one to
// come through, so that the next write of the lease is up to date.
func (r *reader) sendHeartbeat(ctx context.Context) error {
	// The lease must be renewed even if the heartbeat fails.
	ctx, cancel := context.WithTimeout(ctx, r.expiry/2)
	defer cancel()
	select {
	case <-r.heard: // an earlier one
	default:
	}
	r.mu.Lock()
	keys := r.progress.nextKeys(func(below int64) int64 { return int64(r.random(time.Duration(below))) })
	r.progress = r.progress.sent()
	heartbeats := make([]Heartbeat, len(keys))
	for i, key := range keys {
		heartbeats[i] = Heartbeat{Key: key, Label: r.label, Shard: r.progress.Shard, Counter: r.progress.Counter, Sent: time.Now()}
	}
	r.mu.Unlock()
	for _, heartbeat := range heartbeats {
		if err := r.leases.SendHeartbeat(ctx, heartbeat); err != nil {
			r.advance(progress.unsent)
			return err
		}
		r.observer.HeartbeatSent()
	}
	select {
	case r.sent <- struct{}{}:
	default:
	}
	select {
	case <-ctx.Done():
	case <-time.After(r.heartbeat / 4):
	case <-r.heard:
	}
	return nil
}
