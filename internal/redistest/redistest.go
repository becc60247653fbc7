// Package redistest gives tests a real Redis server on a loopback port, in memory only, that can be
// stopped, paused and emptied. It is test support, and no shipped code imports it.
package redistest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/textproto"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/engine/child"
	"github.com/talkback/talkback/internal/enginetest"
)

// Bounds of waits. Only a failing test uses them up.
const (
	readyWithin = 20 * time.Second
	stopWithin  = 2 * time.Second
)

// Server is a Redis server that a test may do anything to.
type Server struct {
	address string
	command child.Command
	running *child.Child
}

// Start starts a server, which ends with the test. Settings are those of redis-server's command
// line. Where Redis is not installed, the test is skipped, or fails when the environment variable CI
// is set.
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		enginetest.LeaveOut(tb, fmt.Errorf("the Redis suite: redis-server is not on PATH; %w", enginetest.ErrNotInstalled))
	}
	port, err := child.FreePort(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	if err != nil {
		tb.Fatal(err)
	}
	folder := tb.TempDir()
	s := &Server{address: fmt.Sprintf("127.0.0.1:%d", port), command: child.Command{
		Path: path, Log: filepath.Join(folder, "log"),
		Args: append([]string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"}, settings...),
	}}
	s.Restart(tb)
	tb.Cleanup(func() { s.Stop(tb) })
	return s
}

// Address is the host and the port of the server.
func (s *Server) Address() string { return s.address }

// URL names the server.
func (s *Server) URL() string { return "redis://" + s.address }

// Stop ends the server, with all that it holds.
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

// answers reports whether the server speaks yet. One that wants a password does.
func (s *Server) answers(context.Context) bool {
	reply, err := s.Do("PING")
	return err == nil && (reply == "+PONG" || strings.HasPrefix(reply, "-NOAUTH"))
}

// Do sends a command whose reply is one line, and returns that line.
func (s *Server) Do(words ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	text := textproto.NewConn(conn)
	if err := text.PrintfLine("%s", strings.Join(words, " ")); err != nil {
		return "", err
	}
	return text.ReadLine()
}

// Must is Do for a command that must succeed.
func (s *Server) Must(tb testing.TB, words ...string) {
	tb.Helper()
	if reply, err := s.Do(words...); err != nil || strings.HasPrefix(reply, "-") {
		tb.Fatalf("%s: %s %v", words[0], reply, err)
	}
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
