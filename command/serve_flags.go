package command

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/moderation"
	"github.com/talkback/talkback/web"
)

// PersistedFlags configure operations that clients name instead of sending their texts.
type PersistedFlags struct {
	Trusted []string `name:"trusted-documents" help:"Manifest of operations that clients may send by their ids alone, as Apollo's tools, Relay's compiler and GraphQL Code Generator write it. Repeatable. SIGHUP reads all again. With it, there are no automatic persisted queries." placeholder:"FILE"`
	Only    bool     `name:"trusted-only" help:"Refuse every operation that is not in a manifest of --trusted-documents."`
	Memory  uint32   `name:"max-persisted" help:"Automatic persisted queries that are remembered, in bytes; 0 takes none (default: ${default})." placeholder:"BYTES" default:"${max_persisted}"`
}

// defaultPersisted is the memory for automatic persisted queries, in bytes: for some thousand.
const defaultPersisted = 4 << 20

// open reads the manifests, or starts remembering queries, also in the Redis at a URL unless that
// is empty. stop releases both.
func (f *PersistedFlags) open(ctx context.Context, check func(text string) error, redis, table string, log *slog.Logger) (trusted *httpapi.TrustedDocuments, automatic *httpapi.AutomaticQueries, stop func(), err error) {
	stop = func() {}
	switch {
	case len(f.Trusted) > 0:
		trusted, err = task.Await(ctx, func() (*httpapi.TrustedDocuments, error) {
			return httpapi.OpenTrustedDocuments(f.Trusted, web.Operations(), f.Only, check)
		})
		if err != nil {
			return nil, nil, stop, fmt.Errorf("--trusted-documents: %w", err)
		}
		stop = onHangup(func() {
			if err := trusted.Reload(); err != nil {
				log.Error("the trusted documents stay as they were: correct the manifest and send SIGHUP again", "error", err)
				return
			}
			log.Info("the trusted documents were read again", "documents", trusted.Len())
		})
	case f.Only:
		return nil, nil, stop, usagef("--trusted-only needs --trusted-documents: name the manifests of your clients")
	case f.Memory > 0:
		var shared httpapi.SharedQueries
		if redis != "" {
			store, err := httpapi.OpenQueriesInRedis(redis, table, log)
			if err != nil {
				return nil, nil, stop, asUsage(fmt.Errorf("--client-limits-redis: %w", err))
			}
			shared, stop = store, func() { _ = store.Close() }
		}
		automatic = httpapi.NewAutomaticQueries(int(f.Memory), shared)
	}
	return trusted, automatic, stop, nil
}

// onHangup calls a function at each SIGHUP, which then does not end the context of Signals, until
// stop is called.
func onHangup(call func()) (stop func()) {
	caught := make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGHUP) // takes it from Signals
	signal.Notify(caught, syscall.SIGHUP)
	go func() {
		for range caught {
			call()
		}
	}()
	return func() {
		signal.Stop(caught)
		close(caught)
	}
}

// ModerationFlags decide which comments wait for a moderator before they are shown.
type ModerationFlags struct {
	Moderation      string        `help:"Which comments wait for a moderator: publish for none, hold for all, rules for those that a file of rules selects (default: ${default})." enum:"publish,hold,rules" default:"publish" placeholder:"rules"`
	ModerationRules string        `help:"File of the rules that select the comments that wait." placeholder:"FILE" complete:"files"`
	Edits           string        `help:"What is shown while an edit of an approved comment waits: beside for the comment as it was, hide for nothing (default: ${default})." enum:"beside,hide" default:"beside" placeholder:"hide"`
	KeepAudit       time.Duration `help:"How long decisions about comments are kept; 0 for ever, 9600h are 400 days (default: ${default})." default:"9600h" placeholder:"9600h"`
}

// open returns the policy. Its error is a usage error unless it is about the file.
func (f ModerationFlags) open() (moderation.Policy, error) {
	policy, err := moderation.Open(f.Moderation, f.ModerationRules)
	if f.Moderation != "rules" || f.ModerationRules == "" {
		err = asUsage(err)
	}
	return policy, err
}

// SiteFlags configure product pages.
type SiteFlags struct {
	ProductInfo       string `help:"Address of a product's name with {id} in place of its id, such as https://shop.example/products/{id}: JSON, or the shop's page with JSON-LD. Without it, pages show ids." placeholder:"URL"`
	ProductInfoInside bool   `help:"Let --product-info lead to this machine and to private networks, also by plain HTTP."`
	PageTemplate      string `help:"Template of Go's html/template for product pages, with places for their {{.Head}} and {{.Content}}." placeholder:"FILE"`
	ShowPlans         bool   `help:"Show on product pages how they were read, under a header of Talkback; on with --sample-data."`
	NoLivePages       bool   `help:"Do not show on open product pages how many comments are new, which takes a subscription (--max-subscriptions) for each page."`
}

// open prepares the options of product pages. Fetching product data ends with the context.
func (f *SiteFlags) open(ctx context.Context, sample bool, log *slog.Logger) (options web.Options, err error) {
	options.Plans, options.Live = f.ShowPlans || sample, !f.NoLivePages
	if f.ProductInfoInside && f.ProductInfo == "" {
		return options, usagef("--product-info-inside is about --product-info: give both, or none")
	}
	if f.ProductInfo != "" {
		if options.Catalog, err = web.NewCatalog(ctx, f.ProductInfo, f.ProductInfoInside, log); err != nil {
			return options, asUsage(err)
		}
	}
	if f.PageTemplate != "" {
		options.Layout, err = task.Await(ctx, func() (*web.Layout, error) { return web.ReadLayout(f.PageTemplate, log) })
		if err != nil {
			return options, fmt.Errorf("--page-template: %w", err)
		}
	}
	return options, nil
}

// SubscriptionFlags bound subscriptions.
type SubscriptionFlags struct {
	Max       uint32  `name:"max-subscriptions" help:"Number of subscriptions that may be open at once; 0 serves none (default: ${default})." placeholder:"10000" default:"0"`
	PerClient *uint32 `name:"client-subscriptions" help:"Number of subscriptions that each client may have open; 0 for any number (default: 100, 0 on loopback)." placeholder:"100"`
}

// defaultClientSubscriptions is the default limit of subscriptions for each client. A browser has
// one for each open page; an office has many browsers behind one address.
const defaultClientSubscriptions = 100

// check returns an error if a limit of subscriptions has no effect.
func (f *SubscriptionFlags) check() error {
	if f.PerClient != nil && f.Max == 0 {
		return fmt.Errorf("--client-subscriptions %d has no effect with --max-subscriptions 0, which serves none: give both, or none", *f.PerClient)
	}
	return nil
}

// connections returns how many connections a server accepts: one for each of the subscriptions that
// it allows, and most for everything else, so that subscribers cannot keep other clients out. It
// returns an error if there are too few file descriptors for that.
func (f *SubscriptionFlags) connections(most uint32) (int, error) {
	wanted := int(most) + int(f.Max)
	allowed := connectionLimit(wanted)
	if f.Max > 0 && allowed < wanted {
		return 0, usagef("--max-subscriptions %d and --max-connections %d need %d connections, and the limit of file descriptors allows %d, so subscribers could keep other clients out: raise it (ulimit -n, or LimitNOFILE of systemd), or lower one of the two", f.Max, most, wanted, allowed)
	}
	return allowed, nil
}

// bounds returns the limits for a server at an address, nil if it serves no subscriptions. It
// identifies clients as their other limits do.
func (f *SubscriptionFlags) bounds(address net.Addr, clients *ClientFlags, who auth.Authorizer, log *slog.Logger) *httpapi.Subscriptions {
	if f.Max == 0 {
		return nil
	}
	unset := uint32(defaultClientSubscriptions)
	if isLoopback(address) {
		unset = 0
	}
	perClient := cmp.Or(orDefault(f.PerClient, unset), f.Max)
	return &httpapi.Subscriptions{
		Max: int(f.Max), PerClient: int(perClient), Client: clients.client(who, log),
		TokenRefused: func(ctx context.Context) bool {
			viewer, _ := who.Identify(ctx)
			return viewer.VisitorID == "" && viewer.CannotWriteReason != nil && *viewer.CannotWriteReason == comment.TokenRefused
		},
	}
}
