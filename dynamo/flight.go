package dynamo

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/talkback/talkback/comment"
)

// flightTimeout bounds reading a page that several wait for: none of their contexts does.
const flightTimeout = 10 * time.Second

// flights reads a page once for all who want the same while it is being read, as happens when many look at one product.
// What they see is as old as the read took, at most; and whoever wrote by this Store does not join a read that began
// before.
type flights struct {
	group singleflight.Group
	// writes is how many there were. Reads of before and after one are not the same.
	writes atomic.Uint64
}

// join reads a page, or waits for whoever reads the same. The page is shared: nobody may change it. A wait that ends early
// ends no one else's.
func (f *flights) join(ctx context.Context, q comment.Query, read func(context.Context, comment.Query) (comment.Page, error)) (comment.Page, error) {
	landed := f.group.DoChan(flightKey(q, f.writes.Load()), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTimeout)
		defer cancel()
		var page comment.Page
		err := recovered(func() (err error) {
			page, err = read(ctx, q)
			return err
		})()
		return page, err
	})
	select {
	case <-ctx.Done():
		return comment.Page{}, ctx.Err()
	case result := <-landed:
		page, _ := result.Val.(comment.Page)
		return page, result.Err
	}
}

// flightKey is the same for two questions if they are, and nothing was written between them.
func flightKey(q comment.Query, writes uint64) string {
	return fmt.Sprintf("%d %q %q %v %v %v %s %d %t %v %v %d", writes, q.Product, q.Filter.Languages, q.Filter.Ratings,
		timeKey(q.Filter.CreatedAfter), timeKey(q.Filter.CreatedBefore), q.Order, q.Slice.Size, q.Slice.FromEnd,
		positionKey(q.Slice.After), positionKey(q.Slice.Before), q.Count)
}

// timeKey is a time to the millisecond, to which filters are normalized.
func timeKey(t *time.Time) int64 {
	if t == nil {
		return -1
	}
	return t.UnixMilli()
}

func positionKey(p *comment.Position) string {
	if p == nil {
		return "-"
	}
	return p.String()
}
