package stream

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

// machine is a reader on a machine whose clock is set forward and back while real time passes.
type machine struct {
	real     time.Duration
	ahead    time.Duration // of its clock
	steps    steps
	progress progress
	sent     []sentAt // heartbeats that have not come through yet
	through  time.Duration
}

type sentAt struct {
	real      time.Duration
	heartbeat Heartbeat
}

func (m *machine) now() time.Time { return testNow.Add(m.real + m.ahead) }

// current does what a reader does whenever it reads its progress.
func (m *machine) current() {
	m.progress = m.progress.setBack(m.steps.back(m.now(), m.real))
	m.progress, _ = m.progress.outOfReach(m.now())
}

// However the clock of a machine jumps, the watermark is never later, by that clock, than the
// records that were processed. It follows heartbeats again once the lease was written after the
// jump.
func TestClocksThatJump(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{through: -1}
		m.current()
		for range 60 {
			switch rapid.IntRange(0, 5).Draw(t, "what happens") {
			case 0:
				m.ahead += time.Duration(rapid.IntRange(-4000, 4000).Draw(t, "the clock is set by")) * time.Second
			case 1:
				m.sent = append(m.sent, sentAt{m.real, Heartbeat{Key: "k", Counter: m.progress.Counter, Sent: m.now()}})
				m.progress.Counter++ // a write of the lease follows
			case 2, 3:
				m.real += time.Duration(rapid.IntRange(1, 100_000).Draw(t, "milliseconds pass")) * time.Millisecond
			default:
				if len(m.sent) > 0 {
					m.through = m.sent[0].real
					m.progress = m.progress.heard(m.sent[0].heartbeat, true).intoReach(m.now())
					m.sent = m.sent[1:]
				}
			}
			m.current()
			if m.through < 0 {
				continue
			}
			truth := testNow.Add(m.through + m.ahead)
			if late := m.progress.CaughtUp.Sub(truth); late > leastStep {
				t.Fatalf("the watermark is %s later than the last processed record", late)
			}
		}
		heartbeat := Heartbeat{Key: "k", Counter: m.progress.Counter + 1, Sent: m.now()} // after a write of the lease
		if p := m.progress.heard(heartbeat, true).intoReach(m.now()); !p.CaughtUp.Equal(m.now()) {
			t.Fatalf("after a heartbeat of now, the watermark is %s, and it is %s", p.CaughtUp, m.now())
		}
	})
}

// idle is a shard without records.
type idle struct{ Source }

// Open implements Source.
func (idle) Open(context.Context, string, string, string) (string, error) {
	return "from the first", nil
}

// Read implements Source.
func (idle) Read(context.Context, string, string) (Batch, error) { return Batch{Next: "more"}, nil }

// A step of a reader keeps concurrent changes of its progress, for example that the clock was set
// back.
func TestStepsKeepProgress(t *testing.T) {
	const heartbeats = 200_000
	r := &reader{shared: &shared{source: idle{}, number: func() int { return 1 }}}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range heartbeats {
			r.advance(progress.sent)
		}
	}()
	for going := true; going; {
		if _, err := r.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-sent:
			going = false
		default:
		}
	}
	if r.progress.overdue != heartbeats {
		t.Errorf("%d heartbeats were sent, and %d are known", heartbeats, r.progress.overdue)
	}
}

// ownLease keeps one lease. It makes the first write, but answers it with an error.
type ownLease struct {
	Leases
	kept   Lease
	writes int
}

// List implements Leases.
func (l *ownLease) List(context.Context, string) ([]Lease, error) { return []Lease{l.kept}, nil }

// Swap implements Leases.
func (l *ownLease) Swap(_ context.Context, _ string, old, next Lease) error {
	if old.Counter != l.kept.Counter {
		return comment.Errorf(comment.Conflict, "another wrote it")
	}
	if l.kept = next; l.writes == 0 {
		l.writes++
		return comment.Errorf(comment.Timeout, "no answer")
	}
	return nil
}

// HeartbeatOf implements Heartbeats.
func (l *ownLease) HeartbeatOf(Record) (heartbeat Heartbeat, ok bool) { return heartbeat, false }

// A reader that wrote its lease without learning of it still holds it.
func TestOwnWriteIsNoConflict(t *testing.T) {
	mine := Lease{Shard: "s", Owner: "me", Counter: 1}
	l := &ownLease{kept: mine}
	r := &reader{shared: &shared{me: "me", leases: l}, progress: progress{Lease: mine}}
	same := func(lease Lease) Lease { return lease }
	if err := r.write(t.Context(), same); comment.KindOf(err) != comment.Timeout {
		t.Error(err)
	}
	if err := r.write(t.Context(), same); err != nil || r.status().Counter != 3 {
		t.Errorf("write %d of the lease: %v", r.status().Counter, err)
	}
}

// While all records wait because their items are throttled, further records are read. While the
// table is away, none are: they would only take memory.
func TestWaitingRecordsAreReadOn(t *testing.T) {
	throttled, away := comment.Errorf(comment.Throttled, "busy"), comment.Errorf(comment.Unavailable, "away")
	for _, row := range []struct {
		err   error
		stuck bool
	}{
		{nil, false}, {throttled, true}, {away, true},
		{RecordErrors{0: throttled, 1: throttled}, false}, {RecordErrors{0: away, 1: away}, true}, {RecordErrors{1: away}, false},
	} {
		r := &reader{shared: &shared{handler: func(context.Context, []Record) error { return row.err }, leases: &ownLease{}}, pending: make([]pendingRecord, 2)}
		if _ = r.handOver(t.Context()); r.stuck != row.stuck {
			t.Errorf("after %v, no more is read: %v", row.err, r.stuck)
		}
	}
}

// holding lets changes wait, while records of leases and heartbeats are processed.
type holding struct {
	*process
	released atomic.Bool
}

func (h *holding) handle(ctx context.Context, records []Record) error {
	waiting, others := RecordErrors{}, []Record(nil)
	for i, record := range records {
		if h.Own(record) || h.released.Load() {
			others = append(others, record)
			continue
		}
		waiting[i] = errContended
		h.do(func() { history, at := h.place(record); history[at].waited = true })
	}
	if err := h.process.handle(ctx, others); err != nil || len(waiting) == 0 {
		return err
	}
	return waiting
}

// received counts heartbeats that were sent and that came through.
type received struct {
	Observer
	sent, came atomic.Int64
}

func (r *received) HeartbeatSent()     { r.sent.Add(1) }
func (r *received) HeartbeatReceived() { r.came.Add(1) }
func (*received) Processed(int)        {}

// While a record waits for an hour, what follows it takes no memory, and each heartbeat that comes
// through is counted once.
func TestHeartbeatsBehindAWaitingRecord(t *testing.T) {
	h, observed := &holding{}, &received{}
	aloneWith(t, func(p *process, c *Consumer) {
		h.process = p
		c.Handler, c.Observer = h.handle, observed
	}, func(t *testing.T, w *world, c *Consumer) {
		w.do(func() { w.change(0, false) })
		time.Sleep(time.Hour)
		synctest.Wait()
		var n int
		w.do(func() { n = len(c.readers.held()["s0"].pending) }) // the reader that changes it takes the lock first
		if n > 10 {
			t.Errorf("%d records are in memory, and one waits", n)
		}
		if sent, came := observed.sent.Load(), observed.came.Load(); came > sent {
			t.Errorf("%d heartbeats were sent, and %d came through", sent, came)
		}
		h.released.Store(true)
		time.Sleep(10 * time.Second)
		if lag, known := c.Status()[0].Lag(time.Now()); !known || lag > longestLag {
			t.Errorf("it lags by %s (known: %v)", lag, known)
		}
	})
}
