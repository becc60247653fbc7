// Package webhooks tells other services of events: it posts them to addresses, as Standard Webhooks
// says, https://www.standardwebhooks.com.
//
// hook.go is what a hook is and how far it came, store.go keeps both in the table, and damaged.go tells
// items that someone changed by hand. send.go makes one request, and purge.go one that purges a CDN.
// lane.go decides what follows from its outcome: the next event, another try, or giving up. deliverer.go
// delivers all hooks of a table, each by one process at a time. state.go is for operators: how hooks are,
// and what was given up.
package webhooks

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/fetch"
)

// Hook is an address that events are delivered to.
type Hook struct {
	// ID names the hook.
	ID string
	// URL is the address.
	URL string
	// Kinds are the kinds of events that are delivered; empty for all.
	Kinds []outbox.Kind
	// SecretEnv is the environment variable that holds the secret, in each process that delivers.
	SecretEnv string
	// AllowPrivate says that the address may be inside the own network, and need not use TLS.
	AllowPrivate bool
	// GiveUp is for how long a delivery is tried again.
	GiveUp time.Duration
	// Purge names the CDN whose answers about changed products are purged at the address; empty for an
	// address that events are delivered to.
	Purge string `json:",omitempty"`
	// Paused says that nothing is delivered for now.
	Paused bool
	// Begin is the position after which it begins.
	Begin outbox.Position
	// Replays counts replays. The latest one was asked for at Replayed, of what happened from Since on.
	Replays         int
	Replayed, Since time.Time
}

// DefaultGiveUp is for how long a delivery is tried again by default.
const DefaultGiveUp = 3 * 24 * time.Hour

// MaxHooks is how many hooks a table can have: each is read for all the time.
const MaxHooks = 20

// secretPrefix begins secrets as Standard Webhooks writes them.
const secretPrefix = "whsec_"

// Check returns a BadInput error if a hook cannot be delivered to.
func (h Hook) Check() error {
	address, err := url.Parse(h.URL)
	switch {
	case err != nil || address.Host == "" || address.User != nil || address.Fragment != "" || address.Scheme != "https" && address.Scheme != "http":
		return comment.Errorf(comment.BadInput, "the address of a hook must be like https://shop.example/hooks, without user name and fragment")
	case address.Scheme == "http" && !h.AllowPrivate:
		return comment.Errorf(comment.BadInput, "the address of a hook must begin with https://; inside your own network, http:// is taken with --allow-private")
	case !reaches(address.Hostname(), h.AllowPrivate):
		return comment.Errorf(comment.BadInput, "nothing is delivered to %s: give an address that is public, or with --allow-private one inside your own network", address.Hostname())
	case h.SecretEnv == "" || strings.ContainsAny(h.SecretEnv, "= \x00") || strings.HasPrefix(h.SecretEnv, secretPrefix):
		return comment.Errorf(comment.BadInput, "give the name of the environment variable that holds the secret, not the secret")
	case h.Purge != "" && cdns[h.Purge] == nil:
		return comment.Errorf(comment.BadInput, "%.40q is no CDN whose purges are known: give one of %v, or add a hook without --purge and purge by the product that it tells", h.Purge, slices.Sorted(maps.Keys(cdns)))
	case h.GiveUp < time.Minute || h.GiveUp > outbox.Keep/2:
		return comment.Errorf(comment.BadInput, "a delivery can be tried again for 1m to %v", outbox.Keep/2)
	}
	for _, kind := range h.Kinds {
		if !slices.Contains(outbox.Kinds(), kind) {
			return comment.Errorf(comment.BadInput, "%.40q is no kind of events: give some of %v", kind, outbox.Kinds())
		}
	}
	return nil
}

// reaches reports whether a host is one that is delivered to, as far as it tells: where a name leads is looked
// at with each delivery.
func reaches(host string, private bool) bool {
	at, err := netip.ParseAddr(host)
	return err != nil || fetch.Public(at) || private && fetch.PublicOrInside(at)
}

// Address returns the URL without its query, which may hold a secret.
func (h Hook) Address() string {
	address, _, _ := strings.Cut(h.URL, "?")
	return address
}

// wants reports whether an event is delivered to a hook. No answer at a CDN shows reports, or a comment
// that is in no list and was in none.
func (h Hook) wants(e outbox.Event) bool {
	if h.Purge != "" && (e.Kind == outbox.Reported || !e.Shown && !e.WasShown) {
		return false
	}
	return (len(h.Kinds) == 0 || slices.Contains(h.Kinds, e.Kind)) && !e.At.Before(h.Since)
}

// requests returns the events of a batch that are delivered to a hook, by request: a purge has those of
// up to maxTags products, other requests one event.
func (h Hook) requests(batch []outbox.Event) (requests [][]outbox.Event) {
	var products map[string]bool // of the last request
	for _, e := range batch {
		last := len(requests) - 1
		switch {
		case !h.wants(e):
			continue
		case h.Purge != "" && last >= 0 && (products[e.Product] || len(products) < maxTags):
			requests[last] = append(requests[last], e)
		default:
			requests, products = append(requests, []outbox.Event{e}), map[string]bool{}
		}
		products[e.Product] = true
	}
	return requests
}

// Progress is how far a hook came.
type Progress struct {
	// Lanes are how far it came in each lane.
	Lanes [outbox.Lanes]LaneProgress
	// Replays is how many replays were begun.
	Replays int
	// Who is the process that delivers it, empty while there is none.
	Who string `json:"-"`
}

// LaneProgress is how far a hook came in a lane.
type LaneProgress struct {
	// Position is that of the last event that was delivered, not wanted or given up.
	Position uint64
	// Delivered and DeadLettered count events.
	Delivered, DeadLettered int
	// Failing is the event whose delivery failed, Attempts how often, Next when it is tried again, and
	// Since when it happened.
	Failing     string    `json:",omitempty"`
	Attempts    int       `json:",omitempty"`
	Next, Since time.Time `json:",omitzero"`
	// LastError is why the last delivery that failed did.
	LastError string `json:",omitempty"`
}

// DeadLetter is an event that a hook refused for too long.
type DeadLetter struct {
	outbox.Event
	// Reason is why the last try failed.
	Reason string
}

// Sum adds up the lanes. Of those that fail, it has the one with the most attempts.
func (p Progress) Sum() (sum LaneProgress) {
	for _, lane := range p.Lanes {
		if lane.Attempts > sum.Attempts || sum.LastError == "" {
			sum.Failing, sum.Attempts, sum.Next, sum.Since, sum.LastError = lane.Failing, lane.Attempts, lane.Next, lane.Since, lane.LastError
		}
		sum.Delivered += lane.Delivered
		sum.DeadLettered += lane.DeadLettered
	}
	return sum
}
