// Package redistest gives tests a real Redis server on a loopback port, in memory only, that can be
// stopped, paused and emptied. It is test support, and no shipped code imports it.
package redistest

import (
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/servertest"
)

// Server is a Redis server of one test. It loses its data when it stops, unless settings say
// otherwise.
type Server struct{ *servertest.Server }

// Start starts a server, which ends with the test. Settings are those of redis-server's command
// line. Where Redis is not installed, the test is skipped, or fails when the environment variable
// CI is set.
func Start(tb testing.TB, settings ...string) *Server {
	tb.Helper()
	path := provisiontest.Program(tb, "redis-server", "the Redis suite")
	folder := tb.TempDir()
	return &Server{servertest.Start(tb, path, func(port uint16) []string {
		return append([]string{"--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"}, settings...)
	}, answers)}
}

// URL names the server.
func (s *Server) URL() string { return "redis://" + s.Address() }

// answers reports whether the server speaks yet. One that wants a password does.
func answers(address string) bool {
	reply, err := send(address, "PING")
	return err == nil && (reply == "+PONG" || strings.HasPrefix(reply, "-NOAUTH"))
}

// Do sends a command whose reply is one line, and returns that line.
func (s *Server) Do(words ...string) (string, error) { return send(s.Address(), words...) }

func send(address string, words ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
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
