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
