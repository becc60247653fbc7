package keeper

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// storeStatus is the status of a store and of counting at one time.
type storeStatus struct {
	// state says whether all comments were counted, upTo how far, if known is set.
	state stream.State
	upTo  time.Time
	known bool
	// store is the store's registration, and covers the text that it covers. away is the store's
	// error if it did not answer.
	store  Registration
	covers string
	away   error
}

func (o Options) readStatus(ctx context.Context) (storeStatus, error) {
	var now storeStatus
	state, leases, err := o.Progress.Current(ctx)
	if err != nil {
		return now, err
	}
	now.state = state
	now.upTo, now.known = stream.ProcessedUpTo(leases)
	var registry Registry
	registry, now.covers, now.away, err = o.glance(ctx)
	now.store = registry.Stores[o.Name]
	return now, cmp.Or(err, ctx.Err())
}

// complete reports whether the store lacks nothing.
func (s storeStatus) complete() bool {
	return tokenOf(s.covers) == s.store.Token(s.state) && s.store.knows(s.covers)
}

// Messages of refused lookups. Clients see them, so they name no store.
const (
	meanwhile  = "; use cursors meanwhile"
	notCounted = "page numbers are unavailable until all comments have been counted" + meanwhile
	notBuilt   = "page numbers are unavailable until their index has been built" + meanwhile + ". A process that counts builds it, or talkback rebuild --pages; talkback stream --status shows the progress"
	storeAway  = "page numbers are unavailable, because their index does not answer" + meanwhile
	lateCounts = "page numbers are unavailable, because counting is late"
)

// objection returns why the store must not answer, nil if it may.
func (s storeStatus) objection(now time.Time, lag time.Duration) error {
	switch {
	case !s.state.Complete:
		return unavailable(notCounted, errors.New("the statistics are not complete"))
	case s.known && now.Sub(s.upTo) > lag:
		return comment.Errorf(comment.Unavailable, lateCounts+" by %s%s", now.Sub(s.upTo).Round(time.Second), meanwhile)
	case !s.known && !s.state.Scheduled.IsZero() && now.Sub(s.state.Scheduled) > stream.ScheduleLate:
		return comment.Errorf(comment.Unavailable, lateCounts+" by %s%s", now.Sub(s.state.Scheduled).Round(time.Second), meanwhile)
	case s.away != nil:
		return unavailable(storeAway, s.away)
	case !s.complete():
		return unavailable(notBuilt, errors.New(reasonToBuild(s)))
	}
	return nil
}

// unavailable returns an error whose cause is for the log.
func unavailable(message string, cause error) error {
	return &comment.Error{Kind: comment.Unavailable, Message: message, Cause: cause}
}

// reasonToBuild returns why the store is incomplete, as a sentence.
func reasonToBuild(now storeStatus) string {
	switch {
	case now.store.Identity == "":
		return "it was never built"
	case identityOf(now.covers) != now.store.Identity:
		return errNotOurs.Message
	case now.store.Open():
		return now.store.Reason
	case tokenOf(now.covers) == now.store.Token(now.state):
		return errPutBack.Message
	case now.store.Built == "":
		return "an earlier build did not end"
	}
	return "all comments were counted anew, or an earlier build did not end"
}
