package objects

import (
	"fmt"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// small makes everything happen early.
var small = settings{
	mergeAt: 40, mergeLogs: 10, mergeEvery: 20 * time.Millisecond, most: 1 << 20,
	lease: 200 * time.Millisecond, collectEvery: 100 * time.Millisecond, logGrace: time.Second, chunkGrace: 2 * time.Second,
	chunk: 64, run: 50, now: time.Now,
}

// quiet merges only on demand.
var quiet = settings{
	mergeAt: 1 << 20, mergeLogs: 1 << 20, mergeEvery: time.Hour, most: 1 << 20,
	lease: time.Minute, collectEvery: time.Hour, logGrace: time.Hour, chunkGrace: time.Hour, chunk: 16, run: 8, now: time.Now,
}

// objectsOf lists the objects that a store holds of a product, without guards.
func objectsOf(t *testing.T, s *Store, product string) (out []string) {
	t.Helper()
	now := must.Get(s.core.latest(t.Context()))(t)
	for _, c := range now.root.Chunks {
		if c.Records.Count == 0 {
			continue
		}
		data, err := s.core.storage.getRange(t.Context(), c.objectName(Records), 0, c.Records.Head)
		if err != nil {
			return []string{err.Error()} // a merge has just deleted the object
		}
		head := must.Get(c.Records.Decode(data))(t)
		if _, found := head.Find(product); found {
			out = append(out, c.objectName(Records))
		}
	}
	return out
}

// entry returns the n-th entry of a scripted run, about comment n%comments, so that later entries
// change earlier comments.
func entry(n, comments int) pageindex.Entry {
	at := comment.PositionAt(time.UnixMilli(int64(1_700_000_000_000+n%comments)), [10]byte{9: 1})
	e := pageindex.Entry{Product: "espresso/1", Position: at, Follows: stream.Position(fmt.Sprintf("run/%040d", n))}
	if n%7 != 6 {
		e.Cell = &comment.Cell{Language: "de", Rating: 1 + n%comment.MaxRating}
	}
	return e
}

// stateAfter returns the expected content after the first n entries: the rating of each comment.
func stateAfter(n, comments int) map[comment.Position]int {
	out := map[comment.Position]int{}
	for i := range n {
		e := entry(i, comments)
		delete(out, e.Position)
		if e.Cell != nil {
			out[e.Position] = e.Cell.Rating
		}
	}
	return out
}

// stateOf reads the whole content of a store, with jumps only.
func stateOf(t *testing.T, s *Store) map[comment.Position]int {
	t.Helper()
	out := map[comment.Position]int{}
	for rating := 1; rating <= comment.MaxRating; rating++ {
		list := pageindex.List{Product: "espresso/1", Filter: comment.Filter{Ratings: []int{rating}}, Order: comment.OldestFirst}
		found := must.Get(s.Find(t.Context(), list, nil))(t)
		var targets []pageindex.Target
		for rank := range found.Counts.Total() {
			targets = append(targets, pageindex.Target{Rank: rank + 1, Exact: true})
		}
		for _, b := range must.Get(s.Find(t.Context(), list, targets))(t).Boundaries {
			out[*b.After] = rating
		}
	}
	return out
}
