// Package live delivers changes of comments and of statistics to subscribers. One reader follows
// the events of the table for all subscribers of a process, and only while there are any. The
// comment of an event is read once for all.
//
// changes.go says what events mean for the followers of a list, in pure functions. subscription.go
// is the queue of one subscriber, hub.go follows the events, resume.go finds what a subscriber
// missed, and follow.go begins a subscription.
package live

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
)

// Log has the events of all processes. The hub must not call it before somebody subscribes.
type Log interface {
	// Want asks all processes to write events from now on, for some time.
	Want(ctx context.Context, name string, lasts time.Duration) error
	// Ends returns the position after all events. Check returns an error for a position that no event
	// has reached.
	Ends(ctx context.Context) (outbox.Position, error)
	Check(ctx context.Context, p outbox.Position) error
	// Read reads the events of a lane after a number, and Tail follows all lanes until the context
	// ends.
	Read(ctx context.Context, lane int, after uint64, limit int) (outbox.Batch, error)
	Tail(ctx context.Context, from outbox.Position, each func(ctx context.Context, lane int, batch outbox.Batch) error, failed func(error)) error
}

// Reader reads the comments and statistics that events are about.
type Reader interface {
	// CommentsByID fetches at most 100 comments, consistently.
	CommentsByID(ctx context.Context, ids []comment.ID, withoutText bool) (
		found map[comment.ID]comment.Comment, failed map[comment.ID]error, err error,
	)
	// CurrentStatsOf fetches the statistics of at most 100 products, consistently.
	CurrentStatsOf(ctx context.Context, products []string) (
		found map[string]comment.Stats, failed map[string]error, err error,
	)
}

// Inlet hands the subscription that a resolver makes to the handler of the request.
type Inlet struct {
	// From is the position after which events are delivered, as text; empty for events from now on.
	From string
	// Subscription is nil until the resolver has made it.
	Subscription *Subscription
}

type inletKey struct{}

// With gives a request an inlet. Without one, the request cannot subscribe.
func With(ctx context.Context, inlet *Inlet) context.Context {
	return context.WithValue(ctx, inletKey{}, inlet)
}
