package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/sample"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/live"
	"github.com/talkback/talkback/loaders"
	"github.com/talkback/talkback/moderation"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/resolvers"
	"github.com/talkback/talkback/telemetry"
	"github.com/talkback/talkback/web"
)

// Serve serves the API and the explorer.
type Serve struct {
	ListenFlags
	AdminFlags
	CreateFlags
	PagesFlag
	RequestLogFlags

	OperationTimeout time.Duration  `help:"Longest time for one request (default: ${default})." placeholder:"10s" default:"10s"`
	DrainTimeout     time.Duration  `help:"Longest time for requests under way after a signal to stop (default: ${default})." placeholder:"15s" default:"15s"`
	DrainDelay       *time.Duration `help:"The part of --drain-timeout in which new connections are still taken after SIGTERM, for load balancers to notice that the server is not ready (default: a third)." placeholder:"5s"`
	StatisticsAge    time.Duration  `help:"Maximum age of counts that are trusted to skip empty partitions; 0 skips none (default: ${default})." placeholder:"5s" default:"5s"`
	PageAge          time.Duration  `help:"Cache first pages for this long, which relieves the table when many clients read one product; 0 caches none (default: ${default})." placeholder:"2s" default:"0s"`
	SharedCache      time.Duration  `help:"Let caches that clients share, such as a CDN, keep for this long what everyone may see; 0 lets them keep nothing (default: ${default})." placeholder:"5s" default:"0s"`
	SampleData       bool           `help:"Put sample data into an empty table, and serve its pictures."`
	NoCount          bool           `help:"Do not count comments in this process: leave that to talkback stream, another server, or an AWS Lambda function."`
	Federation       bool           `help:"Be a subgraph of Apollo Federation 2: answer _service and _entities, for gateways."`
	NoIntrospection  bool           `help:"Refuse introspection queries, and suggest no names for misspelled ones."`

	MaxBody        uint32           `help:"Largest request body in bytes (default: ${default})." type:"positive" placeholder:"BYTES" default:"${max_body}"`
	MaxQuery       uint32           `help:"Longest query text, and longest parameters of a GET request, in bytes (default: ${default})." type:"positive" placeholder:"BYTES" default:"${max_query}"`
	MaxInFlight    uint32           `help:"Largest number of concurrent API requests; as many are let in as the server carries, and others are refused (default: ${default})." type:"positive" placeholder:"N" default:"${max_in_flight}"`
	MinInFlight    uint32           `help:"Smallest number of concurrent API requests that are let in, however long they take; with the number of --max-in-flight, the limit is fixed; 0 lets 6 in for each processor (default: 0)." placeholder:"N"`
	MaxUnsent      uint32           `help:"Responses that clients have not read yet, in bytes; beyond it, connections of the slowest readers are closed (default: ${default})." type:"positive" placeholder:"BYTES" default:"${max_unsent}"`
	MaxArriving    uint32           `help:"Requests that are still arriving, in bytes; beyond it, those of the slowest senders are refused (default: ${default})." type:"positive" placeholder:"BYTES" default:"${max_arriving}"`
	MaxConnections uint32           `help:"Number of open connections beside those of subscriptions, together at most two thirds of the file descriptors; beyond it, those idle for longest are closed (default: ${default})." type:"positive" placeholder:"N" default:"${max_connections}"`
	HedgeReads     bool             `help:"Hedge slow reads with a second call, for at most 5 % more calls."`
	CORSOrigin     []httpapi.Origin `name:"cors-origin" help:"Origin whose pages may call the API, such as https://shop.example, https://*.shop.example or * for all. Repeatable. Without it, only pages of this server may. Without tokens, these pages may also write, and * is refused." placeholder:"ORIGIN"`

	OnePerCustomer  bool              `help:"Take one comment of each customer about a product; a second one is refused."`
	ReportThreshold uint32            `help:"Number of customers whose reports make a comment wait for a moderator (default: ${default})." type:"positive" placeholder:"N" default:"3"`
	MediaBase       comment.MediaBase `help:"Prefix of the addresses of pictures and videos, such as https://media.shop.example/reviews/. Without it, comments have none." placeholder:"URL"`
	ShopName        string            `help:"Name that replies of the shop have unless they give another." placeholder:"NAME"`

	Limits        limits.Limits     `embed:"" prefix:"max-" group:"What one operation may cost:"`
	Writers       WriterFlags       `embed:"" group:"Who may write:"`
	Moderation    ModerationFlags   `embed:"" group:"What waits for a moderator:"`
	Clients       ClientFlags       `embed:"" group:"What each client may use over time:"`
	Persisted     PersistedFlags    `embed:"" group:"Which operations clients may send by name:"`
	Subscriptions SubscriptionFlags `embed:"" group:"What clients may follow:"`
	Site          SiteFlags         `embed:"" group:"What product pages show:"`

	// Watermark reads the time up to which changes are counted. If nil, no partition is skipped.
	Watermark dynamo.Watermark `kong:"-"`
	// CountedUpTo returns that time from memory, for responses. If nil, the Store's is used.
	CountedUpTo func(ctx context.Context) (upTo time.Time, known bool) `kong:"-"`

	// Following reports whether this process reads the whole stream, since when, and up to when.
	// Run uses its own consumer. If it is nil, no response can be proven unchanged.
	Following func() (since, upTo time.Time, ok bool) `kong:"-"`

	// Policy decides which comments wait for a moderator. Run opens the one that the flags name.
	Policy moderation.Policy `kong:"-"`

	// TrustedDocuments and AutomaticQueries find operations by name. Run opens those that the flags
	// name. Kong hides each flag whose field has the same name as an ignored field.
	TrustedDocuments *httpapi.TrustedDocuments `kong:"-"`
	AutomaticQueries *httpapi.AutomaticQueries `kong:"-"`

	connections *httpapi.Connections // nil before Run
	limiter     *httpapi.Limiter     // admits requests; nil before Handler, and with the fixed limit of package httpapi
	clients     *httpapi.ClientLimits
	followers   *httpapi.Subscriptions // nil for none
	hub         *live.Hub              // likewise
	site        web.Options            // the result of Site
	measured    *measured              // nil without metrics
	observers   []httpapi.Observer     // of requests
}

// Bounds of durations. DynamoDB takes milliseconds for a call, and days to delete what has expired.
const (
	minOperation = 10 * time.Millisecond
	maxOperation = time.Hour
	minAudit     = 24 * time.Hour
)

// Validate returns an error that names the first senseless setting.
func (c *Serve) Validate() error {
	if c.OperationTimeout < minOperation || c.OperationTimeout > maxOperation {
		return fmt.Errorf("--operation-timeout %v is not a time for a request: give 10ms to 1h, such as 10s", c.OperationTimeout)
	}
	if c.HSTSAge > 0 && c.HSTSAge < time.Second {
		return fmt.Errorf("--hsts-age %v is below a second, which would end HTTPS in browsers: give one such as 720h, or 0 to announce none", c.HSTSAge)
	}
	if age := c.Moderation.KeepAudit; age > 0 && age < minAudit {
		return fmt.Errorf("--keep-audit %v is too short to read a decision: give 24h or more, or 0 to keep them for ever", age)
	}
	if c.MinInFlight > c.MaxInFlight {
		return fmt.Errorf("--min-in-flight %d is above --max-in-flight %d: lower the one, or raise the other", c.MinInFlight, c.MaxInFlight)
	}
	return cmp.Or(c.Subscriptions.check(), checkShopName(c.ShopName))
}

// checkShopName returns an error if no reply can have a name. An empty name is no name, and a
// blank one is refused as other blank values are.
func checkShopName(name string) error {
	problems := (comment.Reply{Text: "Thanks", Name: name}).Problems()
	switch {
	case strings.TrimSpace(name) == "":
		return nil
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("--shop-name holds a line break or another control character: give a name of one line")
	case len(problems) > 0:
		return fmt.Errorf("--shop-name: no reply can have this name: %s", problems[0].Message)
	}
	return nil
}

// ballast returns bytes that are never touched, so they take no physical memory. They count as
// live: the heap of a server with few live bytes is collected after some 40 MB of garbage, not each
// 8 MB. It returns nil if an operator configures the collector.
func ballast() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, 32<<20)
}

// Run serves until the context ends, and then lets the requests under way finish. It returns an
// error, one sentence that names the cure, if it cannot start or if its engine ends.
func (c *Serve) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	defer outliveReaders()()
	defer func() { err = endedEarly(ctx, err, term) }()
	target, err := c.PagesFlag.target()
	if err != nil {
		return err
	}
	delay := c.DrainTimeout / 3
	if c.DrainDelay != nil {
		delay = *c.DrainDelay
	}
	if delay > 0 && delay >= c.DrainTimeout {
		return usagef("--drain-delay %v leaves no time for requests under way: give less than --drain-timeout, which is %v", delay, c.DrainTimeout)
	}
	// Open the port first: without it, nothing else is worth starting.
	opening := httpapi.NewOpening("the table is being opened")
	server, err := c.newServer(ctx, opening, delay, term)
	if err != nil {
		return err
	}
	defer server.close()
	if c.SampleData && c.MediaBase == "" { // this server serves the pictures of the sample data
		host := openable(server.listener.Addr(), net.InterfaceAddrs)[0]
		c.MediaBase = comment.MediaBase(c.scheme() + "://" + host + web.PicturesPath)
	}
	around, err := c.prepare(ctx, server.listener.Addr(), flags.Table, opening, term)
	if err != nil {
		return err
	}
	defer around.ends.close()
	defer runtime.KeepAlive(ballast())
	server.start() // answers probes from now on
	return flags.with(ctx, Opening{Owner: "talkback serve", Share: true, Create: c.CreateTable || flags.local()}, term, func(session *Session) error {
		session.observe(around.traces, c.measured, term.Logger)
		return session.withPages(ctx, target, term.Logger, func(pages *pages) error {
			return c.answer(ctx, session, pages, server, opening, around, term)
		})
	})
}

// surroundings are the parts of a server that need no table.
type surroundings struct {
	authorizer      auth.Authorizer
	writing, bounds string // descriptions of who may write, and of each client's limits
	traces          *telemetry.Traces
	ends            endings
}

// prepare starts the parts that need no table: authorization, client limits, traces, metrics and
// the request log. After an error, it has stopped them all.
func (c *Serve) prepare(ctx context.Context, address net.Addr, table string, api http.Handler, term Terminal) (_ *surroundings, err error) {
	s := &surroundings{}
	defer func() {
		if err != nil {
			s.ends.close()
		}
	}()
	if s.authorizer, s.writing, err = c.Writers.authorizer(ctx, address, c.CORSOrigin, term.Logger); err != nil {
		return nil, err
	}
	if c.Policy, err = task.Await(ctx, c.Moderation.open); err != nil {
		return nil, err
	}
	if c.site, err = c.Site.open(ctx, c.SampleData, term.Logger); err != nil {
		return nil, err
	}
	var end func()
	if c.clients, s.bounds, end, err = c.Clients.limits(ctx, address, table, s.authorizer, term.Logger); err != nil {
		return nil, err
	}
	c.followers = c.Subscriptions.bounds(address, &c.Clients, s.authorizer, term.Logger)
	s.ends = append(s.ends, end)
	if c.TrustedDocuments, c.AutomaticQueries, end, err = c.Persisted.open(ctx, c.DocumentCheck(), c.Clients.Redis, table, term.Logger); err != nil {
		return nil, err
	}
	s.ends = append(s.ends, end)
	if s.traces, err = startTraces(ctx, term); err != nil {
		return nil, err
	}
	s.ends = append(s.ends, s.traces.Stop)
	// The admin listener comes last: it answers at once, and no later step can fail.
	if c.measured, err = c.measure(ctx, api, term); err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() { c.measured.close(term.Logger) })
	c.measured.ofClients(c.clients)
	c.observers, end = c.requestObservers(s.traces, term)
	if c.measured != nil {
		c.observers = append(c.observers, requestObserver{c.measured.Requests})
	}
	s.ends = append(s.ends, end)
	return s, nil
}

// DocumentCheck returns a function that reports why a document could not run on this server.
func (c *Serve) DocumentCheck() func(text string) error {
	return httpapi.DocumentCheck(httpapi.Options{
		Schema: graph.NewExecutableSchema(graph.Config{Schema: resolvers.Schema(c.Federation)}), Limits: c.Limits, MaxQuery: int(c.MaxQuery), NoIntrospection: c.NoIntrospection,
	})
}

// answer opens the API and serves until the context ends.
func (c *Serve) answer(ctx context.Context, session *Session, pages *pages, server *server, opening *httpapi.Opening, around *surroundings, term Terminal) error {
	store, runner := c.wire(ctx, session, pages, term)
	defer c.hub.Close()
	if c.SampleData {
		opening.Say("the sample data is being put into the table and counted")
		progress := term
		if term.LogsJSON { // what reads the log would find lines that are no JSON
			progress.Err = io.Discard
		}
		err := session.watch(ctx, func(ctx context.Context) error {
			load, err := sampleFor(ctx, session, progress)
			if err != nil || load == nil {
				return err
			}
			if c.NoCount {
				return load(ctx)
			}
			_, err = runner.Until(ctx, load, func(b counts.Backlog) { printBacklog(progress.Err, "The sample data is in", b) })
			return err
		})
		if err != nil {
			return err
		}
	}
	eraser := newEraser(session)
	opening.Open(c.Handler(store, eraser, around.authorizer, term))
	c.measured.ofSubscriptions(c.followers, c.hub)
	c.announce(server.listener.Addr(), session, around.writing, around.bounds, term)
	return session.watch(ctx, func(ctx context.Context) error {
		if c.NoCount {
			return server.wait(ctx)
		}
		// Another process takes over counting once this one accepts no more connections.
		err := beside(ctx, session, pages, runner.Consumer, eraser, c.measured, term.Logger, func(ctx context.Context) error {
			return runner.Beside(ctx, server.taking)
		})
		return errors.Join(err, server.wait(ctx))
	})
}

// newServer opens the port, and prepares the server.
func (c *Serve) newServer(ctx context.Context, handler http.Handler, delay time.Duration, term Terminal) (*server, error) {
	certificate, err := task.Await(ctx, func() (getCertificate, error) { // a pipe may never deliver; likewise below
		return c.openCertificate(term.Logger)
	})
	if err != nil {
		return nil, err
	}
	most, err := c.Subscriptions.connections(c.MaxConnections)
	if err != nil {
		return nil, err
	}
	listener, err := listenOn(ctx, "--listen", c.Listen)
	if err != nil {
		return nil, err
	}
	c.connections = httpapi.NewConnections(most, int(c.MaxArriving))
	return &server{
		http:        newHTTPServer(handler, certificate, c.OperationTimeout, int(c.MaxQuery)),
		listener:    listener,
		connections: c.connections,
		delay:       delay,
		drain:       c.DrainTimeout,
		log:         term.Logger,
	}, nil
}

// wire makes the store of the table and the runner that counts its comments, and connects them.
func (c *Serve) wire(ctx context.Context, session *Session, pages *pages, term Terminal) (*dynamo.Store, *counts.Runner) {
	c.Watermark = newLeases(session)
	var runner *counts.Runner
	c.Following = func() (since, upTo time.Time, ok bool) { return runner.Consumer.Follows() }
	store := c.Store(session, pages.found, term.Logger)
	runner = newCounting(session, pages, store, term.Logger)
	if !c.NoCount {
		c.measured.ofCounting(runner)
	}
	c.measured.ofPageIndex(pages)
	runner.Prepare(ctx)
	c.CountedUpTo = runner.UpTo(store.CountedUpTo)
	if c.Subscriptions.Max > 0 {
		c.hub = live.New(session.outbox(), store, c.CountedUpTo, term.Logger)
	}
	return store, runner
}

// Store makes the store of a session's table. numbers finds pages by number; nil for none.
func (c *Serve) Store(session *Session, numbers pageindex.Index, log *slog.Logger) *dynamo.Store {
	options := dynamo.Options{
		Watermark: c.Watermark, StatisticsAge: c.StatisticsAge, Journal: leases.NewLeases(session.Client, session.Table),
		KeepAudit: c.Moderation.KeepAudit, OnePerCustomer: c.OnePerCustomer, PageAge: c.PageAge, Following: c.Following, PageNumbers: numbers, Writes: session.writes,
		// It takes four slow products to occupy all requests that may run.
		ProductCalls: max(1, cmp.Or(int(c.MaxInFlight), httpapi.DefaultMaxInFlight)/4),
		Improper: func(item layout.Improper) {
			log.Warn("an item is invalid and is left out: talkback export --all lists such items", "key", item.Key, "reason", item.Reason)
		},
	}
	if c.measured != nil {
		options.Observer = c.measured.Pages
	}
	client := session.Client
	if c.HedgeReads {
		client = call.Hedged(client)
	}
	return dynamo.NewStore(client, session.Table, options)
}

// Handler makes the handler of all requests. The authorizer decides who may write.
func (c *Serve) Handler(store *dynamo.Store, eraser *erasure.Eraser, authorizer auth.Authorizer, term Terminal) http.Handler {
	resolver := &resolvers.Resolver{
		Comments: store,
		Service: &auth.Service{
			Store: store, Erasures: eraser, Authorizer: authorizer, Policy: c.Policy, MediaBase: c.MediaBase,
			HideEdits: c.Moderation.Edits == "hide", ShopName: c.ShopName, Threshold: int(c.ReportThreshold),
		},
		Follower:  c.hub,
		MediaBase: c.MediaBase,
	}
	schema, fields := graph.NewExecutableSchema(graph.Config{Resolvers: resolver, Schema: resolvers.Schema(c.Federation)}), resolver.Fields()
	if c.Federation {
		fields = resolver.Subgraph(resolvers.SubgraphSDL())
	}
	pages := c.site
	pages.MediaOrigin, pages.SharedFor, pages.Live = c.MediaBase.Origin(), c.SharedCache, pages.Live && c.hub != nil
	if !c.NoIntrospection {
		pages.Schema = schema.Schema().Query.Position.Src.Input // the file of the schema
	}
	if c.SampleData {
		pages.Pictures = sample.Pictures()
	}
	loading := loaders.Options{
		Comments: store.CommentsByID, Stats: store.StatsOf, Rows: store.RowsOf, Own: store.OwnOfProducts, Votes: store.VotesBy,
		Latest: store, Freshness: c.CountedUpTo,
	}
	if c.CountedUpTo == nil {
		loading.Freshness = store.CountedUpTo
	}
	if c.measured != nil {
		loading.Batches = c.measured.Pages.Batched
	}
	if c.limiter == nil && c.MaxInFlight > 0 {
		c.limiter = httpapi.NewLimiter(int(c.MinInFlight), int(c.MaxInFlight))
	}
	return httpapi.New(httpapi.Options{
		Schema:           schema,
		Fields:           fields,
		ErrorPresenter:   resolvers.ErrorPresenter(term.Logger, httpapi.RequestID),
		Loaders:          loading,
		Authenticate:     auth.WithToken(authorizer),
		Pages:            pages.Handler,
		Ready:            store.Ready,
		OperationTimeout: c.OperationTimeout,
		Limits:           c.Limits,
		NoIntrospection:  c.NoIntrospection,
		Logger:           term.Logger,
		MaxBody:          int(c.MaxBody),
		MaxQuery:         int(c.MaxQuery),
		Concurrency:      c.measured.ofPlaces(c.limiter),
		MaxUnsent:        int(c.MaxUnsent),
		Connections:      c.connections,
		Clients:          c.clients,
		Subscriptions:    c.followers,
		Trusted:          c.TrustedDocuments,
		Automatic:        c.AutomaticQueries,
		HSTSAge:          c.HSTSAge,
		Origins:          c.CORSOrigin,
		SharedFor:        c.SharedCache,
		Unchanged:        store.Unchanged,
		Observers:        c.observers,
	})
}

// announce prints, or logs, the server's addresses, who may write, and each client's limits.
func (c *Serve) announce(address net.Addr, session *Session, writing, bounds string, term Terminal) {
	if term.LogsJSON {
		term.Logger.Info("talkback answers", "address", address.String(), "scheme", c.scheme(), "table", session.Table, "engine", session.Address)
		term.Logger.Info("what clients may do", "writing", writing, "limits", cmp.Or(bounds, "none"))
		return
	}
	hosts := openable(address, net.InterfaceAddrs)
	others := ""
	for _, host := range hosts[1:] {
		others += fmt.Sprintf("  also      %s://%s\n", c.scheme(), host)
	}
	if bounds != "" {
		writing += "\n  limits    " + bounds
	}
	fmt.Fprintf(term.Err, "Talkback answers.\n  API       %[1]s://%[2]s/graphql\n  explorer  %[1]s://%[2]s/playground\n%[3]s  table     %[4]s at %[5]s\n  writing   %[6]s\nStop with Ctrl-C.\n",
		c.scheme(), hosts[0], others, session.Table, session.Address, writing)
}
