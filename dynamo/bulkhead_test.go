package dynamo

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

// Each product has its own limit of operations, whatever happens to other products. An operation
// that was admitted may make further calls. Products without calls leave no entry.
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
					if got, kept := b.calls[product]; len(got) != inside(product) || kept != (len(got) > 0) {
						t.Fatalf("%s: %v, want %d operations", product, b.calls, inside(product))
					}
				}
			},
		})
	})
	if _, err := (*bulkhead)(nil).enter("cup", 1); err != nil {
		t.Error(err)
	}
}

// A batch goes on without the products that are already in too many batches. Products without
// batches leave no entry.
func TestBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const most = 2
		b := newBulkhead(most)
		inside := map[string]int{}
		type batch struct {
			in    []string
			leave func()
		}
		var batches []batch
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				products := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"cup", "pot", "jug"}), 1, 3, rapid.ID).Draw(t, "products")
				in, refused, leave := b.enterBatch(products)
				for _, product := range products {
					full := inside[product] == most
					if slices.Contains(in, product) == full || (comment.KindOf(refused[product]) == comment.Overloaded) != full {
						t.Fatalf("%s in %d batches: %v, %v", product, inside[product], in, refused)
					}
				}
				for _, product := range in {
					inside[product]++
				}
				batches = append(batches, batch{in, leave})
			},
			"leave": func(t *rapid.T) {
				if len(batches) == 0 {
					t.Skip("there is no batch")
				}
				batches[0].leave()
				for _, product := range batches[0].in {
					if inside[product]--; inside[product] == 0 {
						delete(inside, product)
					}
				}
				batches = batches[1:]
			},
			"": func(t *rapid.T) {
				if len(b.calls) != len(inside) {
					t.Fatalf("%v, want %v", b.calls, inside)
				}
				for product, calls := range b.calls {
					if len(calls) != inside[product] {
						t.Fatalf("%s: %v, want %v", product, b.calls, inside)
					}
				}
			},
		})
	})
	in, refused, leave := (*bulkhead)(nil).enterBatch([]string{"cup"})
	if leave(); len(in) != 1 || len(refused) != 0 {
		t.Errorf("%v, %v", in, refused)
	}
}
