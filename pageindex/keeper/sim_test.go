package keeper

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// world is a table with its stream, and a store beside it, all in memory. Processes count comments
// and feed the store while everything that can go wrong does.
type world struct {
	mu       sync.Mutex
	r        *rand.Rand
	registry Registry
	state    stream.State
	markers  map[comment.Position]pageindex.Entry
	truth    map[comment.Position][]moment
	shards   [3]shard
	store    *conformance.Model
	sequence int
	broken   bool // things go wrong
	stalled  bool // nothing is counted
	answered int
}

// moment is a state of a comment and the time when it began.
type moment struct {
	at   time.Time
	cell *comment.Cell
}

// shard is a shard of the stream. Records before done are processed.
type shard struct {
	records  []pageindex.Entry
	written  []time.Time
	done     int
	caughtUp time.Time
}

// backWithin is the time after the last fault within which there are answers again. A build may
// have to be taken over from a killed process, and its comments counted. A call that hung at the
// end of the faults goes on hanging for hangs.
const backWithin = 20 * time.Second

// hangs is the longest time that a call of a build takes here.
const hangs = 5 * time.Second

const (
	simulatedProduct  = "p"
	simulatedComments = 24
)

func newWorld(seed uint64) *world {
	w := &world{
		r: rand.New(rand.NewPCG(seed, 14)), markers: map[comment.Position]pageindex.Entry{}, truth: map[comment.Position][]moment{},
		store: conformance.NewModel(), state: stream.State{Version: 1, Complete: true, Since: time.Now()}, broken: true,
	}
	for i := range w.shards {
		w.shards[i].caughtUp = time.Now()
	}
	for i := range simulatedComments {
		w.truth[positionOf(i)] = []moment{{time.Time{}, nil}}
	}
	return w
}

// positionOf returns the position of a comment; many share a millisecond.
func positionOf(i int) comment.Position {
	var p comment.Position
	p[5], p[15] = byte(i/8), byte(i)
	return p
}

// draw returns a random number from 0 up to n.
func (w *world) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.r.IntN(n)
}

// faulty reports whether something goes wrong now: one call in n, while the world is broken.
func (w *world) faulty(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken && w.r.IntN(n) == 0
}

// write changes a comment.
func (w *world) write() {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.r.IntN(simulatedComments)
	p := positionOf(i)
	var cell *comment.Cell
	if w.r.IntN(4) > 0 {
		cell = &comment.Cell{Language: "en", Rating: 1 + w.r.IntN(comment.MaxRating)}
	}
	w.sequence++
	s := &w.shards[i%len(w.shards)]
	s.records = append(s.records, pageindex.Entry{
		Product: simulatedProduct, Position: p, Cell: cell, Follows: stream.PositionOf("2026", fmt.Sprint(w.sequence)),
	})
	s.written = append(s.written, time.Now())
	w.truth[p] = append(w.truth[p], moment{time.Now(), cell})
}

// lose drops unread records of a shard, and counts all comments anew some time later.
func (w *world) lose(ctx context.Context) {
	w.mu.Lock()
	s := &w.shards[w.r.IntN(len(w.shards))]
	w.state.Complete, w.state.Gap = false, &stream.Gap{Found: time.Now(), Reason: "lost"}
	s.done = len(s.records)
	w.mu.Unlock()
	began := time.Now()
	_ = task.Wait(ctx, time.Duration(w.draw(70))*time.Second)
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, moments := range w.truth {
		now, before := moments[len(moments)-1].cell, w.markers[p]
		if (now == nil) != (before.Cell == nil) || now != nil && *now != *before.Cell {
			follows := stream.Position("!")
			if before.Follows != "" {
				follows = before.Follows + "~"
			}
			w.markers[p] = pageindex.Entry{Product: simulatedProduct, Position: p, Cell: now, Follows: follows}
		}
	}
	w.state.Complete, w.state.Gap, w.state.Since = true, nil, began
}

// process counts comments and, if it has a link, feeds the store.
type process struct {
	*world
	*Keeper
	dead bool // guarded by world.mu
	link *link
}

// tableOf is the table as a process sees it.
type tableOf struct{ p *process }

var errTable = comment.Errorf(comment.Unavailable, "the table does not answer")

// call begins a call. It takes a while, and may fail before or after its effect.
func (p *process) call(ctx context.Context) (lost bool, err error) {
	if err := task.Wait(ctx, time.Duration(p.draw(30))*time.Millisecond); err != nil {
		return false, err
	}
	p.mu.Lock()
	dead := p.dead
	p.mu.Unlock()
	if dead || p.faulty(60) {
		return false, errTable
	}
	return p.faulty(60), nil
}

func (t tableOf) Registry(ctx context.Context) (Registry, error) {
	lost, err := t.p.call(ctx)
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	if lost {
		err = errTable
	}
	return t.p.world.registry, err
}

func (t tableOf) SwapRegistry(ctx context.Context, old, next Registry) error {
	lost, err := t.p.call(ctx)
	if err != nil {
		return err
	}
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	if t.p.world.registry.Version != old.Version {
		return comment.Errorf(comment.Conflict, "another process wrote this meanwhile")
	}
	next.Version++
	t.p.world.registry = next
	if lost {
		return errTable
	}
	return nil
}

func (t tableOf) Current(ctx context.Context) (stream.State, []stream.Lease, error) {
	if _, err := t.p.call(ctx); err != nil {
		return stream.State{}, nil, err
	}
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	var leases []stream.Lease
	for i := range t.p.shards {
		leases = append(leases, stream.Lease{CaughtUp: t.p.shards[i].caughtUp})
	}
	return t.p.state, leases, nil
}

// All implements Entries. It reads comments one after the other, each in its current state.
func (t tableOf) All(ctx context.Context, do func(context.Context, []pageindex.Entry) error) error {
	for i := range simulatedComments {
		if _, err := t.p.call(ctx); err != nil {
			return err
		}
		t.p.mu.Lock()
		entry, known := t.p.markers[positionOf(i)]
		t.p.mu.Unlock()
		if known {
			if err := do(ctx, []pageindex.Entry{entry}); err != nil {
				return err
			}
		}
	}
	return nil
}

// link is the store as one process sees it.
type link struct {
	pageindex.Store // its other methods are not called
	p               *process
	mode            string // guarded by world.mu
}

var errLink = comment.Errorf(comment.Unavailable, "the store does not answer")

// reach begins a call of the store.
func (l *link) reach(ctx context.Context) (store *conformance.Model, lost bool, err error) {
	l.p.mu.Lock()
	mode, dead := l.mode, l.p.dead
	l.p.mu.Unlock()
	pause := time.Duration(l.p.draw(10)) * time.Millisecond
	switch {
	case dead || mode == "down":
		return nil, false, errLink
	case mode == "hangs":
		pause = time.Hour
	case mode == "slow":
		pause = time.Duration(l.p.draw(1800)) * time.Millisecond
	}
	if err := task.Wait(ctx, pause); err != nil {
		return nil, false, err
	}
	if l.p.faulty(40) {
		return nil, false, errLink
	}
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	return l.p.store, l.p.broken && l.p.r.IntN(40) == 0, nil
}

func (l *link) Covers(ctx context.Context) (string, error) {
	store, _, err := l.reach(ctx)
	if err != nil {
		return "", err
	}
	return store.Covers(ctx)
}

func (l *link) Renew(ctx context.Context, was, covers string) error {
	store, lost, err := l.reach(ctx)
	if err != nil {
		return err
	}
	if err := store.Renew(ctx, was, covers); err != nil || !lost {
		return err
	}
	return errLink
}

func (l *link) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	store, _, err := l.reach(ctx)
	if err != nil {
		return pageindex.Found{}, err
	}
	return store.Find(ctx, list, targets)
}

func (l *link) Apply(ctx context.Context, entries []pageindex.Entry) error {
	store, lost, err := l.reach(ctx)
	if err != nil {
		return err
	}
	if err := store.Apply(ctx, entries); err != nil || lost {
		return errLink
	}
	return nil
}

func (l *link) Build(ctx context.Context) (pageindex.Build, error) {
	store, _, err := l.reach(ctx)
	if err != nil {
		return nil, err
	}
	b, err := store.Build(ctx)
	return linkedBuild{l, b}, err
}

type linkedBuild struct {
	link *link
	b    pageindex.Build
}

func (b linkedBuild) Add(ctx context.Context, entries []pageindex.Entry) error {
	if _, _, err := b.link.reach(ctx); err != nil {
		return err
	}
	return b.b.Add(ctx, entries)
}

func (b linkedBuild) Finish(ctx context.Context, covers string) error {
	_, lost, err := b.link.reach(ctx)
	if err != nil {
		return err
	}
	if err := b.b.Finish(ctx, covers); err != nil || !lost {
		return err
	}
	return errLink
}

// start starts a process. If feeds is set, it has a link to the store, and builds it.
func (w *world) start(ctx context.Context, feeds bool, running *sync.WaitGroup) *process {
	p := &process{world: w}
	pace := DefaultPace()
	pace.Build, pace.Finish = hangs, hangs
	options := Options{Name: "store", Pace: pace, Table: tableOf{p}, Progress: tableOf{p}, Entries: tableOf{p}, Who: "simulated", Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if os.Getenv("SIM") != "" {
		options.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("feeds", feeds)
	}
	if feeds {
		p.link = &link{p: p}
		options.Store = p.link
	}
	p.Keeper = New(options)
	if feeds {
		running.Go(func() { p.Run(ctx) })
	}
	running.Go(func() {
		for ctx.Err() == nil {
			p.count(ctx)
			_ = task.Wait(ctx, time.Duration(w.draw(400))*time.Millisecond)
		}
	})
	return p
}

// count processes some records of a shard. Other processes may do the same at once.
func (p *process) count(ctx context.Context) {
	p.mu.Lock()
	if p.stalled {
		p.mu.Unlock()
		return
	}
	s := &p.shards[p.r.IntN(len(p.shards))]
	from, taken := s.done, time.Now()
	batch := s.records[from:min(from+10, len(s.records))]
	drained := from+len(batch) == len(s.records)
	for _, e := range batch {
		if !p.dead && p.markers[e.Position].Follows < e.Follows {
			p.markers[e.Position] = e
		}
	}
	p.mu.Unlock()
	if len(batch) > 0 && p.Apply(ctx, batch) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return
	}
	if s.done = max(s.done, from+len(batch)); !drained {
		taken = s.written[from+len(batch)]
	}
	if taken.After(s.caughtUp) {
		s.caughtUp = taken
	}
}

// find asks for all comments of a rating, and checks the answer. Each listed comment has the
// rating, or had it within the longest lag. Each other comment was without it at some time in the
// same period.
func (p *process) find(t *testing.T, ctx context.Context) (answered bool) {
	rating := 1 + p.draw(comment.MaxRating)
	targets := make([]pageindex.Target, simulatedComments)
	for i := range targets {
		targets[i] = pageindex.Target{Rank: i + 1, Exact: true}
	}
	since := time.Now().Add(-p.Pace.Lag - p.Pace.Look)
	found, err := p.Find(ctx, pageindex.List{Product: simulatedProduct, Filter: comment.Filter{Ratings: []int{rating}}}, targets)
	if err != nil {
		if kind := comment.KindOf(err); kind != comment.Unavailable && kind != comment.Canceled {
			t.Error(err)
		}
		return false
	}
	listed := map[comment.Position]bool{}
	for _, b := range found.Boundaries {
		if b.After != nil {
			listed[*b.After] = true
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered++
	for position, moments := range p.truth {
		was := map[bool]bool{} // whether it had the rating, at times since then
		for i, m := range moments {
			if i+1 == len(moments) || moments[i+1].at.After(since) {
				was[m.cell != nil && m.cell.Rating == rating] = true
			}
		}
		if !was[listed[position]] {
			t.Errorf("comment %x: with rating %d is %v, which was not so for %s", position[15], rating, listed[position], time.Since(since))
		}
	}
	return true
}

// another fills the store with comments of another table.
func (w *world) another(ctx context.Context) {
	w.mu.Lock()
	store := w.store
	w.mu.Unlock()
	b, _ := store.Build(ctx)
	for i := range simulatedComments {
		_ = b.Add(ctx, []pageindex.Entry{{Product: simulatedProduct, Position: positionOf(i), Cell: &comment.Cell{Language: "en", Rating: 1 + i%5}, Follows: "3000"}})
	}
	_ = b.Finish(ctx, "ANOTHER/1/1")
}

// disturb does one thing that can go wrong.
func (w *world) disturb(ctx context.Context, p *process, running *sync.WaitGroup) {
	mode := func(mode string, d time.Duration) {
		w.mu.Lock()
		p.link.mode = mode
		w.mu.Unlock()
		_ = task.Wait(ctx, d)
		w.mu.Lock()
		p.link.mode = ""
		w.mu.Unlock()
	}
	d := time.Duration(w.draw(8000)) * time.Millisecond
	switch w.draw(9) {
	case 0:
		mode("down", d)
	case 1:
		mode("hangs", d)
	case 2:
		mode("slow", d)
	case 3:
		w.mu.Lock()
		w.store = conformance.NewModel()
		w.mu.Unlock()
	case 4:
		w.another(ctx)
	case 5:
		if w.draw(2) == 0 {
			w.lose(ctx)
		}
	case 6:
		w.stall(true)
		_ = task.Wait(ctx, 10*d)
		w.stall(false)
	case 7: // a process without the store counts for a while
		short, stop := context.WithTimeout(ctx, d)
		running.Go(func() {
			<-short.Done()
			stop()
		})
		w.start(short, false, running)
	}
}

// stall stops counting, or resumes it.
func (w *world) stall(stalled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stalled = stalled
}

// calmDown ends all faults.
func (w *world) calmDown() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = false
}

// kill ends a process: nothing that it still does has an effect.
func (p *process) kill(stop context.CancelFunc) {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	stop()
}

// simulate runs a world for a while, and then until it is calm. It returns the number of answers.
func simulate(t *testing.T, seed uint64, lasts time.Duration) (answers int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(seed)
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer end()
		var feeding []*process
		var stops []context.CancelFunc
		begin := func(i int) {
			alive, stop := context.WithCancel(ctx)
			p := w.start(alive, true, &running)
			if i < len(feeding) {
				feeding[i], stops[i] = p, stop
				return
			}
			feeding, stops = append(feeding, p), append(stops, stop)
		}
		for i := range 2 {
			begin(i)
		}
		var disturbing sync.WaitGroup
		stopWriting := make(chan struct{})
		running.Go(func() {
			for {
				select {
				case <-stopWriting:
					return
				case <-time.After(time.Duration(1+w.draw(600)) * time.Millisecond): // see [task.Wait]
					w.write()
				}
			}
		})
		for until := time.Now().Add(lasts); time.Now().Before(until); {
			if w.draw(150) == 0 {
				p := feeding[w.draw(len(feeding))]
				disturbing.Go(func() { w.disturb(ctx, p, &running) })
			}
			if i := w.draw(len(feeding)); w.draw(400) == 0 {
				feeding[i].kill(stops[i])
				begin(i)
			}
			feeding[w.draw(len(feeding))].find(t, ctx)
			time.Sleep(time.Duration(w.draw(300)) * time.Millisecond)
		}
		disturbing.Wait()
		w.calmDown()
		close(stopWriting)
		calm := time.Now()
		for !feeding[0].find(t, ctx) {
			if time.Since(calm) > backWithin {
				t.Fatalf("seed %d: not complete %s after the last fault: %+v", seed, time.Since(calm), w.registry)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute) // by now the truth is old, so answers must equal it
		for range 20 {
			if !feeding[0].find(t, ctx) {
				t.Errorf("seed %d: it does not stay complete", seed)
			}
		}
		answers = w.answered
	})
	return answers
}

// Whatever happens to the store, the table and the processes, an answer is never wrong, and once
// the faults stop there are answers.
func TestSimulation(t *testing.T) {
	seeds := uint64(commenttest.Times(60, 3000))
	answers := 0
	for seed := range seeds {
		answers += simulate(t, seed, 3*time.Minute)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if perSeed := answers / int(seeds); perSeed < 200 {
		t.Errorf("only %d answers in each simulation of three minutes", perSeed)
	}
}
