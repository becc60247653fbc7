package httpapi

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever requests come and go, the limiter admits no more than it may, lets none wait for a free
// place, and loses no place.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 40).Draw(t, "most")
		now := time.Now()
		l := newLimiter(rapid.IntRange(0, 50).Draw(t, "least"), most, rapid.IntRange(1, 8).Draw(t, "processors"))
		var places []*Place
		var waiters []*Turn
		collect := func() { // requests whose turn has come
			var still []*Turn
			for _, w := range waiters {
				select {
				case place := <-w.place:
					places = append(places, place)
				default:
					still = append(still, w)
				}
			}
			waiters = still
		}
		t.Repeat(map[string]func(*rapid.T){
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			},
			"enter": func(*rapid.T) {
				if turn, err := l.enter(now); err == nil {
					waiters = append(waiters, turn)
				}
			},
			"leave": func(t *rapid.T) {
				if len(places) == 0 {
					t.Skip("nobody is in")
				}
				i := rapid.IntRange(0, len(places)-1).Draw(t, "place")
				l.leave(now, places[i], LoadClass(rapid.IntRange(0, loadClasses-1).Draw(t, "class")))
				places = append(places[:i], places[i+1:]...)
			},
			"give up": func(t *rapid.T) {
				if len(waiters) == 0 {
					t.Skip("nobody waits")
				}
				i := rapid.IntRange(0, len(waiters)-1).Draw(t, "waiter")
				if place, err := l.giveUp(waiters[i], ErrWaited); place != nil || !errors.Is(err, ErrWaited) {
					t.Fatalf("%v, %v", place, err)
				}
				waiters = append(waiters[:i], waiters[i+1:]...)
			},
			"hang up": func(t *rapid.T) {
				if len(waiters) == 0 {
					t.Skip("nobody waits")
				}
				i := rapid.IntRange(0, len(waiters)-1).Draw(t, "waiter")
				if rapid.Bool().Draw(t, "at the moment of its turn") && len(places) > 0 && i == 0 {
					l.leave(now, places[0], UnmeasuredLoad)
					places = places[1:]
				}
				if place, err := l.giveUp(waiters[i], context.Canceled); place != nil || !errors.Is(err, context.Canceled) {
					t.Fatalf("%v, %v", place, err)
				}
				waiters = append(waiters[:i], waiters[i+1:]...)
			},
			"": func(t *rapid.T) {
				collect()
				l.check(t, len(places), len(waiters))
			},
		})
	})
}

func (l *Limiter) check(t *rapid.T, inFlight, waiting int) {
	state := l.State()
	if state.InFlight != inFlight || state.Queued != waiting {
		t.Fatalf("%d are in and %d wait, of %d and %d", state.InFlight, state.Queued, inFlight, waiting)
	}
	if inFlight > l.gradient.most || l.probing > l.gradient.alone {
		t.Fatalf("%d are in, %d by a probe", inFlight, l.probing)
	}
	if least := l.gradient.least; state.Limit < least || state.Limit > l.gradient.most {
		t.Fatalf("the limit is %d, not between %d and %d", state.Limit, least, l.gradient.most)
	}
	if waiting > 0 && l.free() && !l.gradient.probing {
		t.Fatal("one waits beside a free place")
	}
}
