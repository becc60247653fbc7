package bulkhead

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

// Each product has its bound of operations, whatever goes on with the others; an operation that is
// in may make more calls; and nothing is kept of products without calls.
func TestBulkhead(t *testing.T) {
	type caller struct {
		product   string
		operation int
	}
	rapid.Check(t, func(t *rapid.T) {
		const most = 3
		b := New(most)
		leaves := map[caller][]func(){}
		inside := func(product string) (operations int) {
			for c := range leaves {
				if c.product == product {
					operations++
				}
			}
			return operations
		}
		drawn := rapid.Custom(func(t *rapid.T) caller {
			return caller{rapid.SampledFrom([]string{"cup", "pot"}).Draw(t, "product"), rapid.IntRange(1, 5).Draw(t, "operation")}
		})
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				c := drawn.Draw(t, "caller")
				leave, err := b.Enter(c.product, c.operation)
				refused := leaves[c] == nil && inside(c.product) == most
				if refused != (err != nil) || refused && comment.KindOf(err) != comment.Overloaded {
					t.Fatalf("%v with %d operations: %v", c, inside(c.product), err)
				}
				if err == nil {
					leaves[c] = append(leaves[c], leave)
				}
			},
			"leave": func(t *rapid.T) {
				c := drawn.Draw(t, "caller")
				if leaves[c] == nil {
					t.Skip("it has no calls")
				}
				leaves[c][0]()
				if leaves[c] = leaves[c][1:]; len(leaves[c]) == 0 {
					delete(leaves, c)
				}
			},
			"": func(t *rapid.T) {
				for _, product := range []string{"cup", "pot"} {
					if got := len(b.calls[product]); got != inside(product) || (b.calls[product] != nil) != (got > 0) {
						t.Fatalf("%s: %v, want %d operations", product, b.calls, inside(product))
					}
				}
			},
		})
	})
	if _, err := (*Bulkhead)(nil).Enter("cup", 1); err != nil {
		t.Error(err)
	}
}
