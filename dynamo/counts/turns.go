package counts

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// The comments of one product come through all shards of the stream. If the reader of each shard
// wrote the product's statistics, all but one would fail and try again. So the calls of Handle in a
// process take turns at a product, and a turn counts the product's changes from all of these calls.
// A product that is throttled, or that other processes write too, gets fewer turns. Other products
// do not wait for it.

// Patience is how long Handle should wait for a product if records of other products wait behind
// it.
const Patience = 500 * time.Millisecond

// The wait after a failed turn doubles, from the first to the longest, and halves after one that
// succeeded. Each wait is drawn at random up to its full length.
const (
	turnFirstWait   = 50 * time.Millisecond
	turnLongestWait = 5 * time.Second
	// turnDoublings is how many doublings lead from the first wait to the longest.
	turnDoublings = 7
)

// mostQueues is the number of queues above which idle ones are dropped.
const mostQueues = 1000

// errWaits is for changes of a product that could not be counted in time.
var errWaits = comment.Errorf(comment.Throttled, "a product is changed more often than it can be counted; try again")

// turns coordinates the calls of Handle that count the same products.
type turns struct {
	mu     sync.Mutex
	queues map[string]*queue // by product
	swept  time.Time         // when idle queues were last dropped
}

// queue has the changes of a product that calls of Handle have to count.
type queue struct {
	shares []*share // the oldest first
	// taken is closed when the current turn ends; nil if no call has the turn.
	taken chan struct{}
	// failures is how often the wait has doubled, and due is when it ends.
	failures int
	due      time.Time
}

// share is the part of a turn that one change takes.
type share struct {
	standing
	record int // the index of the change's record
	done   bool
	err    error // why the change cannot be counted
}

// turn has the changes that one call of Handle counts at once.
type turn struct {
	shares map[string][]*share // by product
	work   workload
	// apart is whether an earlier turn at one of the products failed.
	apart bool
}

// join queues changes, and returns their shares by product.
func (t *turns) join(changes []Change) map[string][]*share {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queues) > mostQueues && time.Since(t.swept) > turnLongestWait {
		t.swept = time.Now()
		maps.DeleteFunc(t.queues, func(_ string, q *queue) bool {
			return len(q.shares) == 0 && q.taken == nil && time.Since(q.due) > turnLongestWait
		})
	}
	shares := map[string][]*share{}
	for _, c := range changes {
		q := t.queues[c.Product]
		if q == nil {
			q = &queue{}
			t.queues[c.Product] = q
		}
		s := &share{standing: standing{ID: c.ID, Cell: c.After, position: c.Position}, record: c.record}
		q.shares, shares[c.Product] = append(q.shares, s), append(shares[c.Product], s)
	}
	return shares
}

// begin takes the turn at the products of undone shares that are due and whose turn no other call
// has. left reports whether there are undone shares. Without a turn the caller waits: busy is
// closed when another call's turn at one of the products ends, and one is due after wait.
func (t *turns) begin(shares map[string][]*share) (now turn, left bool, busy <-chan struct{}, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now, wait = turn{shares: map[string][]*share{}, work: workload{}}, turnLongestWait
	for product, own := range shares {
		if !slices.ContainsFunc(own, func(s *share) bool { return !s.done }) {
			continue
		}
		left = true
		q := t.queues[product]
		if q.taken != nil {
			busy = q.taken
			continue
		}
		if early := time.Until(q.due); early > 0 {
			wait = min(wait, early)
			continue
		}
		q.taken = make(chan struct{})
		now.apart = now.apart || q.failures > 0
		now.shares[product] = slices.Clone(q.shares[:min(len(q.shares), MostTogether)])
		for _, s := range now.shares[product] {
			now.work.add(product, s.standing)
		}
	}
	return now, left, busy, wait
}

// end ends a turn. Changes that an error left uncounted stay queued.
func (t *turns) end(now turn, refused refusals, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for product, shares := range now.shares {
		q, left := t.queues[product], now.work[product]
		for _, s := range shares {
			s.done = !slices.ContainsFunc(left, func(l standing) bool { return l.ID == s.ID })
			s.err = refused[productComment{product, s.ID}]
		}
		if q.failures = max(0, q.failures-1); len(left) > 0 {
			if comment.KindOf(err) == comment.Throttled {
				q.failures = min(q.failures+2, turnDoublings)
			}
			q.due = time.Now().Add(rand.N(min(turnFirstWait<<q.failures, turnLongestWait)))
		}
		close(q.taken)
		q.taken = nil
		t.drop(product)
	}
}

// leave removes shares from their queues. It adds refused shares to failed, and undone ones with
// the reason why.
func (t *turns) leave(shares map[string][]*share, why error, failed stream.RecordErrors) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for product, own := range shares {
		for _, s := range own {
			if !s.done {
				s.done, s.err = true, why
			}
			if s.err != nil {
				failed[s.record] = fmt.Errorf("record %s: %w", s.position, s.err)
			}
		}
		t.drop(product)
	}
}

// drop removes shares that are done, and the queue if it is empty, idle and without failures. The
// caller holds the lock.
func (t *turns) drop(product string) {
	q := t.queues[product]
	if q == nil {
		return
	}
	q.shares = slices.DeleteFunc(q.shares, func(s *share) bool { return s.done })
	if len(q.shares) == 0 && q.taken == nil && q.failures == 0 {
		delete(t.queues, product)
	}
}

// MostTogether is how many comments of one product are counted at once: as many as can fit into one
// transaction.
const MostTogether = maxItemsPerTransaction - 2

// productComment is a comment of a product.
type productComment struct {
	product string
	id      comment.ID
}

// refusals maps comments that cannot be counted to the reasons.
type refusals map[productComment]error

// workload has the standings still to be counted, by product.
type workload map[string][]standing

// add adds a standing, which replaces an earlier one of the same comment.
func (w workload) add(product string, s standing) {
	if i := slices.IndexFunc(w[product], func(there standing) bool { return there.ID == s.ID }); i >= 0 {
		earlier := w[product][i]
		if earlier.position > s.position { // from a reader that fell behind
			earlier, s = s, earlier
		}
		s.moved = s.moved || earlier.moved || !sameCell(earlier.Cell, s.Cell)
		w[product][i] = s
		return
	}
	w[product] = append(w[product], s)
}

// done drops the first standings of a product.
func (w workload) done(product string, standings int) {
	if w[product] = w[product][standings:]; len(w[product]) == 0 {
		delete(w, product)
	}
}
