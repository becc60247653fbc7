package limits

import (
	"slices"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/graph/lookahead"
)

// joinUnits is what it costs at most, as a rule, to begin to follow comments: to find where the events
// end, and to read those that a client missed.
const joinUnits = 5

// eventKinds are the kinds of fields that an event may have: those that it has read already.
var eventKinds = []lookahead.Kind{
	lookahead.Plain, lookahead.Text, lookahead.Media, lookahead.AsOf, lookahead.Ratings, lookahead.CommentEvents, lookahead.ChangingStats,
}

// checkSubscription refuses a subscription that follows nothing, or two things. Validation counts a field
// that is skipped, and takes one under two names for one.
func checkSubscription(fields []lookahead.Field) *gqlerror.Error {
	if len(fields) != 1 {
		err := gqlerror.Errorf("a subscription follows one thing, and this one %d: ask for one field under one name, and do not skip it", len(fields))
		errcode.Set(err, errcode.ValidationFailed)
		return err
	}
	return checkEvents(fields)
}

// checkEvents refuses fields of a subscription that read: thousands of subscribers would read for each
// event.
func checkEvents(fields []lookahead.Field) *gqlerror.Error {
	for i := range fields {
		f := &fields[i]
		if !slices.Contains(eventKinds, f.Kind) {
			return &gqlerror.Error{
				Message:    "a subscription reads nothing beside its event: leave out " + f.Name + ", and ask for it by a query when an event comes",
				Extensions: map[string]any{"code": string(EventReads)},
			}
		}
		if err := checkEvents(f.Fields); err != nil {
			return err
		}
	}
	return nil
}
