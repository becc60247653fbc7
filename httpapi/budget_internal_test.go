package httpapi

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// After any sequence of calls, a budget's count equals what clients hold. It is within its bound
// unless only the latest client is left. It gives up a client only when it needs room, and keeps
// none that costs more.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 100
		b, now := newBudget(limit), time.Unix(0, 0)
		b.now = func() time.Time { return now }
		clients := []*client{{}, {}, {}, {}}
		var there []*held // the model
		sum := func(of func(*held) int, which func(*held) bool) (total int) {
			for _, h := range there {
				if which(h) {
					total += of(h)
				}
			}
			return total
		}
		bytes := func(h *held) int { return h.bytes }
		cost := func(h *held) int { return h.cost(now) }
		// compare finds out which connections the budget gave up to take the latest, and why.
		// others is how many bytes all hold together, with the further ones of the latest.
		compare := func(latest *held, before map[*client]int, others int) {
			var dropped []*client
			kept := there[:0:0]
			for _, h := range there {
				if b.holds(h) {
					kept = append(kept, h)
				} else if !slices.Contains(dropped, h.by) {
					dropped = append(dropped, h.by)
				}
			}
			for _, c := range dropped {
				if others <= limit {
					t.Fatal("a connection is given up without need")
				}
				for _, h := range kept {
					if h != latest && before[h.by] > before[c] {
						t.Fatalf("one that costs %d is given up, and one that costs %d is kept", before[c], before[h.by])
					}
				}
			}
			there = kept
		}
		costs := func(but *held) map[*client]int {
			out := map[*client]int{}
			for _, c := range clients {
				out[c] = sum(cost, func(h *held) bool { return h.by == c && h != but })
			}
			return out
		}
		all := func(*held) bool { return true }
		t.Repeat(map[string]func(*rapid.T){
			"time passes": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "ms")) * time.Millisecond)
			},
			"add": func(t *rapid.T) {
				size, by := rapid.IntRange(1, 120).Draw(t, "bytes"), rapid.SampledFrom(clients).Draw(t, "by")
				before, total := costs(nil), sum(bytes, all)+size
				h := b.add(by, size, func() {})
				compare(h, before, total)
				if h != nil {
					there = append(there, h)
				}
			},
			"grow": func(t *rapid.T) {
				if len(there) == 0 {
					return
				}
				h, size := rapid.SampledFrom(there).Draw(t, "which"), rapid.IntRange(1, 30).Draw(t, "bytes")
				before, total := costs(h), sum(bytes, all)+size
				kept := b.grow(h, size)
				compare(h, before, total)
				if kept != slices.Contains(there, h) {
					t.Fatalf("it says %t of what it holds", kept)
				}
			},
			"remove": func(t *rapid.T) {
				if len(there) > 0 {
					h := rapid.SampledFrom(there).Draw(t, "which")
					there = slices.DeleteFunc(there, func(other *held) bool { return other == h })
					if !b.remove(h) || b.remove(h) || b.grow(h, 1) {
						t.Fatal("it is not gone after the first time")
					}
				}
			},
			"": func(t *rapid.T) {
				total := sum(bytes, all)
				if b.total != total || len(b.held) != len(there) || total > limit && len(there) > 1 {
					t.Fatalf("%d bytes of %d, want %d of %d, at most %d bytes", b.total, len(b.held), total, len(there), limit)
				}
				for _, c := range clients {
					if want := sum(bytes, func(h *held) bool { return h.by == c }); c.bytes != want {
						t.Fatalf("a connection with %d bytes, want %d", c.bytes, want)
					}
				}
			},
		})
	})
}

// A client that holds more than an eighth of the budget may not ask for more.
func TestClientHasToRead(t *testing.T) {
	b, greedy, other := newBudget(100), &client{}, &client{}
	h := b.add(greedy, 13, func() {})
	if !b.full(greedy) || b.full(other) {
		t.Error("13 of 100 bytes are not too many for one connection, or are for another")
	}
	b.remove(h)
	if b.full(greedy) {
		t.Error("it has read, and is still refused")
	}
}
