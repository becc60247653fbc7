package keeper

import (
	"context"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// A table or a store that is put back to an earlier state looks complete still: a backup was
// restored, or a standby took over that lagged. So both hold a moment, a random text that a process
// which feeds the store replaces every Look, first in the table and then in the store. The table
// knows between which moments the store is. At any other one, the store is not of this table's
// history. What a complete store covers is the token, "@" and a moment.

// at returns what a complete store covers at a moment.
func at(token, moment string) string { return token + "@" + moment }

// tokenOf returns the token of what a store covers.
func tokenOf(covers string) string {
	token, _, _ := strings.Cut(covers, "@")
	return token
}

// knows reports whether the table knows the moment of what the store covers.
func (s Registration) knows(covers string) bool {
	_, moment, _ := strings.Cut(covers, "@")
	return slices.Contains(strings.Fields(s.Moments), moment)
}

// mostMoments bounds the moments that the table knows while a store does not move on.
const mostMoments = 40

// toward returns the registration of a store that moves on to another moment. It stays at the moment
// where it is until then, or moves to the last one known, which another process set.
func (s Registration) toward(covers, next string) Registration {
	_, moment, _ := strings.Cut(covers, "@")
	known := strings.Fields(s.Moments)
	if i := slices.Index(known, moment); i >= 0 {
		known = known[i:] // other processes may be moving it to those that follow
	} else if len(known) > 0 {
		known = known[len(known)-1:]
	}
	if len(known) > mostMoments {
		known = slices.Concat(known[:1], known[len(known)-mostMoments+1:])
	}
	s.Moments = strings.Join(append(slices.Clone(known), next), " ")
	return s
}

// glance reads what the table knows of the store, and what the store covers. It reads again if
// another process moves both on meanwhile. away is the error of the store.
func (o Options) glance(ctx context.Context) (registry Registry, covers string, away, err error) {
	registry, err = o.Table.Registry(ctx)
	for err == nil {
		asked, cancel := context.WithTimeout(ctx, o.Pace.Feed)
		covers, away = o.Store.Covers(asked)
		cancel()
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

// errNotOurs is for a store that has not the identity that the table knows, errPutBack for one that
// has another moment.
var (
	errNotOurs = comment.Errorf(comment.Conflict, "it was emptied, or belongs to another table")
	errPutBack = comment.Errorf(comment.Conflict, "it or the table was put back to an earlier state")
)
