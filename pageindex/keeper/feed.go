package keeper

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
)

// Feeding races with builds that other processes begin. An entry that is fed was counted before:
// its marker is in the table. A build that reads the markers later may supply it; a build that has
// already read them does not have it. A build notes its beginning in the registry, and reads no
// marker for Settle after that. So if a registry read at most Look ago has an open gap, no build
// reads the markers before this entry's was written.

// firstRetry is the wait before the first retry of a store; it doubles each time.
const firstRetry = 50 * time.Millisecond

// Apply feeds entries of counted comments to all stores of the table. Without an error each store
// has them, or the table notes that it lacks some. An error comes from the table: feed the entries
// again.
func (k *Keeper) Apply(ctx context.Context, entries []pageindex.Entry) error {
	registry, err := k.registry.Get(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(registry.Stores)) {
		if err := k.applyTo(ctx, name, registry.Stores[name], entries); err != nil {
			return err
		}
	}
	return nil
}

// applyTo feeds entries to one store of the table.
func (k *Keeper) applyTo(ctx context.Context, name string, s Registration, entries []pageindex.Entry) error {
	if s.Open() {
		return nil
	}
	if k.Store == nil || name != k.Name {
		return k.declareGap(ctx, name, "comments were counted by a process that does not feed it: "+k.Who, nil)
	}
	err := k.feed(ctx, s.Identity, entries)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*unread)):
		return err
	}
	reason := "it was away or slow" // without the store's message, which may be long and contain foreign data
	if comment.KindOf(err) == comment.Conflict {
		reason = comment.MessageOf(err)
	}
	return k.declareGap(ctx, name, reason, err)
}

// feed feeds entries to the store, and retries for a while.
func (k *Keeper) feed(ctx context.Context, identity string, entries []pageindex.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, k.Pace.Feed)
	defer cancel()
	for pause := firstRetry; ; pause *= 2 {
		err := task.Try(func() error {
			now, err := k.fed.GetBy(ctx, k.advance)
			if err != nil {
				return err
			}
			if now != identity {
				k.fed.Forget()
				return errNotOurs
			}
			defer k.unmoved.Store(true)
			return k.Store.Apply(ctx, entries)
		})
		if err == nil || comment.KindOf(err) == comment.Conflict || task.Wait(ctx, pause) != nil {
			return err
		}
	}
}

// declareGap notes in the table that a store misses entries, unless that is already noted. cause is
// for the log; nil if this process does not feed the store.
func (k *Keeper) declareGap(ctx context.Context, name, reason string, cause error) error {
	declared := false
	_, err := k.register(ctx, name, func(s *Registration) error {
		if declared = *s != (Registration{}) && !s.Open(); declared {
			*s = s.withGap(reason, time.Now().UTC())
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case declared && cause == nil:
		k.Logger.Warn("comments are counted here without updating a store of page numbers, which is not complete any more: give all processes that count the same --pages", "store", name)
	case declared:
		k.Logger.Warn("a store of page numbers missed comments and will be built anew; until then page numbers are unavailable", "store", name, "reason", reason, "error", cause)
	}
	k.registry.Forget()
	k.awake()
	return nil
}

// advance moves table and store on to another moment, and returns the store's identity. It does not
// move a store inside the table, one that is being built, or one that is not ours.
func (k *Keeper) advance(ctx context.Context) (identity string, err error) {
	k.unmoved.Store(false)
	ctx, cancel := context.WithTimeout(ctx, k.Pace.Feed) // feeds wait for it
	defer cancel()
	registry, covers, away, err := k.glance(ctx)
	switch {
	case away != nil:
		return "", away
	case err != nil:
		return "", &unread{err}
	}
	s, identity := registry.Stores[k.Name], identityOf(covers)
	renewer, outside := k.Store.(pageindex.Renewer)
	switch token := tokenOf(covers); {
	case !outside || s.Work.Owner != "" || identity != s.Identity || token == covers:
		return identity, nil
	case !s.knows(covers):
		return "", errPutBack
	}
	moving, cancel := context.WithTimeout(ctx, k.Pace.Feed/4)
	defer cancel()
	next := newIdentity()
	err = k.Table.SwapRegistry(moving, registry, registry.with(k.Name, s.toward(covers, next)))
	if err == nil {
		err = renewer.Renew(moving, covers, at(tokenOf(covers), next))
	}
	if err != nil { // another process moves them on or builds the store, or one of them is slow
		k.unmoved.Store(true)
	}
	return identity, nil
}

// unread is an error of the table, which says nothing about the store.
type unread struct{ error }

// Unwrap returns the error of the table.
func (u *unread) Unwrap() error { return u.error }
