package keeper

import (
	"context"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

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

// errNotOurs means that a store lacks the identity in the table, errPutBack that its moment is
// unknown to the table.
var (
	errNotOurs = comment.Errorf(comment.Conflict, "it was emptied, or belongs to another table")
	errPutBack = comment.Errorf(comment.Conflict, "it or the table was put back to an earlier state")
)
