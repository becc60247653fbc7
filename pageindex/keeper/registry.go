package keeper

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/talkback/talkback/stream"
)

// Registry is what the table knows of the stores that its comments are fed to, by their names. All
// processes that count share it.
type Registry struct {
	// Version rises by 1 with each write; 0 is a registry that was never written.
	Version int64
	// Stores has a registration for each store that was ever built.
	Stores map[string]Registration
}

// Registration is what the table knows of one store.
type Registration struct {
	// Identity is a random text that a build gives to a store which has none, and which the store
	// keeps. It tells the store from others of the same name, and from itself once it was emptied.
	Identity string
	// Gaps is how often the store missed entries; a new store has missed all.
	Gaps int64
	// Begun is what Gaps was when the last build began. While it is less than Gaps, the store is not
	// complete and will be built anew, so that nothing needs to be fed to it.
	Begun int64
	// Since is when it missed entries first since the last build, and Reason a sentence that says
	// why.
	Since  time.Time
	Reason string
	// Built is the token that the last build finished for; empty before the first.
	Built string
	// Moments are those between which the store is, with spaces, the last one last.
	Moments string
	// Work is the build under way. The zero value is none.
	Work Work
}

// Work is a build under way. Its process writes it with every heartbeat.
type Work struct {
	// Owner is unique to the build, and empty for one that was interrupted.
	Owner string
	// Who describes the process for people.
	Who string
	// Engine names the run of the local engine that the process uses; empty for other engines.
	Engine string
	// Heartbeat rises with every heartbeat.
	Heartbeat int64
	// Entries is how many entries of the table were read.
	Entries int64
}

// free reports whether no process builds a store, or one that worked through an ended run of the
// engine and so can write no more.
func (w Work) free(engine string) bool {
	return w.Owner == "" || engine != "" && w.Engine != "" && w.Engine != engine
}

// Table keeps the registry.
type Table interface {
	// Registry reads the registry, consistently.
	Registry(ctx context.Context) (Registry, error)
	// SwapRegistry replaces the old registry, and gives the next one the version after it. If the
	// stored version is not that of the old one, the error is of the kind Conflict.
	SwapRegistry(ctx context.Context, old, next Registry) error
}

// with returns the registry with another registration of a store.
func (r Registry) with(name string, s Registration) Registry {
	stores := maps.Clone(r.Stores)
	if stores == nil {
		stores = map[string]Registration{}
	}
	stores[name] = s
	return Registry{Version: r.Version, Stores: stores}
}

// forgetAfter is how long a store that misses entries is remembered. Should it come back later, it
// gets a new identity and is built anew, as it would be anyway.
const forgetAfter = 90 * 24 * time.Hour

// without returns the registry without other stores that missed entries long ago.
func (r Registry) without(now time.Time, except string) Registry {
	stores := maps.Clone(r.Stores)
	maps.DeleteFunc(stores, func(name string, s Registration) bool {
		return name != except && s.Open() && now.Sub(s.Since) > forgetAfter
	})
	return Registry{Version: r.Version, Stores: stores}
}

// Open reports whether the store missed entries and no build has begun since.
func (s Registration) Open() bool { return s.Begun < s.Gaps }

// withGap returns the registration of a store that missed entries.
func (s Registration) withGap(reason string, now time.Time) Registration {
	s.Gaps, s.Since, s.Reason = s.Gaps+1, now, reason
	return s
}

// Token returns what a complete store covers while the statistics have this state. It changes when
// the store gets a new identity, misses entries, and when all comments were counted anew.
func (s Registration) Token(state stream.State) string {
	return fmt.Sprintf("%s/%d/%d", s.Identity, s.Gaps, state.Since.UnixMilli())
}

// identityOf returns the identity of a store, from what it covers; empty if it has none.
func identityOf(covers string) string {
	identity, _, _ := strings.Cut(covers, "/")
	return identity
}
