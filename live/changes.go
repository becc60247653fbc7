package live

import (
	"cmp"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
)

// change sums up the events of a batch about one comment.
type change struct {
	product string
	id      comment.ID
	number  uint64 // of the last event
	// Whether it came into lists, was edited, left lists, and was shown before or after any event.
	cameIn, edited, left, shown bool
	since                       uint64 // number of an event: the events from it on sum up to the same change
	// at is the position of a subscriber that has this change and those before it: just before the
	// events of the next change.
	at uint64
}

// changesIn returns the changes of comments in events, in an order in which they can be delivered
// one by one: a subscriber that resumes after one of them gets the rest. It leaves out changes that
// followers do not see.
func changesIn(events []outbox.Event) []change {
	byID := map[comment.ID]change{}
	var end uint64
	for _, e := range slices.Backward(events) {
		if e.Kind == outbox.StatisticsChanged || e.Kind == outbox.Reported || e.Kind == outbox.Imported {
			continue
		}
		later, known := byID[e.Comment]
		if !known {
			later = change{product: e.Product, id: e.Comment, number: e.Number}
		}
		c := later
		c.cameIn = c.cameIn || e.Shown && !e.WasShown
		c.edited = c.edited || e.Kind == outbox.Edited
		c.left = c.left || e.WasShown && !e.Shown
		c.shown = c.shown || e.Shown || e.WasShown
		if c != later {
			c.since = e.Number
		}
		byID[e.Comment], end = c, max(end, e.Number)
	}
	var out []change
	for _, c := range byID {
		if c.shown {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b change) int { return cmp.Compare(a.since, b.since) })
	for i := range out {
		if out[i].at = end; i+1 < len(out) {
			out[i].at = out[i+1].since - 1
		}
	}
	return out
}

func countedIn(events []outbox.Event) []string {
	var out []string
	for _, e := range events {
		if e.Kind == outbox.StatisticsChanged {
			out = append(out, e.Product)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// eventFor returns the event that a change causes for followers of the comments that pass a filter,
// nil for none. now is the comment as everyone sees it, nil if it is not shown.
func (c change) eventFor(filter comment.Filter, now *comment.Comment) *comment.Event {
	switch {
	case now != nil && filter.Allows(*now):
		kind := comment.Changed
		if c.cameIn {
			kind = comment.CameIn
		}
		return &comment.Event{Kind: kind, CommentID: c.id, Comment: now}
	case now != nil && !c.edited && !c.left: // it did not pass the filter before either
		return nil
	}
	dates := comment.Filter{CreatedAfter: filter.CreatedAfter, CreatedBefore: filter.CreatedBefore}
	if !dates.Allows(comment.Comment{ID: c.id}) {
		return nil
	}
	return &comment.Event{Kind: comment.Gone, CommentID: c.id}
}
