package usage_test

import (
	"context"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/usage"
)

// No operation holds more than its limit, and all together no more than the pool, whatever they
// take and whenever they end. The error says which of the two was exceeded.
func TestHoldAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const poolLimit = 100
		given := rapid.SampledFrom([]int{40, 150}).Draw(t, "limit of an operation")
		operationLimit := min(given, poolLimit) // with more, it would be told to try again without end
		pool := usage.NewPool(poolLimit)
		type account struct {
			*usage.Operation
			held int
		}
		var open []*account
		total := 0
		t.Repeat(map[string]func(*rapid.T){
			"open": func(*rapid.T) { open = append(open, &account{Operation: pool.Open(given)}) },
			"hold": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("none is open")
				}
				a, bytes := rapid.SampledFrom(open).Draw(t, "account"), rapid.IntRange(0, 120).Draw(t, "bytes")
				err := a.Hold(bytes)
				switch {
				case a.held+bytes > operationLimit:
					if comment.KindOf(err) != comment.TooMuchText {
						t.Fatalf("%d bytes beside %d: %v", bytes, a.held, err)
					}
				case total+bytes > poolLimit:
					if comment.KindOf(err) != comment.Overloaded {
						t.Fatalf("%d bytes beside %d of all: %v", bytes, total, err)
					}
				case err != nil:
					t.Fatal(err)
				default:
					a.held, total = a.held+bytes, total+bytes
				}
			},
			"close": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("none is open")
				}
				a := open[0]
				a.Close()
				a.Close() // once more does no harm
				if comment.KindOf(a.Hold(1)) != comment.Canceled {
					t.Fatal("an operation that is over holds more")
				}
				total, open = total-a.held, open[1:]
			},
			"": func(t *rapid.T) {
				if pool.Held() != total {
					t.Fatalf("the pool holds %d bytes, want %d", pool.Held(), total)
				}
			},
		})
	})
}

func TestManyAtOnce(t *testing.T) {
	pool := usage.NewPool(1000)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				o := pool.Open(400)
				for range 10 {
					_ = o.Hold(60) // refused or not
					o.Consume(1, 0.5)
				}
				if o.Units() != 5 {
					t.Errorf("%v units, want 5", o.Units())
				}
				o.Close()
			}
		})
	}
	group.Wait()
	if pool.Held() != 0 {
		t.Errorf("%d bytes are held by nobody", pool.Held())
	}
}

// A nil account counts nothing.
func TestWithoutAccount(t *testing.T) {
	o := usage.From(context.Background())
	o.Consume(1, 1)
	if err := o.Hold(1 << 40); err != nil || o.Units() != 0 {
		t.Errorf("%v, %v units", err, o.Units())
	}
}
