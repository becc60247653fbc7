package votes

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// work is what records ask of a comment.
type work struct {
	counting
	// records are the records by slice; those of no slice say that the comment was deleted.
	records map[int][]int
}

// noSlice stands for the slice of a record that is of no vote.
const noSlice = -1

// workOf returns the work that records ask for, one for each comment. A comment that was deleted is
// among it if it had votes, which are then deleted. The slices are in the order of their first records,
// and no more than atOnce votes are to be read of them.
func workOf(records []stream.Record, atOnce int) (all []*work) {
	by := map[comment.ID]*work{}
	for i, r := range records {
		slice, isVote := layout.VoteSlice(r.Keys)
		_, noComment := layout.CommentOfKey(r.Keys)
		deleted := noComment == nil && layout.NoComment(r.New) && layout.HasVotes(r.Old)
		id := layout.IDOfKey(r.Keys)
		if _, err := comment.ParseID(string(id)); err != nil || !isVote && !deleted {
			continue
		}
		w := by[id]
		if w == nil {
			w = &work{counting: counting{id: id, votes: atOnce}, records: map[int][]int{}}
			by[id], all = w, append(all, w)
		}
		if !isVote {
			slice = noSlice
		} else if w.records[slice] == nil {
			w.changed = append(w.changed, slice)
		}
		w.records[slice] = append(w.records[slice], i)
	}
	return all
}

// Handle recounts the votes that records say have changed, once for each comment, and ignores other
// records. It adds to failed, with the reason, the records of comments whose votes cannot be counted now,
// and those of votes that wait. It waits for no throttled call: other records would wait with it.
func (r *Recounter) Handle(ctx context.Context, records []stream.Record, failed stream.RecordErrors) {
	all := workOf(records, r.atOnce)
	var mu sync.Mutex
	_ = call.Parallel(ctx, len(all), func(ctx context.Context, i int) error {
		w := all[i]
		err := task.Try(func() error { return r.recount(ctx, &w.counting) })
		mu.Lock()
		defer mu.Unlock()
		for slice, of := range w.records {
			why := err
			if err == nil && slices.Contains(w.changed, slice) {
				why = errWaits
			}
			if why == nil {
				continue
			}
			for _, record := range of {
				failed[record] = fmt.Errorf("record %s: %w", records[record].Position, why)
			}
		}
		return nil // the others are counted all the same
	})
}
