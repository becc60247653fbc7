package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/auth/authoring"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/counting"
	"github.com/talkback/talkback/resolvers"
	"github.com/talkback/talkback/resolvers/direct"
	"github.com/talkback/talkback/web"
)

// Serve serves the API and the explorer.
type Serve struct {
	ListenFlags
	CreateFlags

	OperationTimeout time.Duration `help:"How long the work for one request may take (default: ${default})." placeholder:"10s" default:"10s"`
	DrainTimeout     time.Duration `help:"How long requests under way may go on after a signal to stop (default: ${default})." placeholder:"15s" default:"15s"`
	StatisticsAge    time.Duration `help:"How old statistics may be for pages to leave out reads that, by these, find nothing; 0 has everything read (default: ${default})." placeholder:"5s" default:"5s"`
	PageAge          time.Duration `help:"Keep first pages for so long, to spare the table when all look at one product; 0 keeps none (default: ${default})." placeholder:"2s" default:"0s"`
	SampleData       bool          `help:"Put sample data into an empty table."`
	NoCount          bool          `help:"Do not count comments here, for other processes do: talkback stream, another server, or a function of AWS Lambda."`
	NoIntrospection  bool          `help:"Do not answer questions about the schema, nor name what is near a misspelt name."`

	MaxBody        uint32           `help:"Largest body of a request, in bytes (default: ${default})." placeholder:"BYTES" default:"${max_body}"`
	MaxQuery       uint32           `help:"Longest text of an operation, and longest parameters of a GET, in bytes (default: ${default})." placeholder:"BYTES" default:"${max_query}"`
	MaxInFlight    uint32           `help:"How many requests to the API are worked on at a time; others are refused at once (default: ${default})." placeholder:"N" default:"${max_in_flight}"`
	MaxUnsent      uint32           `help:"Answers that clients have yet to read, in bytes; beyond it, connections of the slowest readers are closed (default: ${default})." placeholder:"BYTES" default:"${max_unsent}"`
	MaxArriving    uint32           `help:"Requests that are still arriving, in bytes; beyond it, those of the slowest senders are refused (default: ${default})." placeholder:"BYTES" default:"${max_arriving}"`
	MaxConnections uint32           `help:"How many connections may be open, at most two thirds of the file descriptors; beyond it, those unused for longest are closed (default: ${default})." placeholder:"N" default:"${max_connections}"`
	HedgeReads     bool             `help:"Ask the table a second time for what is slow to read, for at most 5 % more calls."`
	CORSOrigin     []httpapi.Origin `name:"cors-origin" help:"Origin whose pages may ask the API, such as https://shop.example, https://*.shop.example or * for all; repeatable. Without, only pages of this server may. Without tokens, they may also write, and * is refused." placeholder:"ORIGIN"`

	Limits limits.Limits `embed:"" prefix:"max-" group:"What one operation may cost:"`

	Writers WriterFlags `embed:"" group:"Who may write:"`

	// Watermark tells up to when changes are counted. Without, no read is left out.
	Watermark dynamo.Watermark `kong:"-"`
	// CountedUpTo tells the same cheaply, to be shown. Without, the Store tells it.
	CountedUpTo func(ctx context.Context) (upTo time.Time, known bool) `kong:"-"`

	connections *httpapi.Connections // nil until Run knows how many there may be
}

// Run serves until the context ends, and then lets the requests under way finish. It returns an error, in one sentence that
// names the cure, when it cannot start or when its engine ends.
func (c *Serve) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	// The port comes first: without it nothing else is worth starting.
	opening := httpapi.NewOpening("the table is being opened")
	server, err := c.newServer(opening, term)
	if err != nil {
		return err
	}
	defer server.close()
	authorizer, notice, err := c.Writers.authorizer(ctx, server.listener.Addr(), c.CORSOrigin, term.Logger)
	if err != nil {
		return err
	}
	server.start(ctx) // answers probes from now on
	session, err := flags.Open(ctx, Opening{Owner: "talkback serve", Share: true, Create: c.CreateTable || flags.local()}, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()

	store, runner := c.wire(ctx, session, term)
	if c.SampleData {
		opening.Say("the sample data is being put into the table and counted")
		if err := c.putSample(ctx, session, runner, term); err != nil {
			return err
		}
	}
	opening.Open(c.Handler(store, authorizer, term))
	c.announce(server.listener.Addr(), session, notice, term)
	return session.watch(ctx, func(ctx context.Context) error {
		if c.NoCount {
			return server.wait(ctx)
		}
		return runner.Beside(ctx, server.wait)
	})
}

// newServer takes the port, and prepares to answer requests on it.
func (c *Serve) newServer(handler http.Handler, term Terminal) (*server, error) {
	certificates, err := c.certificates()
	if err != nil {
		return nil, err
	}
	listener, err := c.open()
	if err != nil {
		return nil, err
	}
	c.connections = httpapi.NewConnections(connectionLimit(c.MaxConnections), int(c.MaxArriving))
	return &server{
		http:        newHTTPServer(handler, c.protocols(), certificates, c.OperationTimeout, int(c.MaxQuery)),
		listener:    listener,
		connections: c.connections,
		drain:       c.DrainTimeout,
		log:         term.Logger,
	}, nil
}

// wire makes the store of the table and what counts its comments, each of which knows of the other.
func (c *Serve) wire(ctx context.Context, session *Session, term Terminal) (*dynamo.Store, *counting.Runner) {
	runner := newCounting(session, "talkback serve", term.Logger)
	runner.Prepare(ctx)
	c.Watermark = watermarkOf(session)
	store := c.Store(session)
	store.OnImproper(func(item layout.Improper) {
		term.Logger.Warn("an item is not what it should be and is left out", "key", item.Key, "reason", item.Reason)
	})
	c.CountedUpTo = runner.UpTo(store.CountedUpTo)
	runner.Consumer.Handler = store.Noticing(runner.Consumer.Handler)
	return store, runner
}

// putSample puts the sample data into an empty table, and counts it.
func (c *Serve) putSample(ctx context.Context, session *Session, runner *counting.Runner, term Terminal) error {
	return session.watch(ctx, func(ctx context.Context) error {
		load, ours, err := sampleFor(ctx, session, term)
		if err != nil || !ours {
			return err
		}
		if c.NoCount {
			return load(ctx)
		}
		_, err = runner.Until(ctx, load, func(b counting.Backlog) { printBacklog(term.Err, "The sample data is in", b) })
		return err
	})
}

// Store makes what reads and writes the table.
func (c *Serve) Store(session *Session) *dynamo.Store {
	client := session.Client
	if c.HedgeReads {
		client = call.Hedged(client)
	}
	store := dynamo.NewStore(client, session.Table)
	store.RefuseUncounted(leases.NewLeases(session.Client, session.Table))
	if c.Watermark != nil {
		store.UseStatistics(c.Watermark, c.StatisticsAge)
	}
	store.KeepPages(c.PageAge)
	return store
}

// freshness tells how fresh the statistics of a store are.
func (c *Serve) freshness(store *dynamo.Store) func(context.Context) (time.Time, bool) {
	if c.CountedUpTo != nil {
		return c.CountedUpTo
	}
	return store.CountedUpTo
}

// Handler wires everything that answers requests. The authorizer says who may write.
func (c *Serve) Handler(store *dynamo.Store, authorizer authoring.Authorizer, term Terminal) http.Handler {
	return httpapi.New(httpapi.Options{
		Schema: graph.NewExecutableSchema(graph.Config{
			Resolvers: &resolvers.Resolver{
				Comments: store,
				Leaders:  store,
				Author:   &authoring.Writer{Store: store, Authorizer: authorizer},
			},
		}),
		Fields:           direct.Fields,
		ErrorPresenter:   resolvers.ErrorPresenter(term.Logger, httpapi.RequestID),
		Comments:         store,
		Stats:            store,
		Freshness:        c.freshness(store),
		Authenticate:     auth.WithToken,
		Pages:            web.Handler(),
		Ready:            store.Ready,
		OperationTimeout: c.OperationTimeout,
		Limits:           c.Limits,
		Prices:           dynamo.Prices{},
		NoIntrospection:  c.NoIntrospection,
		Logger:           term.Logger,
		MaxBody:          int(c.MaxBody),
		MaxQuery:         int(c.MaxQuery),
		MaxInFlight:      int(c.MaxInFlight),
		MaxUnsent:        int(c.MaxUnsent),
		Connections:      c.connections,
		HSTSAge:          c.HSTSAge,
		Origins:          c.CORSOrigin,
	})
}

// announce prints where the server is reached, and who may write.
func (c *Serve) announce(address net.Addr, session *Session, writing string, term Terminal) {
	hosts := openable(address, net.InterfaceAddrs)
	others := ""
	for _, host := range hosts[1:] {
		others += fmt.Sprintf("  also      %s://%s\n", c.scheme(), host)
	}
	fmt.Fprintf(term.Err, "Talkback answers.\n  API       %[1]s://%[2]s/graphql\n  explorer  %[1]s://%[2]s/playground\n%[3]s  table     %[4]s at %[5]s\n  writing   %[6]s\nStop with Ctrl-C.\n",
		c.scheme(), hosts[0], others, session.Table, session.Address, writing)
}
