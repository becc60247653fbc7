// Package postgrestest gives tests a real PostgreSQL server: one for the tests of a package,
// started when a test first asks for it, with data of its own, and gone when the test process ends,
// in whatever way. It is test support, and no shipped code imports it.
//
//	func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }
//
//	func TestStore(t *testing.T) { store, err := postgres.Open(ctx, postgrestest.Database(t), table) }
package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/talkback/talkback/internal/provisiontest"
)

// started is the server of this test process, nil before share starts it.
var started *Server

var share = sync.OnceValue(func() (err error) {
	started, err = start(false)
	return err
})

// Run runs the tests and stops the server that they shared. It returns the exit status.
func Run(m *testing.M) int {
	defer Stop()
	return m.Run()
}

// Stop stops the shared server, for a TestMain that has more to do than Run.
func Stop() {
	if started != nil {
		_ = started.Stop() // the end of the process kills it in any case
		_ = started.Remove()
	}
}

// Database returns the URL of an empty database of the shared server, which loses its data when the
// machine fails. Where PostgreSQL is not installed, the test is skipped, or fails when the
// environment variable CI is set.
func Database(tb testing.TB) string {
	tb.Helper()
	provisiontest.Need(tb, share())
	return started.Database(tb)
}

// Durable starts a server for one test, which syncs its data to the disk as it does by default.
func Durable(tb testing.TB) *Server {
	tb.Helper()
	server, err := start(true)
	provisiontest.Need(tb, err)
	tb.Cleanup(func() {
		if err := errors.Join(server.Stop(), server.Remove()); err != nil {
			tb.Error(err)
		}
	})
	return server
}

// Database makes an empty database and returns its URL.
func (s *Server) Database(tb testing.TB) string {
	tb.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	connection, err := pgx.Connect(tb.Context(), s.url("postgres"))
	if err != nil {
		tb.Fatal(err)
	}
	defer connection.Close(context.WithoutCancel(tb.Context()))
	if _, err := connection.Exec(tb.Context(), "CREATE DATABASE "+name); err != nil {
		tb.Fatal(err)
	}
	return s.url(name)
}
