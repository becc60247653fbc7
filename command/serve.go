package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/authoring"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/resolvers"
	"github.com/talkback/talkback/web"
)

// Bounds on connections. Reading a request and writing an answer both have to end: a client that sends or takes a byte
// at a time would otherwise hold on to them for ever.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeMargin       = 15 * time.Second // beyond the time of the operation
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// Serve serves the API and the explorer.
type Serve struct {
	Listen           string        `help:"Address to listen on (default: ${default})." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	OperationTimeout time.Duration `help:"How long the work for one request may take (default: ${default})." placeholder:"TIME" default:"10s"`
	DrainTimeout     time.Duration `help:"How long requests under way may go on after a signal to stop (default: ${default})." placeholder:"TIME" default:"15s"`
	SampleData       bool          `help:"Put sample data into an empty table."`

	Writers WriterFlags `embed:"" group:"Who may write"`
}

// Run serves until the context ends, then lets the requests under way finish. It returns an error, in one sentence that
// names the cure, when it cannot start or when its engine ends.
func (c *Serve) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	// The port comes first: without it nothing else is worth starting.
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s (%w): stop what uses the port, or give another address by --listen, such as 127.0.0.1:8081", c.Listen, innermost(err))
	}
	defer func() { _ = listener.Close() }() // closed already once the server ran

	authorizer, notice, err := c.Writers.authorizer(ctx, listener.Addr(), term.Logger)
	if err != nil {
		return err
	}
	session, err := flags.Open(ctx, "talkback serve", true, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()

	if c.SampleData {
		if err := watched(ctx, session, func(ctx context.Context) error { return loadSample(ctx, session, term) }); err != nil {
			return err
		}
	}
	c.announce(listener.Addr(), session, notice, term)
	return watched(ctx, session, func(ctx context.Context) error { return c.serve(ctx, listener, session, authorizer, term) })
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

// serve answers requests until the context ends.
func (c *Serve) serve(ctx context.Context, listener net.Listener, session *Session, authorizer authoring.Authorizer, term Terminal) error {
	server := &http.Server{
		Handler:           c.Handler(session, authorizer, term),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      c.OperationTimeout + writeMargin,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
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

// Handler wires everything that answers requests. The authorizer says who may write.
func (c *Serve) Handler(session *Session, authorizer authoring.Authorizer, term Terminal) http.Handler {
	store := dynamo.NewStore(session.Client, session.Table)
	return httpapi.New(httpapi.Options{
		Schema: graph.NewExecutableSchema(graph.Config{
			Resolvers: &resolvers.Resolver{
				Comments: store,
				Author:   &authoring.Desk{Store: store, Authorizer: authorizer},
			},
		}),
		ErrorPresenter:   resolvers.ErrorPresenter(term.Logger, httpapi.RequestID),
		Comments:         store,
		Authenticate:     auth.WithToken,
		Pages:            web.Handler(),
		Ready:            store.Ready,
		OperationTimeout: c.OperationTimeout,
		Logger:           term.Logger,
	})
}

func (c *Serve) announce(address net.Addr, session *Session, writing string, term Terminal) {
	fmt.Fprintf(term.Err, "Talkback answers.\n  API       http://%[1]s/graphql\n  explorer  http://%[1]s/playground\n  table     %[2]s at %[3]s\n  writing   %[4]s\nStop with Ctrl-C.\n",
		address, session.Table, session.Address, writing)
}
