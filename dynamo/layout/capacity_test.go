package layout

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
)

func TestEventualUnits(t *testing.T) {
	for _, row := range []struct {
		why   string
		bytes int
		want  float64
	}{
		{"nothing is read", 0, 0},
		{"one byte costs as much as 4 KB", 1, 0.5},
		{"exactly 4 KB", 4 << 10, 0.5},
		{"a started 4 KB is paid for whole", 4<<10 + 1, 1},
		{"1 MB is the largest call", 1 << 20, LargestCall},
	} {
		if got := EventualUnits(row.bytes); got != row.want {
			t.Errorf("%s: %d bytes cost %v units, want %v", row.why, row.bytes, got, row.want)
		}
	}
}

func TestItemsWithin(t *testing.T) {
	for _, row := range []struct {
		why   string
		units float64
		calls int
		want  int
	}{
		{"half a unit reads four items of 1 KB", 0.5, 1, 4},
		{"whole half units only", 0.9, 1, 4},
		{"each call gets its part", 3, 3, 8},
		{"less than half a unit for each call", 1, 3, 0},
		{"nothing is left", 0, 1, 0},
		{"more was spent than there was", -7, 2, 0},
	} {
		got := ItemsWithin(row.units, row.calls)
		if got != row.want {
			t.Errorf("%s: %d items for each of %d calls, want %d", row.why, got, row.calls, row.want)
		}
		if cost := float64(row.calls) * AssumedUnits(got); cost > max(0, row.units) {
			t.Errorf("%s: the calls cost %v units, of %v", row.why, cost, row.units)
		}
	}
}

// Reading stops LargestCall after the bound, and the error says what to do.
func TestMeterBound(t *testing.T) {
	m := NewMeter(2, "ask for a smaller page")
	if m.Most() != 2*BoundFactor {
		t.Errorf("the bound is %v units, want %v", m.Most(), 2*BoundFactor)
	}
	m.Add(2*BoundFactor + LargestCall - 0.5)
	if err := m.Check(); err != nil {
		t.Errorf("half a unit is left: %v", err)
	}
	m.Add(0.5)
	err := m.Check()
	if comment.KindOf(err) != comment.TooCostly || !strings.Contains(err.Error(), "more than 144 read units") ||
		!strings.HasSuffix(err.Error(), ": ask for a smaller page") {
		t.Errorf("at the bound: %v", err)
	}
}

// Of parallel calls, one that finds all units reserved waits until the others have ended, and is
// refused only if they consumed all.
func TestReserveWaits(t *testing.T) {
	for consumed, refused := range map[float64]bool{0.5: false, BoundFactor + LargestCall: true} {
		synctest.Test(t, func(t *testing.T) {
			m, first, second := NewMeter(1, "ask for less"), 1<<20, 1<<20
			if err := m.Reserve([]*int{&first}); err != nil {
				t.Fatal(err)
			}
			go func() {
				time.Sleep(time.Second)
				m.Add(consumed)
				m.Release(first)
			}()
			began, err := time.Now(), m.Reserve([]*int{&second})
			if (comment.KindOf(err) == comment.TooCostly && err != nil) != refused || err == nil && second != first-4 || time.Since(began) != time.Second {
				t.Errorf("of %v units: %v, a limit of %d after one of %d", consumed, err, second, first)
			}
		})
	}
}

func TestCountLimit(t *testing.T) {
	for _, row := range []struct {
		why         string
		spent       float64
		calls, want int // 0 for an error
	}{
		{"all of 8 units: 16 half units of 4 items", 0, 1, 64},
		{"two calls share them", 0, 2, 32},
		{"half is spent", 4, 1, 32},
		{"less than 32 items for each call are not worth it", 4.5, 1, 0},
		{"three calls get too little each", 0, 3, 0},
		{"more is spent than the bound", 9, 1, 0},
	} {
		m := NewMeter(1, "choose a shorter range")
		m.Add(row.spent)
		got, err := m.CountLimit(row.calls)
		if got != row.want || (err == nil) != (row.want > 0) || err != nil && comment.KindOf(err) != comment.TooCostly {
			t.Errorf("%s: %d, %v; want %d", row.why, got, err, row.want)
		}
	}
}
