package keeper

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/talkback/talkback/stream"
)

// Registry lists the stores that the table's comments are fed to, by name. All processes that count
// share it.
type Registry struct {
	// Version rises by 1 with each write; 0 is a registry that was never written.
	Version int64
	// Stores has a registration for each store that was ever built.
	Stores map[string]Registration
}

// Registration is the table's record of one store.
type Registration struct {
	// Identity is a random text that a build gives to a store without one, and that the store
	// keeps. It tells the store apart from others of the same name, and reveals that it was
	// emptied.
	Identity string
	// Gaps is how often the store missed entries; a new store has missed all.
	Gaps int64
	// Begun is the value of Gaps when the last build began. While it is less than Gaps, the store
	// is incomplete and will be built anew, so it is not fed.
	Begun int64
	// Since is when it first missed entries since the last build, and Reason a sentence that says
	// why.
	Since  time.Time
	Reason string
	// Built is the token for which the last build finished; empty before the first.
	Built string
	// Moments are the moments at which the store may be, separated by spaces, the latest last.
	Moments string
	// Work is the build under way. The zero value means none.
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
	// Entries is how many entries of the table were read so far.
	Entries int64
}

// free reports whether no process builds the store. A process that used an ended run of the local
// engine counts as gone: it can no longer write.
func (w Work) free(engine string) bool {
	return w.Owner == "" || engine != "" && w.Engine != "" && w.Engine != engine
}

// Table keeps the registry.
type Table interface {
	// Registry reads the registry, consistently.
	Registry(ctx context.Context) (Registry, error)
	// SwapRegistry replaces the old registry by next, whose version becomes one higher. If the
	// stored version is not that of the old one, the error is of the kind Conflict.
	SwapRegistry(ctx context.Context, old, next Registry) error
}

// with returns the registry with a store's registration replaced.
func (r Registry) with(name string, s Registration) Registry {
	stores := maps.Clone(r.Stores)
	if stores == nil {
		stores = map[string]Registration{}
	}
	stores[name] = s
	return Registry{Version: r.Version, Stores: stores}
}

// forgetAfter is how long the registry remembers a store that misses entries. A store that returns
// later gets a new identity and is built anew, as it would be anyway.
const forgetAfter = 90 * 24 * time.Hour

// without returns the registry without stores that have missed entries for long, except one.
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

// Token returns the token that a complete store covers while the statistics have this state. It
// changes when the store gets a new identity or misses entries, and when all comments are counted
// anew.
func (s Registration) Token(state stream.State) string {
	return fmt.Sprintf("%s/%d/%d", s.Identity, s.Gaps, state.Since.UnixMilli())
}

// identityOf returns the identity in the text that a store covers; empty if it has none.
func identityOf(covers string) string {
	identity, _, _ := strings.Cut(covers, "/")
	return identity
}
