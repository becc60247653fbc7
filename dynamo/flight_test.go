package dynamo

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
)

// Whoever asks for the same while it is read shares the answer; whoever asks for something else, or later, does not.
func TestFlightsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var reads atomic.Int32
		read := func(context.Context, comment.Query) (comment.Page, error) {
			time.Sleep(time.Second)
			return comment.Page{Comments: make([]comment.Comment, reads.Add(1))}, nil
		}
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				_, _ = f.join(t.Context(), comment.Query{Product: "globe", Slice: comment.Slice{Size: i % 2}}, read)
			})
		}
		group.Wait()
		if n := reads.Load(); n != 2 {
			t.Errorf("%d reads of two pages", n)
		}
		if _, _ = f.join(t.Context(), comment.Query{Product: "globe"}, read); reads.Load() != 3 {
			t.Error("a page was shared with someone who asked for it after it was read")
		}
	})
}

// One who no longer waits does not end the read of the others, and a panic of the read is an error of all.
func TestFlightsOfThoseWhoLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		read := func(ctx context.Context, _ comment.Query) (comment.Page, error) {
			select {
			case <-ctx.Done():
				return comment.Page{}, ctx.Err()
			case <-time.After(time.Second):
				return comment.Page{HasNext: true}, nil
			}
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := f.join(impatient, comment.Query{}, read); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("who left got %v", err)
			}
		})
		synctest.Wait()
		if page, err := f.join(t.Context(), comment.Query{}, read); err != nil || !page.HasNext {
			t.Errorf("who stayed got %v, %v", page, err)
		}
		group.Wait()
		if _, err := f.join(t.Context(), comment.Query{}, func(context.Context, comment.Query) (comment.Page, error) { panic("a bug of ours") }); err == nil {
			t.Error("a panic was no error")
		}
	})
}
