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

// A batch goes on without the products that are already in too many batches, and leaves each of the
// others once.
func TestBatches(t *testing.T) {
	b := newBulkhead(2)
	_, _, leaveFirst := b.enterBatch([]string{"cup", "jug"})
	_, _, leaveSecond := b.enterBatch([]string{"cup"})
	third, refused, leaveThird := b.enterBatch([]string{"jug", "cup", "pot"})
	if !slices.Equal(third, []string{"jug", "pot"}) || len(refused) != 1 || comment.KindOf(refused["cup"]) != comment.Overloaded {
		t.Errorf("%v, refused %v; want all but what is in two batches", third, refused)
	}
	leaveFirst()
	if again, refused, leave := b.enterBatch([]string{"cup", "jug"}); len(again) != 2 || len(refused) != 0 || len(b.calls["cup"]) != 2 || len(b.calls["jug"]) != 2 {
		t.Errorf("%v, refused %v, in %v", again, refused, b.calls)
	} else {
		leave()
	}
	leaveSecond()
	if leaveThird(); len(b.calls) != 0 {
		t.Errorf("%v are left", b.calls)
	}
	in, refused, leave := (*bulkhead)(nil).enterBatch([]string{"cup"})
	if leave(); len(in) != 1 || len(refused) != 0 {
		t.Errorf("%v, %v", in, refused)
	}
}
