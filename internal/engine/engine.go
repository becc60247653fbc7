// Package engine runs the local DynamoDB-compatible engine, Dynoxide, while a command needs it.
//
// One data folder holds one engine: its database file, its log, a lock, and a record of the process
// that runs it. So a second command can use that engine, or fail with one sentence that says why
// (folder.go). The engine is a child process that never outlives us (child.go). While it runs,
// this package keeps its stream records in order and trims them, which the engine does not do
// itself (records.go).
package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// startTimeout bounds a start whose context has no earlier deadline. An engine is ready in
	// about 30 ms. Only building the index for a large file can take longer than a second.
	startTimeout = time.Minute
	// stopGrace is how long an engine may take to answer its last requests before it is killed.
	stopGrace = 5 * time.Second
	// portAttempts is how many ports are tried if other processes take them.
	portAttempts = 5
)

// Engine is an engine that runs or has ended.
type Engine struct {
	endpoint string
	child    *Child
	claim    *claim
	records  *streamRecords
	done     chan struct{}
	release  error // of the folder; set before done is closed
}

// Start starts an engine on the folder and returns when it is ready. The context bounds only the
// start: the engine runs until Stop, or until this process ends for any reason.
func Start(ctx context.Context, o Options) (*Engine, error) {
	return start(ctx, o, defaults)
}

// settings are changed by tests only.
type settings struct {
	freeAddress func() (netip.AddrPort, error)
	trimEvery   time.Duration
	keep        time.Duration
}

var defaults = settings{freeAddress: freeAddress, trimEvery: time.Hour, keep: 24 * time.Hour}

func start(ctx context.Context, o Options, s settings) (*Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Existing {
		if err := checkExists(o.Folder); err != nil {
			return nil, err
		}
	}
	binary, err := findBinary(o.Binary)
	if err != nil {
		return nil, err
	}
	claim, err := claimFolder(ctx, o)
	if err != nil {
		return nil, err
	}
	e, err := launch(ctx, binary, claim, o, s)
	if err != nil {
		return nil, errors.Join(err, claim.release())
	}
	go e.supervise(s)
	return e, nil
}

// launch starts the engine on a claimed folder, and announces it to other commands when ready.
func launch(ctx context.Context, binary string, claim *claim, o Options, s settings) (*Engine, error) {
	file := filepath.Join(o.Folder, databaseFile)
	if err := checkDatabase(file); err != nil {
		return nil, err
	}
	if err := keepPrivate(o.Folder); err != nil {
		return nil, err
	}
	running, address, err := run(ctx, binary, o.Folder, s.freeAddress)
	if err != nil {
		if err = withCure(o.Folder, err); o.Binary != "" && !errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w; if that is not the program %s, give the path of it by --engine", err, binaryName)
		}
		return nil, err
	}
	warnIfUsual(address.Addr(), o.Logger)
	e := &Engine{
		endpoint: "http://" + address.String(), child: running, claim: claim, done: make(chan struct{}),
		records: &streamRecords{file: file, log: o.Logger},
	}
	if err = e.records.index(ctx); err != nil {
		err = withCure(o.Folder, err)
	} else {
		err = claim.announce(e.endpoint)
	}
	if err != nil {
		return nil, errors.Join(err, running.Stop(stopGrace))
	}
	return e, nil
}

// run starts the engine's process on a free address and waits until it answers.
func run(ctx context.Context, binary, folder string, freeAddress func() (netip.AddrPort, error)) (*Child, netip.AddrPort, error) {
	for attempt := 1; ; attempt++ {
		address, err := freeAddress()
		if err != nil {
			return nil, address, err
		}
		running, err := StartChild(Command{
			Path: binary,
			Args: []string{"serve", "--host", address.Addr().String(), "--port", fmt.Sprint(address.Port()),
				"--db-path", filepath.Join(folder, databaseFile)},
			Log: filepath.Join(folder, logFile),
		})
		if err != nil {
			return nil, address, err
		}
		err = running.Ready(ctx, func(ctx context.Context) bool { return answers(ctx, running, "http://"+address.String()) })
		if err == nil {
			return running, address, nil
		}
		portTaken := strings.Contains(running.LastWords(), "already in use")
		if err = errors.Join(err, running.Stop(stopGrace)); !portTaken || attempt == portAttempts {
			return nil, address, err
		}
	}
}

// answers reports whether the engine is ready. It checks the engine's own output first: if another
// process took the port, an answer there is not the engine's.
func answers(ctx context.Context, running *Child, endpoint string) bool {
	if !strings.Contains(running.LastWords(), "listening on "+endpoint) {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, endpoint, nil)
	if err != nil {
		return false
	}
	response, err := probeClient.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// probeClient keeps no connections open, since each engine gets only one or two requests.
var probeClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}

// supervise maintains the engine's records until the process ends, and then releases the folder.
func (e *Engine) supervise(s settings) {
	ctx, cancel := context.WithCancel(context.Background())
	var upkeep sync.WaitGroup
	upkeep.Go(func() { e.records.keepTrimmed(ctx, s.trimEvery, s.keep) })
	<-e.child.Done()
	cancel()
	upkeep.Wait()
	e.release = e.claim.release()
	close(e.done)
}

// Endpoint returns the URL for DynamoDB clients. It does not change.
func (e *Engine) Endpoint() string { return e.endpoint }

// Done returns a channel that is closed when the engine's process has ended and its folder is free.
func (e *Engine) Done() <-chan struct{} { return e.done }

// Err returns why the engine ended, with its exit status and its last log lines. It is nil while
// the engine runs, and after Stop.
func (e *Engine) Err() error { return e.child.Err() }

// Stop asks the engine to end, and kills it if that takes too long. It returns when the engine is
// gone, and may be called more than once.
func (e *Engine) Stop() error {
	if err := e.child.Stop(stopGrace); err != nil {
		return err
	}
	<-e.done
	return e.release
}

// checkDatabase refuses a file that is not a database, with a better message than the engine's.
func checkDatabase(path string) error {
	const magic = "SQLite format 3\x00"
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read the engine's data: %w", err)
	}
	defer file.Close()
	head := make([]byte, len(magic))
	n, err := file.Read(head)
	if n == 0 || string(head) == magic {
		return nil // the engine fills an empty file
	}
	if err != nil {
		return fmt.Errorf("cannot read the engine's data: %w", err)
	}
	return fmt.Errorf("%s is damaged, or not a database: put a good copy in its place, "+
		"move it away to begin with an empty one, or use another folder (--data)", path)
}
