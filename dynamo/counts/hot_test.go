package counts_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
)

// shop is what is written to a table: the ratings of the comments of each product, and when each
// comment was written first.
type shop struct {
	table   *simTable
	r       *rand.Rand
	ratings map[string]map[comment.ID]int
	written map[string]map[comment.ID]time.Time
}

func newShop(table *simTable, seed uint64) *shop {
	return &shop{table, rand.New(rand.NewPCG(seed, 1)), map[string]map[comment.ID]int{}, map[string]map[comment.ID]time.Time{}}
}

func (s *shop) add(product string) comment.ID {
	id := comment.IDOf(comment.PositionAt(time.Now(), [10]byte(fmt.Appendf(nil, "%010d", s.r.Uint32()))))
	if s.ratings[product] == nil {
		s.ratings[product], s.written[product] = map[comment.ID]int{}, map[comment.ID]time.Time{}
	}
	s.written[product][id] = time.Now()
	s.set(product, id, 1+s.r.IntN(5))
	return id
}

// set gives a comment another rating, or deletes it with 0.
func (s *shop) set(product string, id comment.ID, rating int) {
	s.table.write(product, id, s.ratings[product][id], rating)
	s.ratings[product][id] = rating
}

// burst writes comments for a while: so many a second on one product, and on others.
func (s *shop) burst(lasts time.Duration, hot, others int) {
	for began := time.Now(); time.Since(began) < lasts; time.Sleep(time.Second / 20) {
		for range hot / 20 {
			s.add(hotProduct)
		}
		for range others / 20 {
			s.add(fmt.Sprint("other ", s.r.IntN(1000)))
		}
	}
}

// settle waits until all is counted, and checks the counts.
func (s *shop) settle(t *testing.T) {
	t.Helper()
	ended := time.Now()
	for upTo, known := s.table.processedUpTo(); !known || upTo.Before(ended); upTo, known = s.table.processedUpTo() {
		if time.Since(ended) > 5*time.Minute {
			t.Fatalf("counted up to %s before the end, after 5 minutes", ended.Sub(upTo))
		}
		time.Sleep(100 * time.Millisecond)
	}
	reader := counts.NewReader(s.table, "comments", counts.ReaderOptions{})
	for product, ratings := range s.ratings {
		var want comment.Counts
		for _, rating := range ratings {
			if rating > 0 {
				want[rating-1]++
			}
		}
		if got, err := reader.Latest(t.Context(), product); err != nil || got.Stats.Counts(comment.Filter{}) != want {
			t.Errorf("%s is counted as %v, want %v (%v)", product, got.Stats, want, err)
		}
	}
}

// latest returns how long after it was written a comment was counted, at most.
func (s *shop) latest(of func(product string) bool) (most time.Duration) {
	for product, written := range s.written {
		for id, at := range written {
			if of(product) {
				most = max(most, s.table.counted[id.Position().String()].Sub(at))
			}
		}
	}
	return most
}

const hotProduct = "hot"

func isHot(product string) bool { return product == hotProduct }

func isOther(product string) bool { return product != hotProduct }

// A product that gets as many comments as all others together does not hold those up, whichever
// shards and processes they come through. That holds too if it gets more than can be counted.
func TestHotProduct(t *testing.T) {
	for _, row := range []struct {
		processes, shards, hot int
		lasts, after           time.Duration // of the burst, and how long the hot product may take after it; 0 for any
	}{
		{1, 64, 200, 6 * time.Second, 10 * time.Second},
		{4, 64, 200, 6 * time.Second, 10 * time.Second},
		{64, 64, 200, 5 * time.Second, 0},
		{1, 4, 1000, 4 * time.Second, 0},
		{2, 64, 1000, 3 * time.Second, 0},
	} {
		t.Run(fmt.Sprintf("%d processes, %d shards, %d a second", row.processes, row.shards, row.hot), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(newSimTable(row.shards), uint64(time.Now().UnixNano()))
				for range row.processes {
					defer s.table.start(t).stop()
				}
				for known := false; !known; _, known = s.table.processedUpTo() {
					time.Sleep(time.Second)
				}
				began := time.Now()
				s.burst(row.lasts, row.hot, 200)
				s.settle(t)
				hot, others, last := s.latest(isHot), s.latest(isOther), time.Duration(0)
				for _, at := range s.table.counted {
					last = max(last, at.Sub(began.Add(row.lasts)))
				}
				t.Logf("the hot product is counted within %v, the others within %v, all %v after the end, by %d transactions, of which %v were canceled",
					hot, others, last, s.table.tries, s.table.canceled)
				if others > 3*time.Second {
					t.Errorf("other products are counted after %v", others)
				}
				if row.after > 0 && last > row.after {
					t.Errorf("the hot product is counted %v after the burst", last)
				}
			})
		})
	}
}

// Counts stay exact while comments of a hot product come, change and go, some of its records are
// damaged, and processes are killed.
func TestHotProductIsCountedExactly(t *testing.T) {
	for range commenttest.Times(2, 50) {
		seed := uint64(time.Now().UnixNano())
		synctest.Test(t, func(t *testing.T) {
			s := newShop(newSimTable(16), seed)
			processes := []*simProcess{s.table.start(t), s.table.start(t), s.table.start(t)}
			for range 20 {
				s.burst(time.Duration(s.r.IntN(600))*time.Millisecond, 300, 60)
				for id, rating := range s.ratings[hotProduct] {
					switch s.r.IntN(40) {
					case 0:
						s.set(hotProduct, id, 0)
					case 1:
						s.set(hotProduct, id, 1+s.r.IntN(5))
					case 2:
						s.set(hotProduct, id, 9) // which no comment can have
						s.set(hotProduct, id, rating)
					}
				}
				if i := s.r.IntN(len(processes)); s.r.IntN(3) == 0 {
					processes[i].killed.Store(true)
					processes[i].stop()
					processes[i] = s.table.start(t)
				}
			}
			s.settle(t)
			for _, p := range processes {
				p.stop()
			}
			if s.table.deadLetters == 0 {
				t.Error("no record was dead-lettered")
			}
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
		})
	}
}
