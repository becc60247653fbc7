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

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// open opens a body of a length for verification, as if it had been received.
func (a *answers) open(ctx context.Context, length int64) (io.ReadCloser, error) {
	response := &smithyhttp.Response{Response: &http.Response{ContentLength: length, Body: io.NopCloser(strings.NewReader(""))}}
	_, _, err := a.verify(ctx, middleware.DeserializeInput{}, middleware.DeserializeHandlerFunc(
		func(context.Context, middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
			return middleware.DeserializeOutput{RawResponse: response}, middleware.Metadata{}, nil
		}))
	return response.Body, err
}

// Answers of any lengths that are read at the same time fit into their room. Each is read in the
// end. All room is free afterwards, though bodies are closed twice.
func TestBodiesFitIntoTheirRoom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int64{-1, 0, 900, smallBody, smallBody + 1, 1 << 20, largeRoom, 16 << 20}), 1, 60).Draw(rt, "lengths")
		synctest.Test(t, func(t *testing.T) {
			a := newAnswers()
			var small, large atomic.Int64
			var group sync.WaitGroup
			for i, length := range lengths {
				group.Go(func() {
					room, size := a.roomFor(length)
					held, most := &small, int64(smallRoom)
					if room == a.large {
						held, most = &large, largeRoom
					}
					body := mustOpen(t, a, length)
					if now := held.Add(size); now > most {
						t.Errorf("%d bytes are read at a time, more than %d", now, most)
					}
					time.Sleep(time.Duration(i) * time.Millisecond)
					held.Add(-size)
					_ = body.Close()
					_ = body.Close() // closing it again does no harm
				})
			}
			group.Wait()
			if !a.small.TryAcquire(smallRoom) || !a.large.TryAcquire(largeRoom) {
				t.Error("room is still taken after all answers were closed")
			}
		})
	})
}

// A large answer that stays open makes other large answers wait, for as long as their calls last.
// Small answers do not wait.
func TestSmallBodiesDoNotWaitForLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAnswers()
		large := mustOpen(t, a, largeRoom)
		mustOpen(t, a, 900)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.open(ctx, largeRoom); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second large answer: %v", err)
		}
		_ = large.Close()
		mustOpen(t, a, largeRoom)
	})
}

func mustOpen(t *testing.T, a *answers, length int64) io.ReadCloser {
	t.Helper()
	return must.Get(a.open(t.Context(), length))(t)
}
