package dynamo

import (
	"maps"
	"slices"
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
		b := newBulkhead(most)
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
				leave, err := b.enter(c.product, c.operation)
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
					if got, kept := b.operations[product]; got != inside(product) || kept != (got > 0) {
						t.Fatalf("%s: %v, want %d operations", product, b.operations, inside(product))
					}
				}
				if len(b.calls) != inside("cup")+inside("pot") {
					t.Fatalf("%v are kept, want none without calls", b.calls)
				}
			},
		})
	})
	if _, err := (*bulkhead)(nil).enter("cup", 1); err != nil {
		t.Error(err)
	}
}

// A batch goes on without those of its products that are in too many others, and nothing is kept of
// products without batches.
func TestBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 2
		b := newBatches(most)
		inside := map[string]int{}
		var batches [][]string
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				products := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"cup", "pot", "jug"}), 1, 3, rapid.ID).Draw(t, "products")
				in, refused := b.enter(products)
				for _, product := range products {
					full := inside[product] == most
					if slices.Contains(in, product) == full || (comment.KindOf(refused[product]) == comment.Overloaded) != full {
						t.Fatalf("%s in %d batches: %v, %v", product, inside[product], in, refused)
					}
				}
				for _, product := range in {
					inside[product]++
				}
				batches = append(batches, in)
			},
			"leave": func(t *rapid.T) {
				if len(batches) == 0 {
					t.Skip("there is no batch")
				}
				b.leave(batches[0])
				for _, product := range batches[0] {
					if inside[product]--; inside[product] == 0 {
						delete(inside, product)
					}
				}
				batches = batches[1:]
			},
			"": func(t *rapid.T) {
				if !maps.Equal(b.of, inside) {
					t.Fatalf("%v, want %v", b.of, inside)
				}
			},
		})
	})
	none := (*batches)(nil)
	if in, refused := none.enter([]string{"cup"}); len(in) != 1 || len(refused) != 0 {
		t.Errorf("%v, %v", in, refused)
	}
	none.leave([]string{"cup"})
}
