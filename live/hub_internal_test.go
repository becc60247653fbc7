package live

import (
	"context"
	"log/slog"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
)

// An abandoned reading that breaks as it is stopped does not end the one that came after.
func TestBrokenOnlyByItself(t *testing.T) {
	h := New(nil, nil, nil, slog.New(slog.DiscardHandler))
	first, next := new(following), new(following)
	s := h.newSubscription("p")
	h.following, h.products["p"] = next, map[*Subscription]struct{}{s: {}}
	if h.broke(first); h.following != next || s.waits() {
		t.Error("it ended the reading of others")
	}
	if h.broke(next); h.following != nil || !s.waits() {
		t.Error("its subscription goes on")
	}
}

// Subscribers that have left use no memory: only those present do.
func TestNothingIsLeftBehind(t *testing.T) {
	h := New(nil, nil, nil, slog.New(slog.DiscardHandler))
	h.following = &following{stop: func() {}, ready: make(chan struct{})}
	close(h.following.ready)
	var there []*Subscription
	for _, product := range []string{"p", "p", "q"} {
		s := h.newSubscription(product)
		if _, err := h.join(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		there = append(there, s)
	}
	if h.leave(there[0]); len(h.products["p"]) != 1 || len(h.users) != 2 {
		t.Errorf("of two subscribers of a product and one of another, one left: %d and %d are there", len(h.products["p"]), len(h.users))
	}
	h.leave(there[1])
	h.leave(there[2])
	if len(h.products) != 0 || len(h.users) != 0 || h.following.idle == nil {
		t.Errorf("all have left, and there are %d products and %d subscribers", len(h.products), len(h.users))
	}
	h.Close()
}

// quiet is a log without events.
type quiet struct {
	Log
	reading atomic.Int32 // readings under way
	begun   atomic.Int32 // readings begun in all
}

func (*quiet) Want(context.Context, string, time.Duration) error { return nil }

func (*quiet) Ends(context.Context) (outbox.Position, error) { return outbox.Position{}, nil }

func (q *quiet) Tail(ctx context.Context, _ outbox.Position, _ func(context.Context, int, outbox.Batch) error, _ func(error)) error {
	q.begun.Add(1)
	q.reading.Add(1)
	defer q.reading.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

// Reading events has a cost, so they are read only while there are subscribers, and for a while after the last has
// left.
func TestReadingEndsWithTheLastSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &quiet{}
		h := New(log, nil, nil, slog.New(slog.DiscardHandler))
		defer h.Close()
		comes := func() *Subscription {
			s := h.newSubscription("p")
			if _, err := h.join(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			return s
		}
		for _, step := range []struct {
			why            string
			do             func()
			reading, begun int32
		}{
			{"nobody was there", func() {}, 0, 0},
			{"one comes and goes", func() { h.leave(comes()) }, 1, 1},
			{"another comes in time and stays", func() { time.Sleep(linger - time.Second); comes(); time.Sleep(2 * linger) }, 1, 1},
			{"all have left for long", func() { leaveAll(h); time.Sleep(linger + time.Second) }, 0, 1},
			{"one comes again", func() { comes() }, 1, 2},
		} {
			step.do()
			synctest.Wait()
			if reading, begun := log.reading.Load(), log.begun.Load(); reading != step.reading || begun != step.begun {
				t.Errorf("%s: %d readings of %d, want %d of %d", step.why, reading, begun, step.reading, step.begun)
			}
		}
	})
}

func leaveAll(h *Hub) {
	for s := range maps.Clone(h.users) {
		h.leave(s)
	}
}

// A subscriber that resumes ahead of the hub gets only the events after its position, and no
// position before it. The hub moves on to the end of the batch, though its last event is of nobody.
func TestResumedAheadOfTheHub(t *testing.T) {
	h := New(nil, nil, nil, slog.New(slog.DiscardHandler))
	f := new(following)
	s := h.newSubscription("p")
	s.events, s.from = make(chan *comment.Event, 1), outbox.Position{7, 9}
	h.following, h.users[s], h.products["p"] = f, f, map[*Subscription]struct{}{s: {}}
	if at := s.Position(); at != s.from.String() {
		t.Errorf("it starts at %s", at)
	}
	id := comment.ID("c")
	for number := uint64(7); number <= 8; number++ {
		changes := []change{{product: "p", id: id, number: number, shown: true, edited: true}}
		h.deliver(f, 0, number+2, changes, nil, findings{comments: map[comment.ID]*comment.Comment{id: {ID: id}}})
	}
	if len(s.queue) != 1 || s.queue[0].Position != (outbox.Position{8, 9}).String() {
		t.Errorf("it got %v", s.queue)
	}
	if h.at != (outbox.Position{10}) {
		t.Errorf("the hub is at %s", h.at)
	}
}

// A subscriber is dropped at the first delivery beyond its queue, and keeps the reason.
func TestFullQueues(t *testing.T) {
	h := New(nil, nil, nil, slog.New(slog.DiscardHandler))
	s := h.newSubscription("p")
	for range queueSize {
		s.push(Delivery{})
	}
	if s.err != nil {
		t.Error("it was dropped too early")
	}
	s.push(Delivery{})
	s.push(Delivery{})
	if s.err != ErrSlow || len(s.queue) != 0 || h.Dropped() != 1 {
		t.Errorf("%v, %d deliveries wait, %d were dropped", s.err, len(s.queue), h.Dropped())
	}
}
