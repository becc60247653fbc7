// Package s3test gives tests a real S3 server on a loopback port, over a folder of this machine, that
// can be stopped, paused and emptied. It is test support, and no shipped code imports it.
package s3test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/engine/child"
	"github.com/talkback/talkback/internal/enginetest"
)

// Keys of the server, and its only bucket.
const (
	AccessKey = "talkback"
	SecretKey = "talkback-tests"
	Bucket    = "pages"
)

// Bounds of waits. Only a failing test uses them up.
const (
	readyWithin = 20 * time.Second
	stopWithin  = 2 * time.Second
)

// Server is an S3 server that a test may do anything to.
type Server struct {
	address string
	folder  string
	command child.Command
	running *child.Child
}

// Start starts a server with an empty bucket, which ends with the test. Where it was not built, the
// test is skipped, or fails when the environment variable CI is set.
func Start(tb testing.TB) *Server {
	tb.Helper()
	root, err := enginetest.ModuleRoot()
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(root, "bin", "s3server")
	if _, err := os.Stat(path); err != nil {
		enginetest.LeaveOut(tb, fmt.Errorf("the S3 suite: there is no bin/s3server; %w", enginetest.ErrNotInstalled))
	}
	port, err := child.FreePort(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{address: fmt.Sprintf("127.0.0.1:%d", port), folder: tb.TempDir()}
	s.command = child.Command{Path: path, Log: filepath.Join(tb.TempDir(), "log"), Args: []string{s.address, s.folder}}
	s.Empty(tb)
	s.Restart(tb)
	tb.Cleanup(func() { s.Stop(tb) })
	return s
}

// URL is the address of the server.
func (s *Server) URL() string { return "http://" + s.address }

// Environment has the SDK of this process use the server until the test ends.
func (s *Server) Environment(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ENDPOINT_URL_S3", s.URL())
	t.Setenv("AWS_ACCESS_KEY_ID", AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", SecretKey)
	t.Setenv("AWS_REGION", "us-east-1")
}

// Empty deletes all objects.
func (s *Server) Empty(tb testing.TB) {
	tb.Helper()
	bucket := filepath.Join(s.folder, Bucket)
	if err := os.MkdirAll(bucket, 0o700); err != nil {
		tb.Fatal(err)
	}
	found, err := os.ReadDir(bucket)
	if err != nil {
		tb.Fatal(err)
	}
	for _, entry := range found {
		if err := os.RemoveAll(filepath.Join(bucket, entry.Name())); err != nil {
			tb.Fatal(err)
		}
	}
}

// Path is where the object of a name is kept.
func (s *Server) Path(name string) string {
	return filepath.Join(s.folder, Bucket, filepath.FromSlash(name))
}

// Stop ends the server. Its objects stay.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	s.Resume(tb)
	if err := s.running.Stop(stopWithin); err != nil {
		tb.Error(err)
	}
}

// Restart starts the server again after Stop, on the same port.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	running, err := child.Start(s.command)
	if err != nil {
		tb.Fatal(err)
	}
	s.running = running
	ctx, cancel := context.WithTimeout(tb.Context(), readyWithin)
	defer cancel()
	if err := running.Ready(ctx, s.answers); err != nil {
		tb.Fatal(err)
	}
}

// answers reports whether the server takes connections yet.
func (s *Server) answers(context.Context) bool {
	conn, err := net.DialTimeout("tcp", s.address, time.Second)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// Pause lets the server take connections and answer nothing, as a machine does that hangs.
func (s *Server) Pause(tb testing.TB) { s.signal(tb, syscall.SIGSTOP) }

// Resume ends Pause.
func (s *Server) Resume(tb testing.TB) { s.signal(tb, syscall.SIGCONT) }

func (s *Server) signal(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	select {
	case <-s.running.Done():
		return
	default:
	}
	if err := syscall.Kill(s.running.PID(), signal); err != nil {
		tb.Error(err)
	}
}
