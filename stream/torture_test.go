package stream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// Settings from the environment: TALKBACK_TORTURE for many more seeds, TALKBACK_TEST_SEED for a
// single one.
const (
	seedsAlways    = 200
	seedsOfTorture = 5000
)

// A simulated stream runs on simulated time. 1 to 3 processes are killed and started again. Calls
// fail before or after their effect, shards end and split, records are dropped or are poison.
// Meanwhile, no record may be skipped unless readers learn of it, and none may count as processed
// before it is. Afterwards, everything is processed.
func TestSimulation(t *testing.T) {
	first, n := uint64(time.Now().UnixNano()), commenttest.Times(seedsAlways, seedsOfTorture)
	if text := os.Getenv("TALKBACK_TEST_SEED"); text != "" {
		seed := must.Get(strconv.ParseUint(text, 10, 64))(t)
		first, n = seed, 1
	}
	for half := range 2 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for i := half; i < n && !t.Failed(); i += 2 {
				simulate(t, first+uint64(i))
			}
		})
	}
}

func simulate(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{world: newWorld(seed), r: rand.New(rand.NewPCG(seed, 0)), t: t}
		s.silent, s.poisonous = s.r.IntN(3) == 0, s.r.IntN(3) == 0
		s.places = make([]*place, 1+s.r.IntN(3))
		for i := range s.places {
			s.start(i)
		}
		for range 20 + s.r.IntN(40) {
			s.event()
			time.Sleep(time.Duration(s.r.IntN(3000)) * time.Millisecond)
			s.checkProcessedUpTo()
			s.checkKnown()
		}
		s.calm()
		for i := range s.places {
			s.stop(i)
		}
		s.checkReleased()
		if len(s.broken) > 0 {
			t.Errorf("TALKBACK_TEST_SEED=%d (silent: %v, %d processes)", seed, s.silent, len(s.places))
			for _, line := range s.broken {
				t.Log(line)
			}
		}
	})
}

type simulation struct {
	*world
	r      *rand.Rand
	t      *testing.T
	places []*place
	starts int
	// poisonous makes some records impossible to process, so that counts are not complete.
	poisonous bool
}

// place is where a process runs.
type place struct {
	process  *process
	consumer *Consumer
	cancel   context.CancelFunc
	done     chan error
}

func (s *simulation) start(i int) {
	s.starts++
	p := s.process(fmt.Sprint("process ", s.starts))
	c := p.consumer()
	c.Poll = 500 * time.Millisecond
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	s.places[i] = &place{process: p, consumer: c, cancel: cancel, done: done}
	go func() { done <- c.Run(ctx) }()
}

func (s *simulation) stop(i int) {
	s.places[i].cancel()
	if err := <-s.places[i].done; err != nil {
		s.t.Error(err)
	}
}

// checkKnown compares the knowledge that processes have in memory with the true state.
func (s *simulation) checkKnown() {
	for _, p := range s.places {
		before, known, current := p.consumer.ProcessedUpTo()
		s.do(func() {
			if known && current && s.state.Complete {
				s.checkBefore(before)
			}
		})
	}
}

// kill stops a process before it can release anything.
func (s *simulation) kill(i int) {
	s.do(func() { s.places[i].process.dead = true })
	s.stop(i)
}

// event makes one thing happen.
func (s *simulation) event() {
	i := s.r.IntN(len(s.places))
	switch n := s.r.IntN(32); {
	case n < 16:
		s.changes(1 + s.r.IntN(20))
	case n < 20:
		s.closeShard()
	case n < 23:
		s.kill(i)
		s.start(i)
	case n < 24:
		s.stop(i)
		s.start(i)
	case n < 26:
		s.steal()
	case n < 28:
		s.rebuild()
	case n < 29:
		s.drop()
	case n < 30:
		s.downtime(s.upTo(48 * time.Hour))
	default:
		time.Sleep(s.upTo(20 * time.Second))
	}
}

func (s *simulation) upTo(d time.Duration) time.Duration { return time.Duration(s.r.Int64N(int64(d))) }

func (s *simulation) changes(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.change(s.r.IntN(keys-1), s.poisonous && s.r.IntN(20) == 0)
	}
}

func (s *simulation) closeShard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []*simShard
	for _, shard := range s.shards {
		if shard.open {
			open = append(open, shard)
		}
	}
	s.close(open[s.r.IntN(len(open))], s.r.IntN(2) == 0)
}

// steal makes another process take a lease and never renew it.
func (s *simulation) steal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shard := range s.shards {
		if lease, has := s.leases[shard.ID]; has && !lease.Ended && s.r.IntN(2) == 0 {
			lease.Owner, lease.Counter = "thief", lease.Counter+1
			s.put(lease)
		}
	}
}

// rebuild counts everything, which takes a while.
func (s *simulation) rebuild() {
	p := s.process("rebuild")
	var state State
	for err := error(errFault); err != nil; {
		state, err = p.State(s.t.Context())
	}
	since := time.Now()
	s.changes(s.r.IntN(3))
	time.Sleep(s.upTo(10 * time.Second))
	if s.r.IntN(4) == 0 {
		s.drop()
		time.Sleep(s.upTo(10 * time.Second))
	}
	for err := error(errFault); comment.KindOf(err) == comment.Unavailable; {
		err = MarkComplete(s.t.Context(), p, state, since)
	}
}

// drop drops records early, so that only errors reveal it. A reader that begins at the oldest
// record gets no such error. It may begin there after an earlier drop, until its lease is beyond
// what that dropped.
func (s *simulation) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.silent {
		s.trim(time.Now().Add(-s.upTo(10*time.Second)), func(shard *simShard) bool {
			at, _ := strconv.Atoi(s.leases[shard.ID].Checkpoint)
			return at > 0 && !slices.ContainsFunc(shard.records, func(r *simRecord) bool {
				sequence, _ := strconv.Atoi(r.Sequence)
				return r.trimmed && sequence > at
			})
		})
	}
}

// downtime runs no process for a while, until the stream has dropped old records.
func (s *simulation) downtime(d time.Duration) {
	for i := range s.places {
		s.kill(i)
	}
	time.Sleep(s.upTo(d + 1))
	s.changes(s.r.IntN(5))
	time.Sleep(s.upTo(d + 1))
	s.do(func() { s.trim(time.Now().Add(-retention), func(*simShard) bool { return true }) })
	for i := range s.places {
		s.start(i)
	}
}

// calm ends all faults. It waits until everything is processed, shards are shared evenly, and the
// watermark is known.
func (s *simulation) calm() {
	s.do(func() { s.faulty = false })
	over, why := time.Now(), ""
	for range 240 {
		time.Sleep(500 * time.Millisecond)
		s.checkProcessedUpTo()
		if s.do(func() { why = s.why(over) }); why == "" {
			return
		}
	}
	s.do(func() { s.violate("after two minutes of calm: %s", why) })
}

// why describes what is not yet as it should be, empty when all is.
func (s *simulation) why(over time.Time) string {
	load := map[string]int{}
	for _, shard := range s.shards {
		lease, has := s.leases[shard.ID]
		if shard.open && !has {
			return "shard " + shard.ID + " has no lease"
		}
		if shard.open {
			load[lease.Owner]++
		}
		if r := s.firstOpen(shard); r != nil && r.made.Before(over) {
			return fmt.Sprintf("record %s of shard %s is not processed; its lease is %+v", r.Sequence, shard.ID, lease)
		}
	}
	var loads []int
	for _, p := range s.places {
		loads = append(loads, load[p.process.name])
		delete(load, p.process.name)
	}
	if len(load) > 0 || slices.Max(loads)-slices.Min(loads) > 1 {
		return fmt.Sprint("the leases are shared out as ", loads, ", and others have ", load)
	}
	if before, known := s.processedUpTo(); !known || !before.After(over) {
		return fmt.Sprintf("it is known to be processed until %s (known: %v), not %s; %+v", before, known, over, s.leases)
	}
	return ""
}

func (s *simulation) checkReleased() {
	for _, lease := range s.leases {
		if lease.Owner != "" && lease.Owner != "thief" {
			s.violate("shard %s was not released by %s", lease.Shard, lease.Owner)
		}
	}
}
