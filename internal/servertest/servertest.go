// Package servertest runs a server for a test on a loopback port, which the test can stop, start
// again and pause. Packages redistest and s3test say which server. It is test support, and no
// shipped code imports it.
package servertest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/engine"
	"github.com/talkback/talkback/internal/task"
)

// Bounds of waits. Only a failing test uses them up.
const (
	readyWithin = 2 * time.Minute
	stopWithin  = 2 * time.Second
)

// Server is a server that a test may do anything to.
type Server struct {
	address string
	command engine.Command
	answers func(address string) bool
	running *engine.Child
}

// Start starts a program, which ends with the test, and waits until it answers. args returns its
// arguments, given the port of 127.0.0.1 that it is to listen on.
func Start(tb testing.TB, program string, args func(port uint16) []string, answers func(address string) bool) *Server {
	tb.Helper()
	port := FreePort(tb)
	s := &Server{
		address: fmt.Sprintf("127.0.0.1:%d", port),
		command: engine.Command{Path: program, Args: args(port), Log: filepath.Join(tb.TempDir(), "log")},
		answers: answers,
	}
	s.Restart(tb)
	tb.Cleanup(func() { s.Stop(tb) })
	return s
}

// FreePort returns a port of 127.0.0.1 on which nothing listens at the moment.
func FreePort(tb testing.TB) uint16 {
	tb.Helper()
	port, err := engine.FreePort(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	if err != nil {
		tb.Fatal(err)
	}
	return port
}

// Connects reports whether a server takes connections yet: for Start.
func Connects(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// Address is the host and the port of the server.
func (s *Server) Address() string { return s.address }

// Stop ends the server.
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
	running, err := engine.StartChild(s.command)
	if err != nil {
		tb.Fatal(err)
	}
	s.running = running
	ctx, cancel := context.WithTimeout(tb.Context(), readyWithin)
	defer cancel()
	if err := running.Ready(ctx, func(context.Context) bool { return s.answers(s.address) }); err != nil {
		tb.Fatal(err)
	}
}

// Pause lets the server take connections and answer nothing, as a machine does that hangs. A signal
// stops the threads of a process a moment later, each for itself: Pause waits for all of them.
func (s *Server) Pause(tb testing.TB) {
	tb.Helper()
	s.signal(tb, syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(tb.Context(), stopWithin)
	defer cancel()
	for !paused(s.running.PID()) {
		if err := task.Wait(ctx, time.Millisecond); err != nil {
			tb.Fatalf("the server goes on: %v", err)
		}
	}
}

// paused reports whether no thread of a process is running, as far as the system tells.
// https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
func paused(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is well-formed
	return !slices.ContainsFunc(threads, func(thread string) bool {
		stat, err := os.ReadFile(thread)
		_, state, _ := bytes.Cut(stat, []byte(") ")) // behind the program's name
		return err == nil && !bytes.HasPrefix(state, []byte("T"))
	})
}

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
