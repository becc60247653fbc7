// Package webhooks notifies other services of events: it posts them to URLs, following Standard
// Webhooks, https://www.standardwebhooks.com.
//
// hook.go defines a hook and its progress, store.go keeps both in the table, and damaged.go reports
// items that were edited by hand. send.go makes one request, purge.go one that purges a CDN.
// lane.go decides what follows from the outcome: the next event, a retry, or giving up.
// deliverer.go delivers all hooks of a table, each by one process at a time. state.go shows
// operators the state of hooks, and dead letters.
package webhooks

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/fetch"
)

// Hook is a URL that events are delivered to.
type Hook struct {
	ID  string
	URL string
	// Kinds are the kinds of events that are delivered; empty for all.
	Kinds []outbox.Kind
	// SecretEnv is the environment variable that holds the secret, in each delivering process.
	SecretEnv string
	// AllowPrivate allows an address inside your own network, and one without TLS.
	AllowPrivate bool
	// GiveUp is how long a delivery is retried: from a minute to half of outbox.Keep.
	GiveUp time.Duration
	// Purge names the CDN to purge at the URL, of answers about changed products. It is empty if
	// the URL receives the events themselves.
	Purge string `json:",omitempty"`
	// Paused stops deliveries for now.
	Paused bool
	// Begin is the position in the log after which deliveries begin.
	Begin outbox.Position
	// Changes counts changes, so that none leaves the text that an earlier one replaced.
	Changes int `json:",omitempty"`
	// Replays counts replays. The latest one was requested at Replayed, for events since Since.
	Replays         int
	Replayed, Since time.Time

	stored string // as it was read from the table
}

// MaxHooks is how many hooks a table can have. Each reads the log continuously.
const MaxHooks = 20

// Bounds of what a hook stores, in bytes.
const (
	maxURL       = 2048
	maxSecretEnv = 255
)

// secretPrefix begins secrets as Standard Webhooks writes them.
const secretPrefix = "whsec_"

// Check returns a BadInput error if nothing can be delivered to the hook.
func (h Hook) Check() error {
	address, err := url.Parse(h.URL)
	switch {
	case err != nil || address.Host == "" || address.User != nil || address.Fragment != "" || address.Scheme != "https" && address.Scheme != "http":
		return comment.Errorf(comment.BadInput, "the address of a hook must be like https://shop.example/hooks, without user name and fragment")
	case !utf8.ValidString(h.URL) || !utf8.ValidString(h.SecretEnv):
		return comment.Errorf(comment.BadInput, "the address of a hook, or its --secret-env, is not valid UTF-8: it would be stored as another one")
	case len(h.URL) > maxURL:
		return comment.Errorf(comment.BadInput, "the address of a hook has %d bytes: give one of at most %d", len(h.URL), maxURL)
	case address.Scheme == "http" && !h.AllowPrivate:
		return comment.Errorf(comment.BadInput, "the address of a hook must begin with https://; inside your own network, http:// is taken with --allow-private")
	case !reaches(address.Hostname(), h.AllowPrivate):
		return comment.Errorf(comment.BadInput, "nothing is delivered to %s: give an address that is public, or with --allow-private one inside your own network", address.Hostname())
	case h.SecretEnv == "" || strings.ContainsAny(h.SecretEnv, "$= \x00") || strings.HasPrefix(h.SecretEnv, secretPrefix):
		return comment.Errorf(comment.BadInput, "give the name of the environment variable that holds the secret by --secret-env, not the secret itself")
	case len(h.SecretEnv) > maxSecretEnv:
		return comment.Errorf(comment.BadInput, "the name of the variable of --secret-env has %d bytes: choose one of at most %d", len(h.SecretEnv), maxSecretEnv)
	case len(h.Kinds) > len(outbox.Kinds()):
		return comment.Errorf(comment.BadInput, "there are %d kinds of events: give each once, or none for all", len(outbox.Kinds()))
	case h.Purge != "" && cdns[h.Purge] == nil:
		return comment.Errorf(comment.BadInput, "%.40q is not a CDN that hooks can purge: give one of %v, or leave --purge out and have the receiver purge the product of each event", h.Purge, slices.Sorted(maps.Keys(cdns)))
	case h.GiveUp < time.Minute || h.GiveUp > outbox.Keep/2:
		return comment.Errorf(comment.BadInput, "--give-up %v is too short or too long for trying a delivery again: give 1m to 168h", h.GiveUp)
	}
	for _, kind := range h.Kinds {
		if !slices.Contains(outbox.Kinds(), kind) {
			return comment.Errorf(comment.BadInput, "%.40q is no kind of events: give some of %v", kind, outbox.Kinds())
		}
	}
	return nil
}

// reaches reports whether a host may be delivered to. It only judges IP addresses and localhost,
// which is this machine everywhere: what a name resolves to is checked with each delivery.
func reaches(host string, private bool) bool {
	at, err := netip.ParseAddr(host)
	if name := "." + strings.ToLower(strings.TrimSuffix(host, ".")); strings.HasSuffix(name, ".localhost") { // RFC 6761
		at, err = netip.IPv6Loopback(), nil
	}
	return err != nil || fetch.Public(at) || private && fetch.PublicOrInside(at)
}

// Address returns the URL without its query, which may hold a secret.
func (h Hook) Address() string {
	address, _, _ := strings.Cut(h.URL, "?")
	return address
}

// selects reports whether events of a kind are delivered to a hook.
func (h Hook) selects(kind outbox.Kind) bool {
	return len(h.Kinds) == 0 || slices.Contains(h.Kinds, kind)
}

// repeats reports whether a hook delivers the same events to the same URL as another.
func (h Hook) repeats(other Hook) bool {
	return h.URL == other.URL && h.Purge == other.Purge &&
		!slices.ContainsFunc(outbox.Kinds(), func(k outbox.Kind) bool { return h.selects(k) != other.selects(k) })
}

// requests groups the events of a batch that are delivered to a hook by request. A purge has the
// events of up to maxTags products, any other request one event.
func (h Hook) requests(batch []outbox.Event) (requests [][]outbox.Event) {
	var products map[string]bool // of the last request
	for _, e := range batch {
		last := len(requests) - 1
		switch {
		case !h.selects(e.Kind) || e.At.Before(h.Since):
			continue
		case h.Purge != "" && (e.Kind == outbox.Reported || !e.Shown && !e.WasShown): // it changes nothing that a CDN keeps
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

// Progress is how far the delivery of a hook has come.
type Progress struct {
	Lanes [outbox.Lanes]LaneProgress
	// Replays is how many of the hook's replays were started.
	Replays int
	// Who is the process that delivers it, empty while there is none.
	Who string `json:"-"`
}

// LaneProgress is how far the delivery of a hook has come in one lane.
type LaneProgress struct {
	// Position is that of the last event that was delivered, filtered out or dead-lettered.
	Position                uint64
	Delivered, DeadLettered int
	// Failing is the id of the event whose delivery failed, Attempts how often it failed, Next when
	// it is retried, and Since when the event happened.
	Failing     string    `json:",omitempty"`
	Attempts    int       `json:",omitempty"`
	Next, Since time.Time `json:",omitzero"`
	// LastError is the reason of the last failed delivery.
	LastError string `json:",omitempty"`
}

// at returns the progress of a lane at another position, where no event fails.
func (l LaneProgress) at(position uint64, lastError string) LaneProgress {
	return LaneProgress{Position: position, Delivered: l.Delivered, DeadLettered: l.DeadLettered, LastError: lastError}
}

// DeadLetter is an event that a hook refused for too long.
type DeadLetter struct {
	outbox.Event
	// Reason is why the last try failed.
	Reason string
}

// Sum adds up the lanes. Its failure is that of the lane with the most attempts.
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
