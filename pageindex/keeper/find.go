package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/pageindex"
)

// An answer is right if the store was complete when it answered. Two facts prove that, although the
// table, the store and the answer are read one after the other.
//
// First, Find reads how far counting has come, and then the registry. Whatever was counted by then
// was fed, or its gap is in the registry. A gap that is declared later is noticed up to Look later.
// Until then, the answer lacks no change from before the first read: it is as if counting were that
// much late.
//
// Second, the store covered the token at most Look before the answer, and covers it after the
// answer. It cannot have been incomplete between. A store that was emptied or taken by another
// table has lost its identity, and never gets the same one again. One that was rebuilt meanwhile
// covered another token before.

// Find finds targets in a list. The error is of the kind Unavailable while the store does not
// answer, may lack comments, or counting is late.
func (k *Keeper) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	now, err := k.seen.get(ctx)
	if err != nil {
		return pageindex.Found{}, err
	}
	if err := now.objection(time.Now(), k.Pace.Lag); err != nil {
		k.awake()
		return pageindex.Found{}, err
	}
	asked, cancel := context.WithTimeout(ctx, k.Pace.Find)
	defer cancel()
	found, err := k.Store.Find(asked, list, targets)
	var covers string
	if err == nil {
		covers, err = k.Store.Covers(asked)
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = unavailable(storeAway, err)
	case tokenOf(covers) != tokenOf(now.covers):
		err = unavailable(notBuilt, errors.New("the store lost what it covered"))
	}
	if err != nil {
		k.seen.forget()
		return pageindex.Found{}, err
	}
	return found, nil
}
