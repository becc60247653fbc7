package outbox

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// After returns a handler that passes records to count, and then appends their events. So the
// statistics that a reader of the log finds include the change. Records that have to wait hold up
// later ones of the same comment. A record that can never be counted has no events.
//
// While nobody wants events, nothing is appended. Checking that takes half a read unit every few
// seconds in which comments change.
func (o *Outbox) After(count stream.Handler) stream.Handler {
	return func(ctx context.Context, records []stream.Record) error {
		var failed stream.RecordErrors
		err := count(ctx, records)
		if err != nil && !errors.As(err, &failed) {
			return err
		}
		lanes, failed := sorted(records, failed)
		if len(lanes) > 0 {
			wanted, err := o.Wanted(ctx)
			if err != nil {
				return err
			}
			group, ctx := errgroup.WithContext(ctx)
			for i, entries := range lanes {
				if len(wanted) > 0 {
					group.Go(task.Guarded(func() error { return o.lanes[i].append(ctx, entries) }))
				}
			}
			if err := group.Wait(); err != nil {
				return err
			}
		}
		if len(failed) > 0 {
			return failed
		}
		return nil
	}
}

// sorted returns the entries of records, by lane. A record that failed and has to wait makes later
// ones of the same item wait too.
func sorted(records []stream.Record, failed stream.RecordErrors) (map[int][]entry, stream.RecordErrors) {
	var all []entry
	waiting := map[string]error{}
	for i, record := range records {
		e, ok := entryOf(record)
		if !ok {
			continue
		}
		key := record.Key()
		if failed[i] == nil && waiting[key] != nil {
			failed[i] = waiting[key]
		}
		switch reason := failed[i]; {
		case reason == nil:
			all = append(all, e)
		case stream.Passes(reason):
			waiting[key] = reason
		}
	}
	lanes := map[int][]entry{}
	for _, e := range oneOfImports(all) {
		lane := LaneOf(e.comment)
		lanes[lane] = append(lanes[lane], e)
	}
	return lanes, failed
}

// oneOfImports keeps one entry of all import entries of each product, because an import may write a
// million comments. It keeps the last one of a comment that is or was in lists, if there is any.
func oneOfImports(all []entry) (out []entry) {
	stands, counted := map[string]int{}, map[string]bool{}
	for i, e := range all {
		if e.has(letterImported) {
			if _, known := stands[e.product]; !known || e.shown || e.wasShown {
				stands[e.product] = i
			}
			counted[e.product] = counted[e.product] || e.has(letterCounted)
		}
	}
	for i, e := range all {
		if e.has(letterImported) {
			if stands[e.product] != i {
				continue
			}
			if counted[e.product] && !e.has(letterCounted) {
				e.kinds += string(letterCounted)
			}
		}
		out = append(out, e)
	}
	return out
}
