package dynamotest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/engine/child"
)

const (
	// readyWithin is how long an engine may take to answer: Dynoxide needs some 10 ms, Java on a busy machine seconds.
	readyWithin = time.Minute
	// stopWithin is how long an engine may take to end before it is killed. Its data was in memory anyway.
	stopWithin = 2 * time.Second
)

// The engines of this test process.
var (
	dynoxide      = server{command: dynoxideCommand}
	dynamoDBLocal = server{command: dynamoDBLocalCommand}
)

// errNotInstalled is wrapped by the errors that leave tests out. Any other error fails them.
var errNotInstalled = errors.New("`make provision` fetches it")

// server starts an engine once and remembers how that went.
type server struct {
	// command returns what to run on the given port.
	command func(port int) (child.Command, error)

	mu      sync.Mutex
	started bool
	running *child.Child
	folder  string // of the log
	url     string
	err     error
}

// endpoint starts the engine if no test did so before.
func (s *server) endpoint(tb testing.TB) string {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		s.err = s.start()
	}
	switch {
	case errors.Is(s.err, errNotInstalled):
		leaveOut(tb, s.err)
	case s.err != nil:
		tb.Fatal(s.err)
	case s.running.Err() != nil:
		tb.Fatal(s.running.Err())
	}
	return s.url
}

// leaveOut skips the test, aloud; where every engine is meant to be there, it fails it.
func leaveOut(tb testing.TB, why error) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatalf("CI is set, so this test may not be left out: %v", why)
	}
	tb.Skipf("left out: %v", why)
}

func (s *server) start() error {
	port, err := child.FreePort()
	if err != nil {
		return err
	}
	command, err := s.command(port)
	if err != nil {
		return err
	}
	if s.folder, err = os.MkdirTemp("", "talkback-engine-"); err != nil {
		return err
	}
	command.Log = filepath.Join(s.folder, "log")
	if s.running, err = child.Start(command); err != nil {
		return err
	}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	return s.running.Ready(ctx, s.answers)
}

// answers says whether the engine speaks HTTP yet. DynamoDB Local answers a bare GET with an error, which is an answer.
func (s *server) answers(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return false
	}
	response, err := probeClient.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return true
}

// probeClient leaves no connection behind that a test for leaked goroutines would find.
var probeClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// stop ends the engine, if one was started. Errors have nobody to go to: the tests are over, and the process's end
// kills what is left.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		_ = s.running.Stop(stopWithin)
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}
