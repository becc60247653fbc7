package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/auth/authoring"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/resolvers"
	"github.com/talkback/talkback/resolvers/direct"
	"github.com/talkback/talkback/web"
)

// Bounds on connections. Reading a request and writing an answer both have to end: a client that sends or takes a byte
// at a time would otherwise hold on to them for ever.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeMargin       = 15 * time.Second // beyond the time of the operation
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 16 << 10 // beside the address; browsers send cookies of a few KB
	maxStreams        = 100      // requests at a time over one connection of HTTP/2: what RFC 9113, 6.5.2, wants at least
	maxFrame          = 16 << 10 // of HTTP/2, the least there is: a frame is read as a whole, into memory taken by its announced length
	maxBuffered       = 64 << 10 // of HTTP/2, in all bodies of a connection together that nobody has read yet; the least there is
	pingAfter         = 30 * time.Second
	stuckTimeout      = 20 * time.Second // of a connection of HTTP/2 that takes not a byte
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

	// WorkedOff tells how far statistics follow the table. Without, no read is left out.
	WorkedOff dynamo.WorkedOff `kong:"-"`
	// CountedUpTo tells the same cheaply, to be shown. Without, the Store tells it.
	CountedUpTo func(ctx context.Context) (upTo time.Time, known bool) `kong:"-"`

	connections *httpapi.Connections // nil until Run knows how many there may be
}

// Run serves until the context ends, then lets the requests under way finish. It returns an error, in one sentence that
// names the cure, when it cannot start or when its engine ends.
func (c *Serve) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	certificates, err := c.certificates()
	if err != nil {
		return err
	}
	// The port comes before all that takes time: without it nothing else is worth starting.
	listener, err := c.open()
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // closed already once the server ran

	authorizer, notice, err := c.Writers.authorizer(ctx, listener.Addr(), c.CORSOrigin, term.Logger)
	if err != nil {
		return err
	}
	// Probes are answered from now on, whatever the start takes.
	opening := httpapi.NewOpening("the table is being opened")
	c.connections = httpapi.NewConnections(connectionLimit(c.MaxConnections), int(c.MaxArriving))
	answering, stop := context.WithCancel(ctx)
	var server errgroup.Group
	server.Go(func() error { return c.serve(answering, c.server(opening, certificates), listener, term) })
	defer func() { stop(); _ = server.Wait() }() // its error was returned where it ran to its end

	session, err := flags.Open(ctx, Opening{Owner: "talkback serve", Share: true, Create: c.CreateTable || flags.local()}, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()

	counting := newCounting(session, "talkback serve", term.Logger)
	counting.prepare(ctx)
	c.WorkedOff = watermark{counting.leases}
	store := c.Store(session)
	store.OnImproper(func(item layout.Improper) {
		term.Logger.Warn("an item is not what it should be and is left out", "key", item.Key, "reason", item.Reason)
	})
	c.CountedUpTo = counting.orAsk(store.CountedUpTo)
	counting.consumer.Handler = store.Noticing(counting.consumer.Handler)
	if c.SampleData {
		opening.Say("the sample data is being put into the table and counted")
		if err := watched(ctx, session, func(ctx context.Context) error { return c.putSample(ctx, session, counting, term) }); err != nil {
			return err
		}
	}
	opening.Open(c.Handler(store, authorizer, term))
	c.announce(listener.Addr(), session, notice, term)
	return watched(ctx, session, func(ctx context.Context) error {
		untilEnd := func(ctx context.Context) error {
			defer context.AfterFunc(ctx, stop)()
			return server.Wait()
		}
		if c.NoCount {
			return untilEnd(ctx)
		}
		return counting.beside(ctx, untilEnd)
	})
}

// putSample puts the sample data into an empty table, and counts it.
func (c *Serve) putSample(ctx context.Context, session *Session, counting *counting, term Terminal) error {
	load, ours, err := sampleFor(ctx, session, term)
	if err != nil || !ours {
		return err
	}
	if c.NoCount {
		return load(ctx)
	}
	_, err = counting.until(ctx, load, func(text string) {
		_, _ = fmt.Fprintln(term.Err, "The sample data is in; "+text)
	})
	return err
}

// watched runs the work beside a look at the engine: when that ends, so does the work, and the reason is the error.
func watched(ctx context.Context, session *Session, work func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	done := make(chan struct{})
	group.Go(func() error {
		defer close(done)
		return work(ctx)
	})
	group.Go(func() error {
		select {
		case <-done:
			return nil
		case <-session.Lost():
			return session.LostReason()
		}
	})
	return group.Wait()
}

// server makes the server with its bounds; it speaks HTTPS when there are certificates.
func (c *Serve) server(handler http.Handler, certificates []tls.Certificate) *http.Server {
	server := &http.Server{
		Handler:           handler,
		Protocols:         c.protocols(),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      c.OperationTimeout + writeMargin,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes + int(c.MaxQuery), // the address counts among the headers
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: maxStreams, SendPingTimeout: pingAfter, WriteByteTimeout: stuckTimeout,
			MaxReadFrameSize: maxFrame, MaxReceiveBufferPerConnection: maxBuffered, MaxReceiveBufferPerStream: maxBuffered,
		},
	}
	if certificates != nil {
		server.TLSConfig = &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12}
	}
	return server
}

// serve answers requests until the context ends.
func (c *Serve) serve(ctx context.Context, server *http.Server, listener net.Listener, term Terminal) error {
	said := httpapi.NewServerLog(term.Logger)
	defer said.Close()
	server.ErrorLog = said.Logger()
	listener = c.connections.Bound(server, listener)
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveOn(server, listener) })
	group.Go(func() error {
		<-groupCtx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.DrainTimeout)
		defer cancel()
		if err := server.Shutdown(drain); err != nil {
			term.Logger.Warn("some requests were cut off at the end", "error", err)
			return server.Close()
		}
		return nil
	})
	return group.Wait()
}

// Store makes what reads and writes the table.
func (c *Serve) Store(session *Session) *dynamo.Store {
	client := session.Client
	if c.HedgeReads {
		client = call.Hedged(client)
	}
	store := dynamo.NewStore(client, session.Table)
	store.RefuseUncounted(leases.NewLeases(session.Client, session.Table))
	if c.WorkedOff != nil {
		store.UseStatistics(c.WorkedOff, c.StatisticsAge)
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

func (c *Serve) announce(address net.Addr, session *Session, writing string, term Terminal) {
	hosts := openable(address, net.InterfaceAddrs)
	others := ""
	for _, host := range hosts[1:] {
		others += fmt.Sprintf("  also      %s://%s\n", c.scheme(), host)
	}
	fmt.Fprintf(term.Err, "Talkback answers.\n  API       %[1]s://%[2]s/graphql\n  explorer  %[1]s://%[2]s/playground\n%[3]s  table     %[4]s at %[5]s\n  writing   %[6]s\nStop with Ctrl-C.\n",
		c.scheme(), hosts[0], others, session.Table, session.Address, writing)
}
