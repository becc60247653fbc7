package command

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/live"
)

// SubscriptionFlags bound subscriptions.
type SubscriptionFlags struct {
	Max       uint32  `name:"max-subscriptions" help:"Number of subscriptions that may be open at once; 0 serves none (default: ${default})." placeholder:"10000" default:"0"`
	PerClient *uint32 `name:"client-subscriptions" help:"Number of subscriptions that each client may have open; 0 for any number (default: 100, 0 on loopback)." placeholder:"100"`
}

// defaultClientSubscriptions is how many subscriptions a client may have by default: a person's browser
// has one for each open page, an office has many people.
const defaultClientSubscriptions = 100

// connections returns how many connections a server takes: those of subscriptions, of which there are at
// most as many, and most others beside them. So subscribers cannot keep anybody out. With too few file
// descriptors they could, and it returns an error.
func (f *SubscriptionFlags) connections(most uint32) (int, error) {
	wanted := int(most) + int(f.Max)
	allowed := connectionLimit(wanted)
	if f.Max > 0 && allowed < wanted {
		return 0, usagef("--max-subscriptions %d and --max-connections %d need %d connections, and the limit of file descriptors allows %d, so subscribers could keep other clients out: raise it (ulimit -n, or LimitNOFILE of systemd), or lower one of the two", f.Max, most, wanted, allowed)
	}
	return allowed, nil
}

// bounds returns the bounds for a server at an address, nil if it serves no subscriptions. A client is
// who it is for its other limits.
func (f *SubscriptionFlags) bounds(address net.Addr, clients *ClientFlags, who auth.Authorizer, log *slog.Logger) *httpapi.Subscriptions {
	if f.Max == 0 {
		return nil
	}
	unset := uint32(defaultClientSubscriptions)
	if isLoopback(address) {
		unset = 0
	}
	perClient := orDefault(f.PerClient, unset)
	if perClient == 0 {
		perClient = f.Max
	}
	return &httpapi.Subscriptions{
		Max: int(f.Max), PerClient: int(perClient), Client: clients.client(who, log),
		TokenRefused: func(ctx context.Context) bool {
			viewer, _ := who.Identify(ctx)
			return viewer.VisitorID == "" && viewer.CannotWriteReason != nil && *viewer.CannotWriteReason == comment.TokenRefused
		},
	}
}

// hub returns what feeds subscriptions, nil if there are none.
func (f *SubscriptionFlags) hub(session *Session, store *dynamo.Store, countedUpTo func(context.Context) (time.Time, bool), log *slog.Logger) *live.Hub {
	if f.Max == 0 {
		return nil
	}
	return live.New(session.outbox(), store, countedUpTo, log)
}
