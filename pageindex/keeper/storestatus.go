package keeper

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
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

// countStatus returns the status of counting alone.
func countStatus(ctx context.Context, counted CountProgress) (now storeStatus, err error) {
	state, leases, err := counted.Current(ctx)
	now.state = state
	now.upTo, now.known = state.ProcessedUpTo(leases)
	return now, err
}

func (o Options) readStatus(ctx context.Context) (storeStatus, error) {
	now, err := countStatus(ctx, o.Progress)
	if err != nil {
		return now, err
	}
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
	case !s.known && !s.state.Scheduled.IsZero() && now.Sub(s.state.Scheduled) > max(lag, stream.ScheduleLate):
		return comment.Errorf(comment.Unavailable, lateCounts+" by %s%s", now.Sub(s.state.Scheduled).Round(time.Second), meanwhile)
	case s.away != nil:
		return unavailable(storeAway, s.away)
	case !s.complete():
		return unavailable(notBuilt, errors.New(reasonToBuild(s)))
	}
	return nil
}

// Answered reports whether a refused lookup is no fault of the store: it answers, but is not
// complete.
func Answered(err error) bool {
	refused, ok := errors.AsType[*comment.Error](err)
	return ok && (refused.Message == notCounted || refused.Message == notBuilt)
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

// A table or a store that was put back to an earlier state still looks complete: a backup was
// restored, or a lagging standby took over. So both hold a moment, a random text. A process that
// feeds the store replaces it every Look, first in the table and then in the store. The table knows
// the moments at which the store may be. At any other moment, the store is not of this table's
// history. A complete store covers the token, "@" and a moment.

// at returns the text that a complete store covers at a moment.
func at(token, moment string) string { return token + "@" + moment }

// tokenOf returns the token in the text that a store covers.
func tokenOf(covers string) string {
	token, _, _ := strings.Cut(covers, "@")
	return token
}

// knows reports whether the table knows the moment in the text that the store covers.
func (s Registration) knows(covers string) bool {
	_, moment, _ := strings.Cut(covers, "@")
	return slices.Contains(strings.Fields(s.Moments), moment)
}

// mostMoments bounds the known moments while a store does not move on.
const mostMoments = 40

// toward returns the registration of a store that is about to move on to another moment. It keeps
// the store's moment until then, or the last known one, which another process set.
func (s Registration) toward(covers, next string) Registration {
	_, moment, _ := strings.Cut(covers, "@")
	known := strings.Fields(s.Moments)
	if i := slices.Index(known, moment); i >= 0 {
		known = known[i:] // other processes may be moving it to the following ones
	} else if len(known) > 0 {
		known = known[len(known)-1:]
	}
	if len(known) > mostMoments {
		known = slices.Concat(known[:1], known[len(known)-mostMoments+1:])
	}
	s.Moments = strings.Join(append(slices.Clone(known), next), " ")
	return s
}

// glance reads the registry, and the text that the store covers. It reads again if another process
// moves both on meanwhile. away is the error of the store.
func (o Options) glance(ctx context.Context) (registry Registry, covers string, away, err error) {
	registry, err = o.Table.Registry(ctx)
	for err == nil {
		covers, away = within(ctx, o.Pace.Feed, o.Store.Covers)
		before := registry.Version
		if away != nil || registry.Stores[o.Name].knows(covers) {
			break
		}
		if registry, err = o.Table.Registry(ctx); registry.Version == before {
			break
		}
	}
	return registry, covers, away, err
}

// register changes the registration of a store, which is the zero value if the table does not know
// it. It starts over while other processes are faster. An error of change ends it.
func (o Options) register(ctx context.Context, name string, change func(*Registration) error) (Registration, error) {
	for {
		registry, err := o.Table.Registry(ctx)
		if err != nil {
			return Registration{}, err
		}
		s := registry.Stores[name]
		if err := change(&s); err != nil || s == registry.Stores[name] {
			return s, err
		}
		if err := o.Table.SwapRegistry(ctx, registry, registry.with(name, s)); comment.KindOf(err) != comment.Conflict {
			return s, err
		}
	}
}

// errNotOurs means that a store lacks the identity in the table, errPutBack that its moment is
// unknown to the table.
var (
	errNotOurs = comment.Errorf(comment.Conflict, "it was emptied, is of another release, or belongs to another table")
	errPutBack = comment.Errorf(comment.Conflict, "it or the table was put back to an earlier state")
)
