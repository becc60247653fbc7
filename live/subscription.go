package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
)

// queueSize is how many deliveries may wait for a subscriber: a batch of events comes at once. A
// subscriber that is further behind is dropped, and can resume.
const queueSize = 1000

// Reasons why a subscription ends before its subscriber ends it.
var (
	ErrSlow   = errors.New("events came faster than they were read: subscribe again from the last position")
	ErrBroken = errors.New("the events cannot be read for now: subscribe again from the last position")
)

var errUnavailable = comment.Errorf(comment.Unavailable, "the events cannot be read for now: subscribe again in a moment")

// errMissing is the error of a position before a gap, in which no events were written because
// nobody asked for them.
var errMissing = comment.Errorf(comment.BadInput, "some events since this position were not kept: subscribe to what happens now, and read again what you show")

// Delivery is an event of a comment, or statistics, on its way to one subscriber.
type Delivery struct {
	// Position is the position after it; empty for statistics, which are delivered whole.
	Position string
	value    any
	cache    *cache // nil for a delivery to one subscriber alone
	missed   int64  // the bytes of a missed event
}

const (
	// mostShared bounds the shared answers of a delivery beside the first, in bytes: operations differ
	// as their clients like.
	mostShared = 1 << 20
	// sharedFor is how long they are shared. The delivery waits for the slowest subscriber, and up to
	// queueSize others do.
	sharedFor = 20 * time.Second
)

// cache keeps answers that were built from a delivery, for all subscribers that share them.
type cache struct {
	mu    sync.Mutex
	byKey map[string]any
	bytes int
}

func (c *cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byKey, c.bytes = nil, 0
}

// Once returns the result of build. If build returns its size in bytes, all subscribers with the
// same delivery and key share the result, and build is not called again; with 0, or if there is no
// room for it, they do not.
func (d Delivery) Once(key string, build func() (built any, bytes int)) any {
	if d.cache == nil {
		built, _ := build()
		return built
	}
	d.cache.mu.Lock()
	defer d.cache.mu.Unlock()
	if built, known := d.cache.byKey[key]; known {
		return built
	}
	built, bytes := build()
	if bytes > 0 && (d.cache.byKey == nil || d.cache.bytes+bytes <= mostShared) {
		if d.cache.byKey == nil {
			d.cache.byKey = map[string]any{}
			bytes = 0
			there := weak.Make(d.cache) // the timer does not keep answers that all have
			time.AfterFunc(sharedFor, func() {
				if c := there.Value(); c != nil {
					c.forget()
				}
			})
		}
		d.cache.byKey[key] = built
		d.cache.bytes += bytes
	}
	return built
}

// topic is what subscriptions are to: the comments of a product, or its statistics.
type topic struct {
	product string
	stats   bool
}

// following is the reading of events for all subscribers.
type following struct {
	stop  context.CancelFunc
	ready chan struct{} // closed once events are followed, or err is set
	since time.Time     // set before that: when it began
	err   error
	users int         // guarded by the hub
	idle  *time.Timer // likewise: set while there are no users
}

// Subscription is one subscriber's queue. One goroutine calls Next and Offer.
type Subscription struct {
	leave     func(*Subscription)
	upTo      func(*Subscription) string
	dropped   *atomic.Int64 // of the hub, like waiting
	waiting   *atomic.Int64
	topic     topic
	following *following // guarded by the hub; nil before it joins and after it leaves
	filter    comment.Filter
	from      outbox.Position // events up to here were delivered before

	events chan *comment.Event // one of the two is not nil, by the topic
	counts chan *comment.Statistics

	mu    sync.Mutex // guards what follows
	queue []Delivery
	begun time.Time
	err   error
	wake  chan struct{}
}

// Next waits for the next delivery. The error is ErrSlow, ErrBroken, or that of the context.
func (s *Subscription) Next(ctx context.Context) (Delivery, error) {
	for {
		next, there, err := s.take()
		if there || err != nil {
			return next, err
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return Delivery{}, ctx.Err()
		}
	}
}

func (s *Subscription) take() (next Delivery, there bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 { // also if the subscription has ended
		return Delivery{}, false, s.err
	}
	next, s.queue[0] = s.queue[0], Delivery{} // the array stays in memory
	s.queue = s.queue[1:]
	s.waiting.Add(-next.missed)
	if len(s.queue) == 0 {
		s.queue = nil
	}
	return next, true, nil
}

// Offer puts a delivery into the channel that the resolver returned.
func (s *Subscription) Offer(d Delivery) {
	switch v := d.value.(type) {
	case *comment.Event:
		s.events <- v
	case *comment.Statistics:
		s.counts <- v
	}
}

// Position returns the position up to which the subscriber has received all events; empty if
// deliveries wait, or for statistics. It is for the goroutine that calls Next.
func (s *Subscription) Position() string {
	if s.topic.stats {
		return ""
	}
	return s.upTo(s)
}

// waits reports whether a delivery, or the error that ends the subscription, is still waiting.
func (s *Subscription) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err != nil || len(s.queue) > 0
}

// Close ends the subscription.
func (s *Subscription) Close() { s.leave(s) }

// begin puts deliveries before those that have come meanwhile.
func (s *Subscription) begin(first ...Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue, s.begun = append(first, s.queue...), time.Now()
	if s.err != nil {
		s.drop(s.err)
	}
}

// push adds a delivery. Of statistics, only the first and the latest wait.
func (s *Subscription) push(d Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return
	case s.topic.stats && len(s.queue) > 0 && s.queue[len(s.queue)-1].cache != nil: // not the first
		s.queue[len(s.queue)-1] = d
	case len(s.queue) >= queueSize:
		s.drop(ErrSlow)
	default:
		s.queue = append(s.queue, d)
	}
	s.signal()
}

// end ends the subscription, unless it has ended or is not chosen.
func (s *Subscription) end(err error, chosen func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && chosen() {
		s.drop(err)
		s.signal()
	}
}

// drop ends the subscription without what waits. The caller holds the lock.
func (s *Subscription) drop(err error) {
	for _, d := range s.queue {
		s.waiting.Add(-d.missed)
	}
	if err == ErrSlow && s.err == nil {
		s.dropped.Add(1)
	}
	s.err, s.queue = err, nil
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // a signal is already waiting
	}
}
