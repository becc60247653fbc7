package httpapi

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// cost is what an answer costs those who wait, as slowest has it.
func (w *waiting) cost(now time.Time) int {
	return w.bytes * (int(now.Sub(w.since)/time.Millisecond) + 1)
}

// Whatever is added and removed, unsent counts what waits and keeps it within its bound but for a single answer; a connection is
// dropped only when room is needed, and then none that costs more is kept.
func TestUnsentIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := newUnsent(100)
		connections := []*connection{{}, {}, {}, {}}
		now := time.Unix(0, 0)
		var there []*waiting // the model
		costs := func() map[*connection]int {
			out := map[*connection]int{}
			for _, w := range there {
				out[w.to] += w.cost(now)
			}
			return out
		}
		bytes := func(of func(*waiting) bool) (sum int) {
			for _, w := range there {
				if of(w) {
					sum += w.bytes
				}
			}
			return sum
		}
		without := func(gone func(*waiting) bool) (kept []*waiting) {
			for _, w := range there {
				if !gone(w) {
					kept = append(kept, w)
				}
			}
			return kept
		}
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "ms")) * time.Millisecond)
			},
			"add": func(t *rapid.T) {
				w := &waiting{to: rapid.SampledFrom(connections).Draw(t, "to"), bytes: rapid.IntRange(1, 120).Draw(t, "bytes"), since: now}
				before, room := costs(), 100-w.bytes
				for _, c := range u.makeRoom(w) {
					if bytes(func(w *waiting) bool { return true }) <= room {
						t.Fatal("a connection is dropped without need")
					}
					for other, cost := range before {
						if cost > before[c] {
							t.Fatalf("one that costs %d is dropped, and not %p that costs %d", before[c], other, cost)
						}
					}
					delete(before, c)
					there = without(func(w *waiting) bool { return w.to == c })
					if c == w.to {
						room, w = 100, nil
					}
				}
				if w != nil {
					there = append(there, w)
				}
			},
			"remove": func(t *rapid.T) {
				if len(there) > 0 {
					w := rapid.SampledFrom(there).Draw(t, "which")
					there = without(func(other *waiting) bool { return other == w })
					u.remove(w)
					u.remove(w) // a second time does nothing
				}
			},
			"": func(t *rapid.T) {
				sum := bytes(func(*waiting) bool { return true })
				if u.total != sum || len(u.waiting) != len(there) || sum > 100 && len(there) > 1 {
					t.Fatalf("%d bytes in %d answers, want %d in %d, at most 100 bytes", u.total, len(u.waiting), sum, len(there))
				}
				for _, c := range connections {
					if want := bytes(func(w *waiting) bool { return w.to == c }); c.bytes != want {
						t.Fatalf("a connection with %d bytes, want %d", c.bytes, want)
					}
				}
			},
		})
	})
}

// A connection that has left an eighth of all unread asks in vain.
func TestConnectionHasToRead(t *testing.T) {
	u, greedy, other := newUnsent(100), &connection{}, &connection{}
	w := u.add(greedy, 13)
	if !u.full(greedy) || u.full(other) {
		t.Error("13 of 100 bytes are not too many for one connection, or are for another")
	}
	u.remove(w)
	if u.full(greedy) {
		t.Error("it has read, and is still refused")
	}
}
