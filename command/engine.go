package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/engine"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/usage"
)

// EngineFlags select the engine and the table.
type EngineFlags struct {
	Data       string `help:"Data folder of the local engine (default: ${default})." default:"data" type:"path" placeholder:"DIR"`
	EngineFile string `name:"engine" help:"Program of the local engine, if it is neither in the folder of talkback nor on PATH." type:"path" placeholder:"FILE"`
	Endpoint   string `help:"Use the DynamoDB-compatible engine at this address, such as http://localhost:8000, instead of the local one." placeholder:"URL"`
	AWS        bool   `name:"aws" help:"Use DynamoDB on AWS, with region and credentials of the SDK's default chain."`
	Table      string `help:"Name of the table (default: ${default})." default:"${table}" placeholder:"NAME"`
}

// Validate returns an error if the flags select two engines. Kong's groups of flags that exclude
// each other would refuse --aws=false, and TALKBACK_AWS=false, beside an endpoint.
func (f *EngineFlags) Validate() error {
	if f.AWS && f.Endpoint != "" {
		return errors.New("--endpoint and --aws can't be used together")
	}
	return nil
}

// local reports whether the local engine is used.
func (f *EngineFlags) local() bool { return !f.AWS && f.Endpoint == "" }

func (f *EngineFlags) check() error {
	if strings.Contains(f.Endpoint, "@") {
		return usagef("--endpoint takes no user and no password, which messages would show: give an address such as http://localhost:8000")
	}
	if f.Endpoint != "" {
		u, err := url.Parse(f.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return usagef("--endpoint %s is not an address: give one such as http://localhost:8000", f.Endpoint)
		}
	}
	if err := dynamo.CheckTableName(f.Table); err != nil {
		return usagef("--table: %w", err)
	}
	return nil
}

// checkOutput returns an error if a path is a file of the local engine.
func (f *EngineFlags) checkOutput(path string) error {
	if f.local() && engine.Owns(f.Data, path) {
		return usagef("%s is a file of the local engine, which stores comments: name another file", output.Printable(path))
	}
	return nil
}

// CreateFlags are the flags of commands that can create the table.
type CreateFlags struct {
	CreateTable bool `help:"Create the table if it does not exist. serve and import always do so on the local engine."`
}

// Opening says how to open an engine.
type Opening struct {
	// Owner is the command that opens it, such as "talkback serve", for messages of other commands.
	Owner string
	// Share lets other commands use the local engine that is started here.
	Share bool
	// Create creates the table and the local engine's folder if they do not exist.
	Create bool
}

// Open connects to the engine that the flags select, and checks that the table exists. If a server
// runs the local engine on the same folder, Open connects to that engine, otherwise it starts its
// own. An error is one sentence that names the cure.
func (f *EngineFlags) Open(ctx context.Context, how Opening, term Terminal) (*Session, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	session, err := f.connect(ctx, how, term)
	if err != nil {
		return nil, err
	}
	var missing *dynamo.MissingTableError
	err = dynamo.CheckTable(ctx, session.Client, f.Table)
	switch {
	case err == nil:
		err = dynamo.CheckLayout(ctx, session.Client, f.Table)
	case !errors.As(err, &missing):
		err = unreached(err, session)
	case how.Create:
		err = dynamo.CreateTable(ctx, session.Client, f.Table)
	default:
		missing.Existing, missing.Region = dynamo.TableNames(ctx, session.Client), session.region()
		err = missing
	}
	if err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return session, nil
}

// with opens the engine, calls use, and closes it.
func (f *EngineFlags) with(ctx context.Context, how Opening, term Terminal, use func(*Session) error) (err error) {
	session, err := f.Open(ctx, how, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return use(session)
}

func (f *EngineFlags) connect(ctx context.Context, how Opening, term Terminal) (session *Session, err error) {
	session = &Session{Table: f.Table, command: how.Owner}
	defer func() {
		if err == nil {
			if err = call.CheckSettings(ctx, session.Client); err != nil {
				err = errors.Join(err, session.Close())
			}
		}
	}()
	switch {
	case f.AWS:
		client, err := call.NewAWSClient(ctx)
		session.Client, session.Address, session.AWS = client, "AWS", true
		return session, err
	case f.Endpoint != "":
		session.Client, session.Address = call.NewLocalClient(f.Endpoint), f.Endpoint
		return session, nil
	}
	if !how.Share {
		endpoint, found, err := engine.Shared(ctx, f.Data)
		if err != nil {
			return session, err
		}
		if found {
			session.Client, session.Address, session.run = call.NewLocalClient(endpoint), f.Data, endpoint
			return session, nil
		}
	}
	local, err := engine.Start(ctx, engine.Options{
		Folder:   f.Data,
		Binary:   f.EngineFile,
		Owner:    how.Owner,
		Shared:   how.Share,
		Existing: !how.Create,
		Logger:   term.Logger,
	})
	if err != nil {
		return session, err
	}
	session.local = local
	session.Client, session.Address, session.run = call.NewLocalClient(local.Endpoint()), f.Data, local.Endpoint()
	return session, nil
}

// unreached explains why a table cannot be reached.
func unreached(err error, session *Session) error {
	var call *smithy.OperationError
	var answer *smithyhttp.ResponseError // with a status, of a server that may be no engine
	kind := comment.KindOf(err)
	answered := errors.As(err, &answer) && answer.HTTPStatusCode() != 0
	if !errors.As(err, &call) || kind != comment.Unavailable && kind != comment.Timeout && !answered {
		return err
	}
	if isRefusal(call) {
		return call
	}
	why, _ := callText(call)
	if session.AWS {
		return fmt.Errorf("DynamoDB in region %s does not answer (%s): check AWS_REGION, and that this machine reaches AWS", session.region(), why)
	}
	if session.run != "" {
		return fmt.Errorf("the local engine on %s does not answer (%s): stop the command that runs it, and start that again", session.Address, why)
	}
	return fmt.Errorf("no engine answers at %s (%s): start it there, or name another by --endpoint", session.Address, why)
}

// Session is a connection to an engine whose table is ready for use.
type Session struct {
	Client *dynamodb.Client
	Table  string
	// Address says where the table is, for messages: an engine's URL, the local engine's folder, or
	// AWS. The port of the local engine is never shown.
	Address string
	// AWS means that the engine is DynamoDB itself, with its limits and prices.
	AWS bool

	clock  *call.Clock   // compares this machine's clock with the table's; nil until watchClock
	tracer *usage.Tracer // nil if no traces are sent
	writes *usage.Writes // likewise

	events *outbox.Outbox // nil until outbox

	command string         // that this process runs
	local   *engine.Engine // nil unless this process started it
	run     string         // identifies the run of a local engine's process; empty for other engines
}

// region returns the region of AWS, empty for another engine.
func (s *Session) region() string {
	if !s.AWS {
		return ""
	}
	return s.Client.Options().Region
}

// watchClock logs when this machine's clock differs from the table's by more than counting and
// cursors tolerate.
func (s *Session) watchClock(log *slog.Logger) {
	s.clock = call.NewClock(func(ahead time.Duration, apart bool) {
		if apart {
			log.Warn("the clock of this machine differs from the table's: set it, by NTP for example", "ahead", ahead.Round(time.Second))
			return
		}
		log.Info("the clock of this machine agrees with the table's again")
	})
	s.Client = s.clock.Of(s.Client)
}

// Close stops the local engine if this process started it.
func (s *Session) Close() error {
	if s.local == nil {
		return nil
	}
	return s.local.Stop()
}

// watch runs work, and cancels it if the local engine ends. The error then says why it ended.
func (s *Session) watch(ctx context.Context, work func(context.Context) error) error {
	if s.local == nil {
		return work(ctx)
	}
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
		case <-s.local.Done():
			return s.local.Err()
		}
	})
	return group.Wait()
}

// process describes this process, for messages on other machines.
func (s *Session) process() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown machine"
	}
	return fmt.Sprintf("%s (pid %d on %s)", s.command, os.Getpid(), host)
}

func newLeases(session *Session) *leases.Leases {
	return leases.NewLeases(call.For(session.Client, call.ForLeases), session.Table)
}

// outbox returns the log of events of a session's table, the same at each call.
func (s *Session) outbox() *outbox.Outbox {
	if s.events == nil {
		s.events = outbox.New(call.For(s.Client, call.ForOutbox), s.Table)
	}
	return s.events
}

// watchItems runs work like watch, and shows how many of the table's items are done, out of the
// estimated number. It returns how long the work took.
func (s *Session) watchItems(ctx context.Context, term Terminal, work func(ctx context.Context, show func(items int64)) error) (time.Duration, error) {
	about, _, err := dynamo.NewScanner(s.Client, s.Table, 0).Estimate(ctx)
	if err != nil {
		return 0, err
	}
	progress := output.NewProgress(term.Err, about, "items")
	err = s.watch(ctx, func(ctx context.Context) error {
		return work(ctx, func(items int64) { progress.Show(int(items), items) })
	})
	return progress.End(), err
}
