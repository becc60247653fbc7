package keeper

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
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
	r.Stores = maps.Collect(maps.All(r.Stores)) // not nil
	r.Stores[name] = s
	return r
}

// forgetAfter is how long the registry remembers a store that misses entries. A store that returns
// later gets a new identity and is built anew, as it would be anyway.
const forgetAfter = 90 * 24 * time.Hour

// remembered returns the registry without stores that have missed entries for long.
func (r Registry) remembered(now time.Time) Registry {
	maps.DeleteFunc(r.Stores, func(_ string, s Registration) bool {
		return s.Open() && now.Sub(s.Since) > forgetAfter
	})
	return r
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

// Keys and attributes of the registry. It is one item, so that one call reads all of it, and a
// write can be conditional on nothing else having changed.
const (
	registryPK = "PAGES"
	registrySK = "STORES"

	attrVersion = "n" // N, rises with each write
	attrStores  = "s" // M, by name, of maps with the following attributes

	attrIdentity = "i"
	attrGaps     = "g"
	attrMoments  = "m" // absent for none in a registration of an early version
)

// fields returns the attributes of a registration, without its moments.
func (s *Registration) fields() layout.Fields {
	return layout.Fields{
		attrIdentity: &s.Identity, attrGaps: &s.Gaps, "b": &s.Begun, "t": &s.Since, "r": &s.Reason, "c": &s.Built,
		"o": &s.Work.Owner, "w": &s.Work.Who, "d": &s.Work.Engine, "h": &s.Work.Heartbeat, "e": &s.Work.Entries,
	}
}

// Client is the part of the SDK's client that a TableRegistry calls.
type Client interface {
	call.Putter
	call.ItemGetter
}

// TableRegistry keeps the registry in a table: which outside stores are fed, and what they missed.
// It is safe for concurrent use.
type TableRegistry struct {
	client Client
	table  string
}

var _ Table = (*TableRegistry)(nil)

// NewTableRegistry makes the registry of a table.
func NewTableRegistry(client Client, table string) *TableRegistry {
	return &TableRegistry{client: client, table: table}
}

// Registry implements Table. It leaves out a store whose registration cannot be read, so that the
// store is built anew, and one that is to be forgotten: the next write drops it from the table.
func (r *TableRegistry) Registry(ctx context.Context) (Registry, error) {
	it, err := call.Item(ctx, r.client, r.table, layout.Key(registryPK, registrySK), "stores of page numbers")
	if err != nil {
		return Registry{}, err
	}
	return decodeRegistry(it).remembered(time.Now()), nil
}

// SwapRegistry implements Table. If the stored registry already equals next, an earlier attempt
// wrote it and its answer was lost.
func (r *TableRegistry) SwapRegistry(ctx context.Context, old, next Registry) error {
	next.Version = old.Version + 1
	written := encodeRegistry(next)
	condition, values := layout.SameNumber(attrVersion, old.Version)
	found, err := call.Swap(ctx, r.client, r.table, written, condition, values)
	if there := decodeRegistry(found); there.Version == next.Version && maps.Equal(there.Stores, decodeRegistry(written).Stores) {
		return nil
	}
	return call.Wrap(err, "stores of page numbers")
}

func encodeRegistry(registry Registry) layout.Item {
	stores := layout.Item{}
	for name, s := range registry.Stores {
		store := layout.Item{attrMoments: layout.Text(s.Moments)}
		s.fields().Write(store)
		stores[name] = &types.AttributeValueMemberM{Value: store}
	}
	out := layout.Key(registryPK, registrySK)
	out[attrVersion] = layout.Number(registry.Version)
	out[attrStores] = &types.AttributeValueMemberM{Value: stores}
	return out
}

func decodeRegistry(it layout.Item) Registry {
	version, _ := layout.ParseNumber(it[attrVersion]) // 0 if it cannot be read
	out := Registry{Version: version, Stores: map[string]Registration{}}
	stores, _ := it[attrStores].(*types.AttributeValueMemberM)
	if stores == nil {
		return out
	}
	for name, value := range stores.Value {
		store, ok := value.(*types.AttributeValueMemberM)
		if !ok {
			continue
		}
		r := layout.NewReader(store.Value)
		s := Registration{Moments: r.OptionalText(attrMoments)}
		s.fields().Read(r)
		if r.Err() == nil {
			out.Stores[name] = s
		}
	}
	return out
}
