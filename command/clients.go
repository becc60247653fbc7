package command

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/quota"
)

// ClientFlags configure how much each client may use over time, and how clients are told apart.
type ClientFlags struct {
	ReadUnits *uint32         `name:"client-read-units" help:"Read units that each client may use a second; 0 for any number (default: ${client_read_units}, 0 on loopback)." placeholder:"1000"`
	Burst     *uint32         `name:"client-burst" help:"Read units that each client may use at once after a pause (default: ten seconds' worth)." placeholder:"10000"`
	Writes    *uint32         `name:"client-writes" help:"Comments and votes that each client may add, edit and delete a minute; 0 for any number (default: ${client_writes}, 0 on loopback unless visitors vote)." placeholder:"60"`
	Servers   uint32          `name:"client-limits-servers" help:"Number of servers behind one address. Each grants its share of what a client may use, with Redis only while that is away (default: ${default})." type:"positive" placeholder:"1" default:"1"`
	Redis     string          `name:"client-limits-redis" help:"URL of the Redis in which all servers count what clients use, such as redis://host:6379/0. Put one with a password into the variable." placeholder:"URL" password:"variable"`
	Trusted   []httpapi.Proxy `name:"trusted-proxy" help:"Address or network, such as 10.0.0.0/8, of a proxy whose X-Forwarded-For is believed. Repeatable. Without it, all clients of a proxy are one." placeholder:"CIDR"`
}

// Default limits for each client of a server that other machines reach. People use less, even a
// whole office behind one address.
const (
	defaultReadUnits = 1000
	defaultWrites    = 60
	burstSeconds     = 10
)

// maxServers bounds --client-limits-servers. A thousandth is one read unit a second.
const maxServers = 1000

// policies returns the limits for each client; a rate of 0 means unlimited. Limits on writes apply
// on loopback too if visitors vote: they may come through a proxy on this machine. With an error, a
// server does not start.
func (f *ClientFlags) policies(address net.Addr, visitorsVote bool) (reads, writes quota.Policy, err error) {
	units, changes := uint32(defaultReadUnits), uint32(defaultWrites)
	if isLoopback(address) {
		units = 0
		if !visitorsVote {
			changes = 0
		}
	}
	units, changes = orDefault(f.ReadUnits, units), orDefault(f.Writes, changes)
	burst := cmp.Or(float64(orDefault(f.Burst, 0)), burstSeconds*float64(units))
	switch {
	case f.Burst != nil && *f.Burst == 0:
		err = usagef("--client-burst must be 1 or more")
	case f.Servers > maxServers:
		err = usagef("--client-limits-servers %d would leave each client next to nothing: give the number of servers behind this address, at most %d", f.Servers, maxServers)
	case f.Burst != nil && units == 0:
		err = usagef("--client-burst has no effect while clients may use any number of read units, as on loopback: give --client-read-units too, or leave it out")
	}
	const minute = 60
	return quota.Policy{Name: "read-units", Rate: float64(units), Burst: burst},
		quota.Policy{Name: "writes", Rate: float64(changes) / minute, Burst: float64(changes)}, err
}

// orDefault returns the value of a flag, or unset if it is not given.
func orDefault(flag *uint32, unset uint32) uint32 {
	if flag == nil {
		return unset
	}
	return *flag
}

// limits returns the limits of clients, nil if there are none, and a notice that describes them. To
// stop what runs for them, end the context and then call stop.
func (f *ClientFlags) limits(ctx context.Context, address net.Addr, table string, who auth.Authorizer, log *slog.Logger) (clients *httpapi.ClientLimits, notice string, stop func(), err error) {
	_, visitorsVote := who.(*auth.Visitors)
	reads, writes, err := f.policies(address, visitorsVote)
	stop = func() {}
	if err != nil {
		return nil, "", stop, err
	}
	if reads.Rate == 0 && writes.Rate == 0 {
		asked := visitorsVote || f.Redis != "" || f.Servers > 1 || len(f.Trusted) > 0
		if isLoopback(address) && !asked { // as on a developer's machine
			return nil, "", stop, nil
		}
		return nil, inWords(reads, writes), stop, nil
	}
	keep := func(p quota.Policy) httpapi.Quota { return quota.NewLedger(p.Share(int(f.Servers))) }
	if f.Redis != "" {
		store, err := quota.OpenRedis(f.Redis, table)
		if err != nil {
			return nil, "", stop, asUsage(fmt.Errorf("--client-limits-redis: %w", err))
		}
		link := quota.NewLink(ctx, store, store.Name(), log)
		stop = func() { _ = store.Close() }
		keep = func(p quota.Policy) httpapi.Quota { return quota.NewShared(p, link, int(f.Servers)) }
	}
	clients = &httpapi.ClientLimits{Client: f.client(who, log)}
	if reads.Rate > 0 {
		clients.Reads = keep(reads)
	}
	if writes.Rate > 0 {
		clients.Writes = keep(writes)
	}
	return clients, inWords(reads, writes), stop, nil
}

func inWords(reads, writes quota.Policy) string {
	units, changes := "any number of read units", "any number of writes"
	if reads.Rate > 0 {
		units = fmt.Sprintf("%.0f read units a second", reads.Rate)
	}
	if writes.Rate > 0 {
		changes = fmt.Sprintf("%.0f writes a minute", writes.Burst)
	}
	return units + " and " + changes + " for each client"
}

// client returns a function that identifies the client of a request: the customer of its token,
// else its address. It exempts moderators, the shop's own servers, and requests from this process,
// which have no address: they render pages that are the same for everyone.
func (f *ClientFlags) client(who auth.Authorizer, log *slog.Logger) func(*http.Request) (quota.Client, bool) {
	trusted := httpapi.Proxies(f.Trusted)
	warn := sync.OnceFunc(func() {
		log.Warn("a request has X-Forwarded-For and comes from no trusted proxy: all clients of a proxy share one limit then", "cure", "--trusted-proxy")
	})
	return func(r *http.Request) (quota.Client, bool) {
		if r.RemoteAddr == "" {
			return quota.Client{}, false
		}
		viewer, _ := who.Identify(r.Context())
		switch {
		case viewer.Roles&(comment.Moderator|comment.Shop) != 0:
			return quota.Client{}, false
		case viewer.CustomerID != nil:
			return quota.Customer(*viewer.CustomerID), true
		}
		if trusted.Unnamed(r) {
			warn()
		}
		return quota.Address(trusted.Client(r)), true
	}
}

// WriterFlags configure who may write.
type WriterFlags struct {
	ModeratorToken string `help:"Bearer token of moderators, who may change anything. Set it in the environment: flags are visible to everyone on the machine." placeholder:"TOKEN"`
	JWTAlgorithm   string `name:"jwt-algorithm" help:"Algorithm of signed tokens (JWT): EdDSA, RS256, ES256 or HS256. The subject of a token is the author id." placeholder:"NAME"`
	JWTKey         string `name:"jwt-key" help:"Public key of signed tokens in PEM, or two while the issuer changes its key; or the shared secret of HS256. Set it in the environment." placeholder:"KEY"`
	JWKSURL        string `name:"jwks-url" help:"URL of the key set (JWKS) of signed tokens." placeholder:"URL"`
	JWTIssuer      string `name:"jwt-issuer" help:"Required issuer of signed tokens." placeholder:"NAME"`
	JWTAudience    string `name:"jwt-audience" help:"Required audience of signed tokens." placeholder:"NAME"`
	RolesClaim     string `help:"Claim of signed tokens that lists roles (moderator, merchant, shop), or its path, such as realm_access.roles. Without it, signed tokens have no roles." placeholder:"NAME"`
	VisitorVotes   bool   `help:"Let visitors without an account vote about comments, with tokens that the server makes."`
	VisitorSecret  string `help:"Secret that signs visitors' tokens, the same on all servers. Set it in the environment." placeholder:"SECRET"`
}

// visitorsToo ends the notice of who may write where visitors may vote.
const visitorsToo = "; visitors may vote"

// authorizer returns what decides who may write and vote. The notice describes it.
func (f WriterFlags) authorizer(ctx context.Context, address net.Addr, origins []httpapi.Origin, log *slog.Logger) (who auth.Authorizer, notice string, err error) {
	who, notice, err = f.writers(ctx, address, origins, log)
	switch {
	case err != nil:
		return nil, "", err
	case !f.VisitorVotes && f.VisitorSecret != "":
		return nil, "", usagef("visitors have a secret and may not vote: give --visitor-votes, or unset TALKBACK_VISITOR_SECRET")
	case !f.VisitorVotes:
		return who, notice, nil
	case f.VisitorSecret == "":
		return nil, "", usagef("--visitor-votes needs a secret that signs visitors' tokens: set TALKBACK_VISITOR_SECRET to what openssl rand -hex 32 prints")
	case f.VisitorSecret == f.ModeratorToken || f.VisitorSecret == f.JWTKey:
		return nil, "", usagef("the secret of visitors is used for other tokens too: make another for TALKBACK_VISITOR_SECRET, for instance by: openssl rand -hex 32")
	}
	visitors, err := auth.NewVisitors(who, f.VisitorSecret, nil)
	if err != nil {
		return nil, "", asUsage(err)
	}
	return visitors, notice + visitorsToo, nil
}

// writers returns what decides who may write. Without tokens, everyone on this machine may write,
// which includes pages of the origins in its browsers; if the server listens to other machines, no
// one may. The notice says which.
func (f WriterFlags) writers(ctx context.Context, address net.Addr, origins []httpapi.Origin, log *slog.Logger) (who auth.Authorizer, notice string, err error) {
	guard, err := auth.New(ctx, auth.Settings{
		ModeratorToken: f.ModeratorToken,
		Algorithm:      f.JWTAlgorithm,
		Key:            f.JWTKey,
		JWKS:           f.JWKSURL,
		Issuer:         f.JWTIssuer,
		Audience:       f.JWTAudience,
		RolesClaim:     f.RolesClaim,
		Logger:         log,
	})
	switch {
	case err != nil:
		return nil, "", asUsage(err)
	case !guard.Open():
		return guard, "needs a token", nil
	case !isLoopback(address):
		return auth.Closed{}, "is off, since no tokens are configured and the server listens to more than this machine: set TALKBACK_MODERATOR_TOKEN to what openssl rand -hex 32 prints, or give --jwt-algorithm and a key", nil
	case slices.Contains(origins, httpapi.AnyOrigin):
		return nil, "", usagef("--cors-origin * without tokens would let every web page that a browser on this machine opens write: set TALKBACK_MODERATOR_TOKEN to what openssl rand -hex 32 prints, give --jwt-algorithm and a key, or name the origins")
	}
	notice = "is open to everyone on this machine"
	before := " and to pages of "
	for _, origin := range origins {
		notice += before + string(origin)
		before = ", "
	}
	return guard, notice + ", since no tokens are configured", nil
}

func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
