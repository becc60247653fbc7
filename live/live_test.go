package live_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/live"
)

// table is a table with its event log, in memory. All its lanes are read at once.
type table struct {
	r        *rand.Rand
	mu       sync.Mutex
	lanes    [outbox.Lanes][]outbox.Event
	more     chan struct{} // closed when there are more events
	gone     bool
	missing  bool // events that were not kept are missing
	broken   error
	comments map[comment.ID]comment.Comment
	reads    int // of comments and statistics
	wants    int
}

func newTable(t *testing.T) *table {
	return &table{r: commenttest.Rand(t), more: make(chan struct{}), comments: map[comment.ID]comment.Comment{}}
}

// happens appends an event, and changes the comment that the event is about.
func (b *table) happens(kind outbox.Kind, c comment.Comment, wasShown, shown bool) {
	b.happen(step{kind, c, wasShown, shown})
}

// step is an event, and the comment after it.
type step struct {
	kind            outbox.Kind
	now             comment.Comment
	wasShown, shown bool
}

// happen appends events that are read at once.
func (b *table) happen(steps ...step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range steps {
		c, lane := s.now, outbox.LaneOf(s.now.ID)
		b.comments[c.ID] = c
		b.lanes[lane] = append(b.lanes[lane], outbox.Event{
			Kind: s.kind, Product: c.ProductID, Comment: c.ID, WasShown: s.wasShown, Shown: s.shown, Number: uint64(len(b.lanes[lane]) + 1),
		})
	}
	close(b.more)
	b.more = make(chan struct{})
}

func (b *table) Want(context.Context, string, time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wants++
	return b.broken
}

func (b *table) Ends(context.Context) (p outbox.Position, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, lane := range b.lanes {
		p[i] = uint64(len(lane))
	}
	return p, nil
}

func (b *table) Check(ctx context.Context, p outbox.Position) error {
	ends, err := b.Ends(ctx)
	for i := range p {
		if p[i] > ends[i] {
			return comment.Errorf(comment.BadInput, "this position is later than all events")
		}
	}
	return err
}

func (b *table) Read(_ context.Context, lane int, after uint64, limit int) (outbox.Batch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return outbox.Batch{}, outbox.ErrGone
	}
	events := b.lanes[lane][after:]
	events = events[:min(len(events), limit)]
	return outbox.Batch{Events: events, Last: after + uint64(len(events)), Missing: b.missing}, nil
}

func (b *table) Tail(ctx context.Context, from outbox.Position, each func(context.Context, int, outbox.Batch) error, _ func(error)) error {
	for {
		b.mu.Lock()
		more := b.more
		b.mu.Unlock()
		for lane := range from {
			batch, err := b.Read(ctx, lane, from[lane], 3)
			if err != nil {
				return err
			}
			if batch.Last == from[lane] {
				continue
			}
			if err := each(ctx, lane, batch); err != nil {
				return err
			}
			from[lane] = batch.Last
		}
		b.mu.Lock()
		behind := more != b.more
		b.mu.Unlock()
		ends, _ := b.Ends(ctx)
		if behind || ends != from {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil
		}
	}
}

func (b *table) CommentsByID(_ context.Context, ids []comment.ID, _ bool) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads += len(ids)
	out := map[comment.ID]comment.Comment{}
	for _, id := range ids {
		if c, there := b.comments[id]; there && c.Version > 0 {
			out[id] = c
		}
	}
	return out, nil, nil
}

func (b *table) CurrentStatsOf(_ context.Context, products []string) (map[string]comment.Stats, map[string]error, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads += len(products)
	out := map[string]comment.Stats{}
	for _, product := range products {
		stats := comment.Stats{}
		for _, c := range b.comments {
			if c.ProductID == product {
				stats.Add(c.Cell(), 1)
			}
		}
		out[product] = stats
	}
	return out, nil, nil
}

// store is what a hub reads.
type store interface {
	live.Log
	live.Reader
}

// unknown is up to when statistics are complete.
func unknown(context.Context) (upTo time.Time, known bool) { return upTo, false }

func newHub(t *testing.T, b store) *live.Hub {
	hub := live.New(b, b, unknown, slog.New(slog.DiscardHandler))
	t.Cleanup(hub.Close)
	return hub
}

// subscriber is a subscription with the channel of its resolver.
type subscriber struct {
	*live.Subscription
	events <-chan *comment.Event
}

func follow(t *testing.T, hub *live.Hub, product string, filter comment.Filter, from string) (subscriber, error) {
	t.Helper()
	inlet := &live.Inlet{From: from}
	events, err := hub.CommentEvents(live.With(t.Context(), inlet), product, filter)
	return subscriber{inlet.Subscription, events}, err
}

// next returns the next event, and the position after it.
func (s subscriber) next(t *testing.T) (*comment.Event, string) {
	t.Helper()
	d := must.Get(s.Next(t.Context()))(t)
	s.Offer(d)
	return <-s.events, d.Position
}

// counter is a subscription to statistics.
type counter struct {
	*live.Subscription
	counts <-chan *comment.Statistics
}

func count(t *testing.T, hub *live.Hub, product string) (counter, error) {
	t.Helper()
	inlet := &live.Inlet{From: "none, since statistics are delivered whole"}
	counts, err := hub.Stats(live.With(t.Context(), inlet), product)
	return counter{inlet.Subscription, counts}, err
}

// next returns the next statistics, which have no position.
func (s counter) next(t *testing.T) *comment.Statistics {
	t.Helper()
	d := must.Get(s.Next(t.Context()))(t)
	if d.Position != "" {
		t.Errorf("statistics have the position %q", d.Position)
	}
	s.Offer(d)
	return <-s.counts
}

func (b *table) random(product string) comment.Comment {
	c := commenttest.Random(b.r, product)
	c.Status, c.Rating, c.Moderation = comment.Approved, 5, nil
	return c
}

// The events of each kind of change, for a subscriber to all comments and for one to comments with
// one star.
func TestEvents(t *testing.T) {
	b := newTable(t)
	c := b.random("p")
	c.Moderation = &comment.Moderation{Reports: 1} // which subscribers do not get
	held, none, one := c, c, c
	held.Status, none.Version, one.Rating = comment.Pending, 0, 1
	last := b.random("p")
	for last.ID == c.ID || outbox.LaneOf(last.ID) != outbox.LaneOf(c.ID) { // lanes have no order between them
		last = b.random("p")
	}
	last.Rating = 1
	for name, row := range map[string]struct {
		steps        []step
		all, oneStar comment.EventKind
	}{
		"added":                       {[]step{{outbox.Added, c, false, true}}, comment.CameIn, ""},
		"added and waits":             {[]step{{outbox.Added, held, false, false}}, "", ""},
		"approved":                    {[]step{{outbox.Approved, c, false, true}}, comment.CameIn, ""},
		"approved and deleted since":  {[]step{{outbox.Approved, none, false, true}}, comment.Gone, comment.Gone},
		"edited":                      {[]step{{outbox.Edited, c, true, true}}, comment.Changed, comment.Gone},
		"edited to one star":          {[]step{{outbox.Edited, one, true, true}}, comment.Changed, comment.Changed},
		"edited while it waits":       {[]step{{outbox.Edited, held, false, false}}, "", ""},
		"voted":                       {[]step{{outbox.Voted, c, true, true}}, comment.Changed, ""},
		"reported":                    {[]step{{outbox.Reported, c, true, true}}, "", ""},
		"held":                        {[]step{{outbox.Held, held, true, false}}, comment.Gone, comment.Gone},
		"rejected, never shown":       {[]step{{outbox.Rejected, held, false, false}}, "", ""},
		"deleted":                     {[]step{{outbox.Deleted, none, true, false}}, comment.Gone, comment.Gone},
		"deleted, never shown":        {[]step{{outbox.Deleted, none, false, false}}, "", ""},
		"its product is counted anew": {[]step{{outbox.StatisticsChanged, c, true, true}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			hub := newHub(t, b)
			for _, want := range []struct {
				filter comment.Filter
				kind   comment.EventKind
			}{{comment.Filter{}, row.all}, {comment.Filter{Ratings: []int{1}}, row.oneStar}} {
				s := must.Get(follow(t, hub, "p", want.filter, ""))(t)
				for _, step := range row.steps {
					b.happens(step.kind, step.now, step.wasShown, step.shown)
				}
				b.happens(outbox.Added, last, false, true)
				event, _ := s.next(t)
				for want.kind == "" && event.CommentID == c.ID || want.kind != "" && event.CommentID != c.ID {
					t.Fatalf("%v to a follower of %v", event, want.filter)
				}
				if event.Comment != nil && event.Comment.Moderation != nil {
					t.Errorf("a subscriber gets %+v", event.Comment.Moderation)
				}
				if want.kind != "" && (event.Kind != want.kind || (event.Comment == nil) != (want.kind == comment.Gone)) {
					t.Errorf("%v instead of %v to a follower of %v", event, want.kind, want.filter)
				}
				s.Close()
			}
		})
	}
}

// The data of an event is read once, however many subscribers the product has. Each answer is built
// once for all subscribers that want the same. Events of other products are not read at all.
func TestOneReadForAll(t *testing.T) {
	b := newTable(t)
	hub := newHub(t, b)
	var all []subscriber
	for range 2000 {
		s := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
		all = append(all, s)
	}
	b.happens(outbox.Added, b.random("another"), false, true)
	b.happens(outbox.Added, b.random("p"), false, true)
	built, own := 0, 0
	for _, s := range all {
		d := must.Get(s.Next(t.Context()))(t)
		d.Once("the same", func() (any, int) { built++; return "", 1 })
		d.Once("to each its own", func() (any, int) { own++; return "", 0 })
	}
	if b.reads != 1 || built != 1 || own != len(all) || b.wants != 1 {
		t.Errorf("%d reads, %d built, wanted %d times", b.reads, built, b.wants)
	}
}

// Answers that differ are shared while there is room for them. The first always is: most
// subscribers want the same. None is kept for a subscriber that is far behind.
func TestSharedAnswersHaveABound(t *testing.T) { synctest.Test(t, sharedAnswersHaveABound) }

func sharedAnswersHaveABound(t *testing.T) {
	b := newTable(t)
	s := must.Get(follow(t, newHub(t, b), "p", comment.Filter{}, ""))(t)
	b.happens(outbox.Added, b.random("p"), false, true)
	d := must.Get(s.Next(t.Context()))(t)
	sizes, built := []int{8 << 20, 400 << 10, 400 << 10, 400 << 10, 200 << 10}, make([]int, 5)
	for range 2 {
		for i, size := range sizes {
			d.Once(fmt.Sprint(i), func() (any, int) { built[i]++; return "", size })
		}
	}
	if want := []int{1, 1, 1, 2, 1}; !slices.Equal(built, want) {
		t.Errorf("built %v times, want %v", built, want)
	}
	time.Sleep(21 * time.Second)
	d.Once("0", func() (any, int) { built[0]++; return "", sizes[0] })
	if built[0] != 2 {
		t.Error("the answer is still in memory")
	}
}

// Statistics are sent at once, and whenever they change; of several that wait, only the latest.
func TestStats(t *testing.T) {
	b := newTable(t)
	hub := newHub(t, b)
	s := must.Get(count(t, hub, "p"))(t)
	b.happens(outbox.StatisticsChanged, b.random("p"), false, true)
	b.happens(outbox.StatisticsChanged, b.random("p"), false, true)
	var totals []int
	for len(totals) == 0 || totals[len(totals)-1] < 2 {
		totals = append(totals, s.next(t).Total())
	}
	if totals[0] != 0 {
		t.Error(totals)
	}
}

// Statistics say up to when they are complete, if that is known.
func TestStatsAsOf(t *testing.T) {
	b, now := newTable(t), time.Now()
	for _, known := range []bool{true, false} {
		hub := live.New(b, b, func(context.Context) (time.Time, bool) { return now, known }, slog.New(slog.DiscardHandler))
		defer hub.Close()
		if asOf := must.Get(count(t, hub, "p"))(t).next(t).AsOf; (asOf != nil) != known || known && !asOf.Equal(now) {
			t.Errorf("known: %t, as of %v", known, asOf)
		}
	}
}

// Of one product, each subscriber gets what it subscribed to. What nobody subscribed to is not
// read.
func TestEventsAndStatsOfOneProduct(t *testing.T) {
	b := newTable(t)
	hub := newHub(t, b)
	events := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
	must.Get(follow(t, hub, "only followed", comment.Filter{}, ""))(t)
	counts := map[string]counter{}
	for _, product := range []string{"p", "only counted"} {
		counts[product] = must.Get(count(t, hub, product))(t)
		counts[product].next(t) // as they are
	}
	other, last := b.random("only counted"), b.random("p")
	for outbox.LaneOf(other.ID) != outbox.LaneOf(last.ID) { // lanes have no order between them
		other = b.random("only counted")
	}
	first := last
	b.happens(outbox.Added, first, false, true)
	events.next(t)
	ended, end := context.WithCancel(t.Context())
	end()
	if d, err := counts["p"].Next(ended); err == nil || counts["p"].Position() != "" {
		t.Errorf("a subscriber to statistics is at %q, and gets %v", counts["p"].Position(), d)
	}
	b.happens(outbox.StatisticsChanged, first, true, true)
	counts["p"].next(t)
	followed := first
	followed.ProductID = "only followed"
	b.happens(outbox.StatisticsChanged, followed, true, true)
	b.happens(outbox.Added, other, false, true)
	b.happens(outbox.StatisticsChanged, other, true, true)
	counts["only counted"].next(t)
	b.mu.Lock()
	reads := b.reads
	b.mu.Unlock()
	if at := events.Position(); at == "" || reads != 5 {
		t.Errorf("statistics wait for a subscriber to events, or %d reads are not 5", reads)
	}
}

// A subscriber that does not read is dropped, and others are not. It resumes where it was.
func TestSlowSubscribersResume(t *testing.T) {
	b := newTable(t)
	hub := newHub(t, b)
	slow := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
	quick := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
	b.happens(outbox.Added, b.random("p"), false, true)
	_, at := slow.next(t)
	quick.next(t)
	var want []comment.ID
	var all []comment.Comment
	for range 80 {
		all = append(all, b.random("p"))
	}
	for i := range 1100 {
		c := all[i%len(all)]
		b.happens(outbox.Voted, c, true, true)
		quick.next(t)
		if i < len(all) {
			want = append(want, c.ID)
		}
	}
	if _, err := slow.Next(t.Context()); !errors.Is(err, live.ErrSlow) || hub.Dropped() != 1 {
		t.Fatal(err, hub.Dropped())
	}
	slow.Close()
	again := must.Get(follow(t, hub, "p", comment.Filter{}, at))(t)
	got := map[comment.ID]bool{}
	middle := ""
	for i := range want {
		event, position := again.next(t)
		got[event.CommentID] = true
		if i == 40 {
			middle = position
		}
	}
	for _, id := range want {
		if !got[id] {
			t.Error("missed", id)
		}
	}
	// Also where it was in the middle of what it had missed, and what happens then.
	once := must.Get(follow(t, hub, "p", comment.Filter{}, middle))(t)
	for range 39 {
		once.next(t)
	}
	c := b.random("p")
	b.happens(outbox.Added, c, false, true)
	for _, s := range []subscriber{again, once} {
		if event, _ := s.next(t); event.CommentID != c.ID {
			t.Error(event)
		}
	}
}

// A subscriber without any event can resume too, at the position from which it began. There is no
// such position while an event waits.
func TestPositionsBetweenEvents(t *testing.T) {
	b := newTable(t)
	hub := newHub(t, b)
	b.happens(outbox.Added, b.random("another"), false, true)
	var both [2]subscriber
	for i := range both {
		s := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
		both[i] = s
	}
	began := both[0].Position()
	c := b.random("p")
	b.happens(outbox.Added, c, false, true)
	both[1].next(t) // so it waits for the other event
	if waits := both[0].Position(); waits != "" {
		t.Errorf("the position is %s while an event waits", waits)
	}
	both[0].next(t)
	if told := both[0].Position(); told == "" || told == began {
		t.Errorf("the position was %q and is %q", began, told)
	}
	again := must.Get(follow(t, hub, "p", comment.Filter{}, began))(t)
	if event, _ := again.next(t); event.CommentID != c.ID {
		t.Error(event)
	}
}

// Of several events of a comment that are read at once, a subscriber gets the sum, also one whose
// connection breaks after each event, and the event of another comment is between them: as it
// happens, and of what was missed before.
func TestPositionsWithinAChange(t *testing.T) {
	b := newTable(t)
	between := b.random("p")
	of := func(change func(*comment.Comment)) comment.Comment {
		c := b.random("p")
		for outbox.LaneOf(c.ID) != outbox.LaneOf(between.ID) {
			c = b.random("p")
		}
		change(&c)
		return c
	}
	there, edited := of(func(*comment.Comment) {}), of(func(c *comment.Comment) { c.Rating = 1 })
	gone := of(func(c *comment.Comment) { c.Version = 0 })
	b.happens(outbox.Added, of(func(c *comment.Comment) { c.ProductID = "another" }), false, true) // 0 is no position
	for name, row := range map[string]struct {
		first, last step
		want        comment.EventKind
	}{
		"withdrawn, and erased":  {step{outbox.Deleted, gone, true, false}, step{outbox.Deleted, gone, false, false}, comment.Gone},
		"edited, and voted on":   {step{outbox.Edited, edited, true, true}, step{outbox.Voted, edited, true, true}, comment.Gone},
		"approved, and voted on": {step{outbox.Approved, there, false, true}, step{outbox.Voted, there, true, true}, comment.CameIn},
	} {
		t.Run(name, func(t *testing.T) {
			hub, filter := newHub(t, b), comment.Filter{Ratings: []int{5}}
			from, _ := b.Ends(t.Context())
			for _, position := range []string{"", from.String()} {
				s := must.Get(follow(t, hub, "p", filter, position))(t)
				if position == "" {
					b.happen(row.first, step{outbox.Added, between, false, true}, row.last)
				}
				got := map[comment.ID]comment.EventKind{}
				for range 2 {
					event, at := s.next(t)
					got[event.CommentID] = event.Kind
					s.Close()
					s = must.Get(follow(t, hub, "p", filter, at))(t)
				}
				s.Close()
				if got[between.ID] != comment.CameIn || got[row.first.now.ID] != row.want {
					t.Errorf("from %q: %v, want that one is %s", position, got, row.want)
				}
			}
		})
	}
}

// A position that cannot be resumed is refused in a sentence that says what to do.
func TestPositions(t *testing.T) {
	b := newTable(t)
	hub := newHub(t, b)
	for range 110 {
		b.happens(outbox.Added, b.random("p"), false, true)
	}
	for _, position := range []string{"x", "1.2.3", "9999.0.0.0", "0.0.0.1"} {
		if _, err := follow(t, hub, "p", comment.Filter{}, position); comment.KindOf(err) != comment.BadInput {
			t.Errorf("%q: %v", position, err)
		}
	}
	if _, err := hub.CommentEvents(t.Context(), "p", comment.Filter{}); comment.KindOf(err) != comment.BadInput {
		t.Errorf("a request without a stream: %v", err)
	}
	b.gone = true
	if _, err := follow(t, hub, "another", comment.Filter{}, "1.0.0.0"); !errors.Is(err, outbox.ErrGone) {
		t.Error(err)
	}
	b = newTable(t)
	for range 5000 { // a subscriber to a third product has missed nothing, but finding that out takes too long
		b.happens(outbox.Added, b.random("another"), false, true)
	}
	if _, err := follow(t, newHub(t, b), "third", comment.Filter{}, "1.1.1.1"); comment.KindOf(err) != comment.BadInput {
		t.Errorf("behind 5000 events of another product: %v", err)
	}
}

// behind is a table that a subscriber resumes at, while more happens there.
type behind struct {
	*table
	check func() // what happens once the subscriber has joined
	empty int    // how many reads come from a replica that has no event yet
}

func (b *behind) Check(ctx context.Context, p outbox.Position) error {
	b.check()
	return b.table.Check(ctx, p)
}

func (b *behind) Read(ctx context.Context, lane int, after uint64, limit int) (outbox.Batch, error) {
	if b.empty > 0 {
		b.empty--
		return outbox.Batch{Last: after}, nil
	}
	return b.table.Read(ctx, lane, after, limit)
}

// A subscriber that resumes gets up to 100 changes of its product that it missed, each once, and
// then what happens. It has no position until it has got what it missed.
func TestMissedEvents(t *testing.T) {
	for name, row := range map[string]struct {
		missed, empty int
		want          comment.Kind
	}{
		"as many as it may":             {100, 0, 0},
		"one too many":                  {101, 0, comment.BadInput},
		"from a replica that is behind": {10, 3, 0},
		"from one that stays behind":    {10, 100, comment.BadInput},
	} {
		t.Run(name, func(t *testing.T) {
			late := false
			b := &behind{table: newTable(t), empty: row.empty}
			last := b.random("p")
			b.check = func() { b.happens(outbox.Added, last, false, true); late = true }
			for lane := 0; lane < outbox.Lanes; { // one of another product in each lane
				if c := b.random("another"); outbox.LaneOf(c.ID) == lane {
					b.happens(outbox.Added, c, false, true)
					lane++
				}
			}
			from, _ := b.Ends(t.Context())
			want := map[comment.ID]bool{}
			for range row.missed {
				c := b.random("p")
				want[c.ID] = true
				b.happens(outbox.Added, c, false, true)
				b.happens(outbox.Added, b.random("another"), false, true)
			}
			hub := newHub(t, b)
			s, err := follow(t, hub, "p", comment.Filter{}, from.String())
			if !late || row.want != 0 && comment.KindOf(err) != row.want || row.want == 0 && err != nil {
				t.Fatal(err)
			}
			for i := 0; row.want == 0 && i < row.missed; i++ {
				if at := s.Position(); at != "" {
					t.Fatalf("it is at %s, and %d events wait", at, row.missed-i)
				}
				event, text := s.next(t)
				at, err := outbox.ParsePosition(text)
				for lane := range at {
					if !want[event.CommentID] || err != nil || at[lane] < from[lane] {
						t.Errorf("event %d of %d is %v, at %s, %v", i, row.missed, event, text, err)
					}
				}
				delete(want, event.CommentID)
			}
			again := b.random("p")
			for outbox.LaneOf(again.ID) != outbox.LaneOf(last.ID) {
				again = b.random("p")
			}
			b.happens(outbox.Added, again, false, true)
			for _, c := range []comment.Comment{last, again} {
				if row.want != 0 {
					break
				}
				if event, _ := s.next(t); event.CommentID != c.ID {
					t.Errorf("it got %v after what it missed, want %s", event, c.ID)
				}
			}
		})
	}
}

// The comments that subscribers have missed, and that they have not read yet, are bounded for all
// of them. Who comes when there is no room may come again: a subscriber makes room as it reads, and
// in the end also if it does not.
func TestMissedCommentsHaveABound(t *testing.T) { synctest.Test(t, missedCommentsHaveABound) }

func missedCommentsHaveABound(t *testing.T) {
	b := newTable(t)
	b.happens(outbox.Added, b.random("another"), false, true)
	from, _ := b.Ends(t.Context())
	text, missed := strings.Repeat("x", comment.MaxTextBytes), 100
	for range missed {
		c := b.random("p")
		c.Text = text
		b.happens(outbox.Added, c, false, true)
	}
	hub := newHub(t, b)
	var room []subscriber // two have 25 MiB each
	for range 2 {
		room = append(room, must.Get(follow(t, hub, "p", comment.Filter{}, from.String()))(t))
	}
	for _, frees := range []func(s subscriber){
		func(s subscriber) {
			for range missed / 2 {
				s.next(t)
			}
		},
		func(s subscriber) { s.Close() },
		func(subscriber) { time.Sleep(21 * time.Second) },
	} {
		if _, err := follow(t, hub, "p", comment.Filter{}, from.String()); comment.KindOf(err) != comment.Unavailable {
			t.Fatalf("a third one: %v", err)
		}
		frees(room[0])
		room = append(room[1:], must.Get(follow(t, hub, "p", comment.Filter{}, from.String()))(t))
	}
	if _, err := room[0].Next(t.Context()); !errors.Is(err, live.ErrSlow) || hub.Dropped() == 0 {
		t.Errorf("a slow one stays: %v, %d were dropped", err, hub.Dropped())
	}
	room[1].next(t)
}

// A process that could not renew its wish for events for a while may have missed some. It tells its
// subscribers, and none resumes as if nothing were missing.
func TestEventsThatWereNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTable(t)
		hub := newHub(t, b)
		s := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
		b.happens(outbox.Added, b.random("p"), false, true)
		_, at := s.next(t)
		time.Sleep(outbox.Notice)
		b.mu.Lock()
		b.missing = true
		b.mu.Unlock()
		b.happens(outbox.Added, b.random("p"), false, true)
		if _, err := s.Next(t.Context()); !errors.Is(err, live.ErrBroken) {
			t.Fatal(err)
		}
		s.Close()
		if _, err := follow(t, hub, "p", comment.Filter{}, at); comment.KindOf(err) != comment.BadInput {
			t.Error(err)
		}
	})
}

// Where two servers get their first subscribers at once, one notes that events are missing when the
// other has begun. That ends nobody who begins there, but those who resume: they may lack what was
// before.
func TestTwoServersBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTable(t)
		b.happens(outbox.Added, b.random("another"), false, true)
		from, _ := b.Ends(t.Context())
		hub := newHub(t, b)
		resumes := must.Get(follow(t, hub, "p", comment.Filter{}, from.String()))(t)
		begins := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
		b.mu.Lock()
		b.missing = true
		b.mu.Unlock()
		c := b.random("p")
		b.happens(outbox.Added, c, false, true)
		if _, err := resumes.Next(t.Context()); !errors.Is(err, live.ErrBroken) {
			t.Error(err)
		}
		if event, _ := begins.next(t); event.CommentID != c.ID {
			t.Errorf("got %v", event)
		}
	})
}

// When the events cannot be read, subscribers get an error, and the next ones try again.
func TestBrokenLogs(t *testing.T) {
	b := newTable(t)
	hub := newHub(t, b)
	b.broken = errors.New("no network")
	if _, err := follow(t, hub, "p", comment.Filter{}, ""); err == nil {
		t.Fatal("subscribed")
	}
	b.mu.Lock()
	b.broken = nil
	b.mu.Unlock()
	s := must.Get(follow(t, hub, "p", comment.Filter{}, ""))(t)
	b.mu.Lock()
	b.gone = true
	b.mu.Unlock()
	b.happens(outbox.Added, b.random("p"), false, true)
	if _, err := s.Next(t.Context()); !errors.Is(err, live.ErrBroken) {
		t.Error(err)
	}
}
