package votes

import (
	"context"
	"fmt"
	"sync"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// work is what records ask for: for each comment, the slices whose votes changed, and the records.
type work struct {
	comment comment.ID
	slices  Slices
	records []int
}

// workOf returns the work that records ask for, one for each comment. A comment that was deleted is
// among it if it had votes, which are then deleted.
func workOf(records []stream.Record) (all []*work) {
	of := map[comment.ID]*work{}
	for i, r := range records {
		slice, isVote := layout.VoteSlice(r.Keys)
		_, noComment := layout.CommentOfKey(r.Keys)
		deleted := noComment == nil && layout.NoComment(r.New) && layout.HasVotes(r.Old)
		id := layout.IDOfKey(r.Keys)
		if _, err := comment.ParseID(string(id)); err != nil || !isVote && !deleted {
			continue
		}
		if of[id] == nil {
			of[id] = &work{comment: id}
			all = append(all, of[id])
		}
		of[id].records = append(of[id].records, i)
		if isVote {
			of[id].slices |= 1 << slice
		}
	}
	return all
}

// Handle recounts the votes that records say have changed, once for each comment, and ignores other
// records. It adds the records of comments whose votes cannot be counted now to failed, with the reason.
func (r *Recounter) Handle(ctx context.Context, records []stream.Record, failed stream.RecordErrors) {
	all := workOf(records)
	var mu sync.Mutex
	_ = call.Parallel(ctx, len(all), func(ctx context.Context, i int) error {
		err := r.Recount(ctx, all[i].comment, all[i].slices)
		if err == nil {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		for _, record := range all[i].records {
			failed[record] = fmt.Errorf("record %s: %w", records[record].Position, err)
		}
		return nil // the others are counted all the same
	})
}
