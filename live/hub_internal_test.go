package live

import (
	"log/slog"
	"testing"
)

// A reading that nobody uses any more, and that breaks as it is stopped, does not end the one that came after.
func TestBrokenOnlyByItself(t *testing.T) {
	h := New(nil, nil, nil, slog.New(slog.DiscardHandler))
	first, next := new(following), new(following)
	s := h.newSubscription("p")
	h.following, h.products["p"] = next, map[*Subscription]struct{}{s: {}}
	if h.broke(first); h.following != next || s.waits() {
		t.Error("it ended the reading of others")
	}
	if h.broke(next); h.following != nil || !s.waits() {
		t.Error("its subscription goes on")
	}
}

// Nothing is kept of subscribers that have left: the memory is that of those who are there.
func TestNothingIsLeftBehind(t *testing.T) {
	h := New(nil, nil, nil, slog.New(slog.DiscardHandler))
	h.following = &following{stop: func() {}, ready: make(chan struct{})}
	close(h.following.ready)
	var there []*Subscription
	for _, product := range []string{"p", "p", "q"} {
		s := h.newSubscription(product)
		if _, err := h.join(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		there = append(there, s)
	}
	if h.leave(there[0]); len(h.products["p"]) != 1 || len(h.users) != 2 {
		t.Errorf("of two subscribers of a product and one of another, one left: %d and %d are there", len(h.products["p"]), len(h.users))
	}
	h.leave(there[1])
	h.leave(there[2])
	if len(h.products) != 0 || len(h.users) != 0 || h.following.idle == nil {
		t.Errorf("all have left, and there are %d products and %d subscribers", len(h.products), len(h.users))
	}
	h.Close()
}
