package restore

import (
	"context"
	"fmt"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/output"
)

// batch is how many items are written at once, and batchBytes about how many bytes: an item may
// have 400 KB.
const (
	batch      = 1600
	batchBytes = 8 << 20
)

// itemLoader writes items of an export, as Loader does.
type itemLoader interface {
	Load(context.Context, []layout.Item) (Counts, error)
}

// Check reads the whole export and returns a summary. It returns an error if a file is damaged, or
// if a program that knows only the layout version cannot restore the items.
func (e *Export) Check(ctx context.Context, version int64, progress *output.Progress) (*Check, error) {
	check, seen := &Check{}, 0
	err := e.Each(ctx, func(it layout.Item) error {
		seen++
		progress.Show(seen, int64(seen))
		check.Add(it)
		return nil
	})
	progress.End()
	if err == nil {
		err = check.Err(e.Table, version)
	}
	if err != nil {
		return nil, fmt.Errorf("nothing was restored: %w", err)
	}
	return check, nil
}

// Restore writes all items to restore: comments first, then the others. After an error the counts
// cover what was done before; another call continues.
func (e *Export) Restore(ctx context.Context, check *Check, loader itemLoader, progress *output.Progress) (done Counts, err error) {
	seen := 0
	for _, kind := range []Kind{Comment, Beside} {
		if kind == Beside && check.Beside == 0 {
			continue
		}
		var next []layout.Item
		bytes := 0
		load := func() error {
			did, err := loader.Load(ctx, next)
			done.Add(did)
			seen += len(next)
			progress.Show(seen, int64(seen))
			next, bytes = nil, 0
			return err
		}
		err := e.Each(ctx, func(it layout.Item) error {
			if KindOf(it) != kind {
				return nil
			}
			next, bytes = append(next, it), bytes+layout.SizeOf(it, nil)
			if len(next) < batch && bytes < batchBytes {
				return nil
			}
			return load()
		})
		if err == nil {
			err = load()
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
