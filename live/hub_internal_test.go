package live

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// An abandoned reading that breaks as it is stopped does not end the one that came after.
func TestBrokenOnlyByItself(t *testing.T) {
	h := New(nil, nil, nil, slog.New(slog.DiscardHandler))
	first, next := new(following), new(following)
	s := h.newSubscription(topic{product: "p"})
	h.following, h.topics[s.topic] = next, map[*Subscription]struct{}{s: {}}
	if h.deliver(first, 0, 9, nil, nil, findings{}); h.at != (outbox.Position{}) {
		t.Errorf("it moved others to %s", h.at)
	}
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
		s := h.newSubscription(topic{product: product})
		must.Get(h.join(t.Context(), s))(t)
		there = append(there, s)
	}
	if h.leave(there[0]); len(h.topics[topic{product: "p"}]) != 1 || h.following.users != 2 {
		t.Errorf("of two subscribers of a product and one of another, one left: %d and %d are there", len(h.topics[topic{product: "p"}]), h.following.users)
	}
	for _, s := range there { // one for the second time
		h.leave(s)
	}
	if len(h.topics) != 0 || h.following.users != 0 || h.following.idle == nil {
		t.Errorf("all have left, and there are %d products and %d subscribers", len(h.topics), h.following.users)
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

// Check refuses all positions.
func (*quiet) Check(context.Context, outbox.Position) error { return errMissing }

func (*quiet) Ends(context.Context) (outbox.Position, error) { return outbox.Position{}, nil }

func (q *quiet) Tail(ctx context.Context, _ outbox.Position, _ func(context.Context, int, outbox.Batch) error, _ func(error)) error {
	q.begun.Add(1)
	q.reading.Add(1)
	defer q.reading.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

// Reading events has a cost, so they are read only while there are subscribers, and for a while
// after the last has left.
func TestReadingEndsWithTheLastSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &quiet{}
		h := New(log, nil, nil, slog.New(slog.DiscardHandler))
		defer h.Close()
		comes := func() *Subscription {
			s := h.newSubscription(topic{product: "p"})
			must.Get(h.join(t.Context(), s))(t)
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
	for _, all := range maps.Clone(h.topics) {
		for s := range maps.Clone(all) {
			h.leave(s)
		}
	}
}

// A subscriber that resumes ahead of the hub gets only the events after its position, and no
// position before it. The hub moves on to the end of the batch, though its last event is of nobody.
func TestResumedAheadOfTheHub(t *testing.T) {
	h := New(nil, nil, nil, slog.New(slog.DiscardHandler))
	f := new(following)
	s := h.newSubscription(topic{product: "p"})
	s.events, s.from = make(chan *comment.Event, 1), outbox.Position{7, 9}
	h.following, s.following, h.topics[s.topic] = f, f, map[*Subscription]struct{}{s: {}}
	if at := s.Position(); at != s.from.String() {
		t.Errorf("it starts at %s", at)
	}
	id := comment.ID("c")
	for number := uint64(7); number <= 8; number++ {
		changes := []change{{product: "p", id: id, number: number, at: number, shown: true, edited: true}}
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
	s := h.newSubscription(topic{product: "p"})
	for range queueSize {
		s.push(Delivery{})
	}
	if s.err != nil {
		t.Error("it was dropped too early")
	}
	counts := h.newSubscription(topic{"p", true})
	for range queueSize + 1 {
		counts.push(Delivery{cache: &cache{}})
	}
	if counts.err != nil || len(counts.queue) != 1 {
		t.Errorf("%d statistics wait, %v", len(counts.queue), counts.err)
	}
	s.push(Delivery{})
	s.push(Delivery{})
	if s.err != ErrSlow || len(s.queue) != 0 || h.Dropped() != 1 {
		t.Errorf("%v, %d deliveries wait, %d were dropped", s.err, len(s.queue), h.Dropped())
	}
}

// A subscriber that is refused is not left behind, nor one for which reading panics. Neither does
// the timer of an earlier reading end the one that came after.
func TestRefusedSubscribersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(&quiet{}, nil, nil, slog.New(slog.DiscardHandler))
		defer h.Close()
		if _, err := h.CommentEvents(With(t.Context(), &Inlet{From: "1.0.0.0"}), "p", comment.Filter{}); err == nil {
			t.Error("it is ahead of all events, and was let in")
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = h.Stats(With(t.Context(), &Inlet{}), "p")
			t.Error("there is nothing to read statistics from")
		}()
		if h.following.users != 0 || len(h.topics) != 0 {
			t.Errorf("%d subscribers of %d products are left", h.following.users, len(h.topics))
		}
		f := h.following
		h.broke(f)
		f.stop()
		s := h.newSubscription(topic{product: "p"})
		must.Get(h.join(t.Context(), s))(t)
		time.Sleep(2 * linger)
		if s.Position() == "" {
			t.Error("its reading has ended")
		}
	})
}

// The newest event is told by its time, and only while events are read.
func TestNewest(t *testing.T) {
	h, f := New(nil, nil, nil, slog.New(slog.DiscardHandler)), new(following)
	h.following = f
	newest := time.Now()
	batch := outbox.Batch{Events: []outbox.Event{{At: newest}, {At: newest.Add(-time.Minute)}}}
	if err := h.take(t.Context(), f, 0, batch); err != nil || !h.Newest().Equal(newest) {
		t.Errorf("%v, %v", h.Newest(), err)
	}
	if h.following = nil; !h.Newest().IsZero() {
		t.Errorf("%v, though nobody reads", h.Newest())
	}
}

// bounded reads at most as much at once as its interface says.
type bounded struct{ t *testing.T }

// CommentsByID implements Reader.
func (b bounded) CommentsByID(_ context.Context, ids []comment.ID, _ bool) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
	if len(ids) > 100 {
		b.t.Errorf("%d comments are read at once", len(ids))
	}
	return nil, nil, nil
}

// CurrentStatsOf implements Reader.
func (b bounded) CurrentStatsOf(_ context.Context, products []string) (map[string]comment.Stats, map[string]error, error) {
	if len(products) > 100 {
		b.t.Errorf("statistics of %d products are read at once", len(products))
	}
	return nil, nil, nil
}

// growing has a product with one more comment at each read. The first answer is slow.
type growing struct {
	Reader
	comments atomic.Int32
}

// CurrentStatsOf implements Reader.
func (g *growing) CurrentStatsOf(context.Context, []string) (map[string]comment.Stats, map[string]error, error) {
	n := int(g.comments.Add(1))
	if n == 1 {
		time.Sleep(time.Second)
	}
	return map[string]comment.Stats{"p": {"en": {Counts: [comment.MaxRating]int{n}}}}, nil, nil
}

// The statistics that a subscriber gets last are the latest, though the lanes of the log are read
// side by side.
func TestLatestStatisticsOfTwoLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, &growing{}, func(context.Context) (time.Time, bool) { return time.Time{}, false }, slog.New(slog.DiscardHandler))
		f, s := new(following), h.newSubscription(topic{"p", true})
		h.following, h.topics[s.topic] = f, map[*Subscription]struct{}{s: {}}
		for lane := range 2 {
			go func() {
				batch := outbox.Batch{Events: []outbox.Event{{Kind: outbox.StatisticsChanged, Product: "p"}}}
				if err := h.take(t.Context(), f, lane, batch); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(time.Minute)
		if last, there, err := s.take(); !there || err != nil || last.value.(*comment.Statistics).Total() != 2 {
			t.Errorf("the last statistics are %v, %v", last.value, err)
		}
	})
}

// A rebuild that counts anew what the stream lost says that events are missing. Those who have just
// begun to follow statistics get them once more.
func TestCountedAnewAtTheBeginning(t *testing.T) {
	h := New(nil, &growing{}, func(context.Context) (time.Time, bool) { return time.Time{}, false }, slog.New(slog.DiscardHandler))
	f, s := &following{since: time.Now()}, h.newSubscription(topic{"p", true})
	h.following, h.topics[s.topic] = f, map[*Subscription]struct{}{s: {}}
	if err := h.take(t.Context(), f, 0, outbox.Batch{Missing: true}); err != nil {
		t.Fatal(err)
	}
	if now, there, err := s.take(); !there || err != nil || now.value.(*comment.Statistics).Total() != 1 {
		t.Errorf("the statistics are %v, %v", now.value, err)
	}
}

// Events that cannot be read are missing for those who have just begun, too.
func TestUnreadableEventsAreMissing(t *testing.T) {
	h, f := New(nil, nil, nil, slog.New(slog.DiscardHandler)), &following{since: time.Now()}
	batch := outbox.Batch{Missing: true, Improper: []layout.Improper{{}}}
	if err := h.take(t.Context(), f, 0, batch); !errors.Is(err, errMissing) {
		t.Error(err)
	}
}

// What a batch needs is read whole, by as many calls as it takes.
func TestLargeBatches(t *testing.T) {
	h := New(nil, bounded{t}, func(context.Context) (time.Time, bool) { return time.Time{}, false }, slog.New(slog.DiscardHandler))
	var ids []comment.ID
	var products []string
	for i := range 250 {
		ids, products = append(ids, comment.ID(strconv.Itoa(i))), append(products, strconv.Itoa(i))
	}
	found := findings{map[comment.ID]*comment.Comment{}, map[string]*comment.Statistics{}}
	if err := h.read(t.Context(), ids, products, found); err != nil || len(found.comments) != len(ids) || len(found.counts) != len(ids) {
		t.Errorf("%d comments, the statistics of %d products, %v", len(found.comments), len(found.counts), err)
	}
}

// The events of a batch about one comment are one change, which has all that happened.
func TestChangesOfABatch(t *testing.T) {
	events := []outbox.Event{
		{Kind: outbox.Approved, Comment: "a", Number: 1, Shown: true}, {Kind: outbox.Edited, Comment: "a", Number: 2, WasShown: true},
		{Kind: outbox.Imported, Comment: "b", Number: 3, Shown: true}, {Kind: outbox.Held, Comment: "a", Number: 4},
		{Kind: outbox.StatisticsChanged, Product: "q"}, {Kind: outbox.StatisticsChanged, Product: "p"}, {Kind: outbox.StatisticsChanged, Product: "q"},
	}
	want := change{id: "a", number: 4, cameIn: true, edited: true, left: true, shown: true, since: 1, at: 4}
	if got := changesIn(events); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := countedIn(events); !slices.Equal(got, []string{"p", "q"}) {
		t.Errorf("statistics of %q", got)
	}
}

// Whatever happened, and wherever a client's connection breaks or a batch ends, the client shows in
// the end what is there, and was told of all that came in. Comments are read late: as they are in
// the end.
func TestEventsAddUp(t *testing.T) {
	r, filter := commenttest.Rand(t), comment.Filter{Ratings: []int{5}}
	for range 20_000 {
		now, shows := map[comment.ID]*comment.Comment{}, map[comment.ID]bool{}
		for _, id := range []comment.ID{"a", "b", "c"}[r.IntN(3):] {
			now[id] = &comment.Comment{ID: id, Rating: 1 + 4*r.IntN(2), Status: comment.Status(r.IntN(2))}
			shows[id] = now[id].Status == comment.Approved
		}
		before, told, came := maps.Clone(shows), map[comment.ID]bool{}, map[comment.ID]bool{}
		for id, c := range now {
			told[id] = shows[id] && filter.Allows(*c)
		}
		var events []outbox.Event
		for number := uint64(1); number <= 8; number++ {
			id := slices.Sorted(maps.Keys(now))[r.IntN(len(now))]
			e := outbox.Event{Kind: outbox.Voted, Comment: id, Number: number, WasShown: shows[id], Shown: shows[id]}
			switch r.IntN(4) {
			case 0:
				e.Kind, e.Shown = outbox.Held, false
			case 1:
				e.Kind, e.Shown = outbox.Approved, true
			case 2:
				e.Kind, now[id].Rating = outbox.Edited, 6-now[id].Rating
			}
			events, shows[id] = append(events, e), e.Shown
		}
		for at := uint64(0); at < uint64(len(events)); {
			began, batch := at, events[at:int(at)+1+r.IntN(len(events)-int(at))]
			for _, c := range changesIn(batch) {
				if at = c.at; at <= began {
					t.Fatalf("who got a change is at %d, as before", at)
				}
				seen := now[c.id]
				if !shows[c.id] {
					seen = nil
				}
				if event := c.eventFor(filter, seen); event != nil {
					told[c.id], came[c.id] = event.Kind != comment.Gone, came[c.id] || event.Kind == comment.CameIn
					if r.IntN(2) == 0 {
						batch = nil
						break
					}
				}
			}
			if batch != nil {
				at = batch[len(batch)-1].Number
			}
		}
		for id, c := range now {
			there := shows[id] && filter.Allows(*c)
			if told[id] != there || there && !before[id] && !came[id] {
				t.Fatalf("%s is told as there: %t, as come in: %t, want %t after %+v", id, told[id], came[id], there, events)
			}
		}
	}
}

// That a comment is gone is told to those who follow its dates, whatever else they filter by.
func TestGoneWithinDates(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "p")
	earlier, later := c.CreatedAt(), c.CreatedAt().Add(time.Second)
	for name, row := range map[string]struct {
		filter comment.Filter
		gone   bool
	}{
		"all":         {comment.Filter{}, true},
		"one star":    {comment.Filter{Ratings: []int{1}}, true},
		"its dates":   {comment.Filter{CreatedAfter: &earlier, CreatedBefore: &later}, true},
		"later dates": {comment.Filter{CreatedAfter: &later}, false},
		"before it":   {comment.Filter{CreatedBefore: &earlier}, false},
	} {
		if event := (change{id: c.ID, shown: true}).eventFor(row.filter, nil); (event != nil) != row.gone || event != nil && event.Kind != comment.Gone {
			t.Errorf("%s: %v", name, event)
		}
	}
}
