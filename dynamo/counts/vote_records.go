package counts

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

// voteWork is the counting of a comment's votes that records require.
type voteWork struct {
	voteCount
	// records has the indexes of the records by slice; those under noSlice are of the deletion of
	// the comment.
	records map[int][]int
}

// noSlice is in place of the slice if a record is of no vote.
const noSlice = -1

// voteWorkOf returns the work that records require, one for each comment. It includes deleted
// comments that had votes, which are then deleted. The slices of each are in the order of their
// first records, and at most atOnce of their votes are to be read.
func voteWorkOf(records []stream.Record, atOnce int) (all []*voteWork) {
	by := map[comment.ID]*voteWork{}
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
			w = &voteWork{voteCount: voteCount{id: id, votes: atOnce}, records: map[int][]int{}}
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

// Handle recounts the votes of comments with changed votes among records, once for each comment,
// and ignores other records. It adds records whose votes cannot be counted now, or have to wait, to
// failed. It does not wait for throttled calls, because other records would wait too.
func (r *VoteRecounter) Handle(ctx context.Context, records []stream.Record, failed stream.RecordErrors) {
	all := voteWorkOf(records, r.atOnce)
	var mu sync.Mutex
	_ = call.Parallel(ctx, len(all), func(ctx context.Context, i int) error {
		w := all[i]
		err := task.Try(func() error { return r.recount(ctx, &w.voteCount) })
		mu.Lock()
		defer mu.Unlock()
		for slice, of := range w.records {
			why := err
			if err == nil && slices.Contains(w.changed, slice) {
				why = errManyVotes
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
