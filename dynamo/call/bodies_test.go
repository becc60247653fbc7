package call

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"
)

// answering is an HTTP client whose answers have bodies of a length.
type answering int64

func (length answering) Do(*http.Request) (*http.Response, error) {
	return &http.Response{ContentLength: int64(length), Body: io.NopCloser(strings.NewReader(""))}, nil
}

// failing is an HTTP client whose requests fail.
type failing struct{}

func (failing) Do(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// Answers of any lengths that are read at the same time fit into their room. Each answer is read in
// the end. All room is free afterwards, though some bodies are closed twice.
func TestBodiesFitIntoTheirRoom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int64{-1, 0, 900, smallBody, smallBody + 1, 1 << 20, largeRoom, 16 << 20}), 1, 60).Draw(rt, "lengths")
		synctest.Test(t, func(t *testing.T) {
			b := newBounded(nil)
			var small, large atomic.Int64
			var group sync.WaitGroup
			for i, length := range lengths {
				group.Go(func() {
					one := b.around(func(dynamodb.HTTPClient) dynamodb.HTTPClient { return answering(length) })
					room, size := one.roomFor(length)
					held, most := &small, int64(smallRoom)
					if room == b.large {
						held, most = &large, largeRoom
					}
					response := mustDo(t, one)
					if now := held.Add(size); now > most {
						t.Errorf("%d bytes are read at a time, more than %d", now, most)
					}
					time.Sleep(time.Duration(i) * time.Millisecond)
					held.Add(-size)
					_ = response.Body.Close()
					_ = response.Body.Close() // once more does no harm
				})
			}
			group.Wait()
			if !b.small.TryAcquire(smallRoom) || !b.large.TryAcquire(largeRoom) {
				t.Error("room is still taken after all answers were closed")
			}
		})
	})
}

// A large answer that stays open makes other large ones wait, as long as their requests last. Small
// ones do not wait.
func TestSmallBodiesDoNotWaitForLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBounded(answering(largeRoom))
		open := mustDo(t, b)
		mustDo(t, b.around(func(dynamodb.HTTPClient) dynamodb.HTTPClient { return answering(900) }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.Do(request(ctx, t)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second large answer: %v", err)
		}
		_ = open.Body.Close()
		mustDo(t, b)
	})
}

func mustDo(t *testing.T, client dynamodb.HTTPClient) *http.Response {
	t.Helper()
	response, err := client.Do(request(t.Context(), t))
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func request(ctx context.Context, t *testing.T) *http.Request {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://table", nil)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// Clients bound the bytes that they read, and a hedging client shares the bound of its original.
func TestClientsBoundTheirBodies(t *testing.T) {
	local := NewLocalClient("http://table")
	for _, client := range []*dynamodb.Client{local, Hedged(local)} {
		if b, ok := client.Options().HTTPClient.(*bounded); !ok || b.large != local.Options().HTTPClient.(*bounded).large {
			t.Errorf("%T has no bound, or one of its own", client.Options().HTTPClient)
		}
	}
}

// A client in turns waits once for each answer, whatever it was made into afterwards, and before the
// answer takes room. A call that fails waits for nothing.
func TestInTurns(t *testing.T) {
	passed := 0
	var client *dynamodb.Client
	client = InTurns(NewLocalClient("http://table"), func() {
		passed++
		if b := client.Options().HTTPClient.(*bounded); !b.small.TryAcquire(smallRoom) {
			t.Error("an answer that waits for its turn has room already")
		} else {
			b.small.Release(smallRoom)
		}
	})
	clock := NewClock(func(time.Duration, bool) {})
	for name, made := range map[string]*dynamodb.Client{"itself": client, "hedged": Hedged(client), "observed": Observed(client, nil), "clocked": clock.Of(client)} {
		b := made.Options().HTTPClient.(*bounded)
		passed = 0
		mustDo(t, b.around(func(dynamodb.HTTPClient) dynamodb.HTTPClient { return answering(900) })).Body.Close()
		if passed != 1 {
			t.Errorf("%s: a call waited %d times", name, passed)
		}
		if _, err := b.around(func(dynamodb.HTTPClient) dynamodb.HTTPClient { return failing{} }).Do(request(t.Context(), t)); err == nil || passed != 1 {
			t.Errorf("%s: a call that failed with %v waited", name, err)
		}
	}
}
