package dynamotest

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/provisiontest"
)

// readyWithin is the time that an engine has to answer first: Dynoxide needs some 10 ms, Java on a
// busy machine seconds.
const readyWithin = time.Minute

// process is a running engine. It ends with the test process, however that ends.
type process interface {
	// Err returns why the engine ended, nil while it runs.
	Err() error
	// Stop ends the engine.
	Stop() error
}

// server starts an engine once and remembers the result.
type server struct {
	// run starts the engine, with its files in a folder, and returns its address.
	run func(ctx context.Context, folder string) (running process, url string, err error)

	once    sync.Once
	running process
	folder  string
	url     string
	err     error
}

// endpoint returns the engine's address. The first call starts the engine.
func (s *server) endpoint(tb testing.TB) string {
	tb.Helper()
	s.once.Do(func() {
		if s.folder, s.err = os.MkdirTemp("", "talkback-engine-"); s.err == nil {
			ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
			defer cancel()
			s.running, s.url, s.err = s.run(ctx, s.folder)
		}
	})
	provisiontest.Need(tb, s.err)
	provisiontest.Need(tb, s.running.Err())
	return s.url
}

// stop ends the engine if it was started. Errors are ignored: the tests are over, and the end of
// the process kills the engine in any case.
func (s *server) stop() {
	if s.running != nil {
		_ = s.running.Stop()
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}
