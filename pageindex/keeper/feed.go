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

// Feeding is a race with builds that other processes begin. An entry that is handed over was
// counted before: its marker is in the table. It may be left to a build that reads the markers
// later, and must not be left out of one that has read them. A build notes that it begins in the
// registry, and reads no marker for Settle after that. So if a registry that was read up to Look
// ago says that a gap is open, no build reads the markers before this entry's was written.

// firstRetry is the wait before a store is tried again; it doubles with each try.
const firstRetry = 50 * time.Millisecond

// Apply hands over entries of comments that are counted. Without an error each store of the table
// has them, or the table says that it lacks some. An error is that of the table: the entries are to
// be handed over again.
func (k *Keeper) Apply(ctx context.Context, entries []pageindex.Entry) error {
	registry, err := k.registry.get(ctx)
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

// applyTo hands over entries to one store of the table.
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
	reason := "it was away or slow" // without what the store says, which may be long and of others
	if comment.KindOf(err) == comment.Conflict {
		reason = comment.MessageOf(err)
	}
	return k.declareGap(ctx, name, reason, err)
}

// feed hands entries to the store, and retries for a while.
func (k *Keeper) feed(ctx context.Context, identity string, entries []pageindex.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, k.Pace.Feed)
	defer cancel()
	for pause := firstRetry; ; pause *= 2 {
		err := task.Try(func() error {
			now, err := k.fed.getBy(ctx, k.advance)
			if err != nil {
				return err
			}
			if now != identity {
				k.fed.forget()
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

// declareGap notes in the table that a store misses entries, unless that is noted already. cause is
// for the log; nil if this process does not feed the store.
func (k *Keeper) declareGap(ctx context.Context, name, reason string, cause error) error {
	for {
		registry, err := k.Table.Registry(ctx)
		if err != nil {
			return err
		}
		s, known := registry.Stores[name]
		if !known || s.Open() {
			break
		}
		err = k.Table.SwapRegistry(ctx, registry, registry.with(name, s.withGap(reason, time.Now().UTC())))
		if err == nil {
			if cause == nil {
				k.Logger.Warn("comments are counted here without telling a store of page numbers, which is not complete any more: give all processes that count the same --pages", "store", name)
			} else {
				k.Logger.Warn("a store of page numbers missed comments and will be built anew; until then page numbers are unavailable", "store", name, "reason", reason, "error", cause)
			}
			break
		}
		if comment.KindOf(err) != comment.Conflict {
			return err
		}
	}
	k.registry.forget()
	k.awake()
	return nil
}

// advance moves table and store on to another moment, and returns the identity of the store. It
// leaves a store as it is that is in the table, is being built or is not ours.
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

// unread is an error of the table, of which nothing follows about the store.
type unread struct{ error }

// Unwrap returns the error of the table.
func (u *unread) Unwrap() error { return u.error }
