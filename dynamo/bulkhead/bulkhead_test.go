package bulkhead

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

// Each product has its bound, whatever goes on with the others, and nothing is kept of those
// without calls.
func TestBulkhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 3
		b := New(most)
		leaves := map[string][]func(){}
		product := rapid.SampledFrom([]string{"cup", "pot", "tea"})
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				of := product.Draw(t, "product")
				leave, err := b.Enter(of)
				if full := len(leaves[of]) == most; full != (err != nil) || full && comment.KindOf(err) != comment.Overloaded {
					t.Fatalf("with %d calls: %v", len(leaves[of]), err)
				}
				if err == nil {
					leaves[of] = append(leaves[of], leave)
				}
			},
			"leave": func(t *rapid.T) {
				of := product.Draw(t, "product")
				if len(leaves[of]) == 0 {
					t.Skip("it has no calls")
				}
				leaves[of][0]()
				if leaves[of] = leaves[of][1:]; len(leaves[of]) == 0 {
					delete(leaves, of)
				}
			},
			"": func(t *rapid.T) {
				if len(b.calls) != len(leaves) {
					t.Fatalf("%v, want those of %d products", b.calls, len(leaves))
				}
			},
		})
	})
	if _, err := (*Bulkhead)(nil).Enter("cup"); err != nil {
		t.Error(err)
	}
}
