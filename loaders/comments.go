package loaders

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/graph-gophers/dataloader/v7"

	"github.com/talkback/talkback/comment"
)

// Comment is the comment of an id, nil when there is none. Comments asked for within a millisecond are fetched together.
// A failure is not remembered: whoever asks again makes a new attempt.
func (l *Loaders) Comment(ctx context.Context, id comment.ID) (*comment.Comment, error) {
	load := l.comments.Load(ctx, id)
	return await(ctx, func() (*comment.Comment, error) {
		c, err := load()
		if err != nil {
			l.comments.Clear(ctx, id)
		}
		return c, err
	})
}

// await waits for the answer of a batch no longer than the caller's context lasts; the library alone would.
func await[V any](ctx context.Context, thunk dataloader.Thunk[V]) (V, error) {
	type answer struct {
		value V
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := thunk()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// commentBatch turns a getter, which answers by key, into what the library wants: one result for each key, in their
// order, none of them nil.
func commentBatch(getter CommentGetter) dataloader.BatchFunc[comment.ID, *comment.Comment] {
	return func(ctx context.Context, ids []comment.ID) []*dataloader.Result[*comment.Comment] {
		ctx, cancel := fetchContext(ctx)
		defer cancel()
		found, failed, err := fetch(ctx, getter, ids)
		results := make([]*dataloader.Result[*comment.Comment], len(ids))
		for i, id := range ids {
			results[i] = &dataloader.Result[*comment.Comment]{Error: err}
			if err != nil {
				continue
			}
			results[i].Error = failed[id]
			if c, ok := found[id]; ok {
				results[i].Data = &c
			}
		}
		return results
	}
}

// fetch turns a panic of the getter into an error: the goroutine of a batch is the library's, and would end the process.
func fetch(ctx context.Context, getter CommentGetter, ids []comment.ID) (found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic in a batch of %d comments: %v\n%s", len(ids), cause, debug.Stack())
		}
	}()
	return getter.CommentsByID(ctx, ids)
}
