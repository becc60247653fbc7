package webhooks

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A hook that never answers, or never stops to, takes 15 s of a delivery at most, and no memory.
func TestHooksThatHang(t *testing.T) {
	drip := func(conn net.Conn, text string) {
		for _, err := io.WriteString(conn, text); err == nil; _, err = io.WriteString(conn, "x") {
			time.Sleep(time.Second)
		}
	}
	for name, row := range map[string]struct {
		answer func(net.Conn)
		took   time.Duration
		want   string
	}{
		"it never answers":          {func(net.Conn) {}, timeout, "no answer within 15s"},
		"its head never ends":       {func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\nX: ") }, timeout, "no answer within 15s"},
		"its head is endless":       {func(c net.Conn) { endless(c, "HTTP/1.1 200 OK\r\nX: ") }, 0, "no answer"},
		"its body never ends":       {func(c net.Conn) { drip(c, "HTTP/1.1 200 OK\r\n\r\n") }, timeout, ""},
		"its body is endless":       {func(c net.Conn) { endless(c, "HTTP/1.1 200 OK\r\n\r\n") }, 0, ""},
		"it only says to go on":     {func(c net.Conn) { endless(c, strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100)) }, 0, "no answer"},
		"it refuses without an end": {func(c net.Conn) { endless(c, "HTTP/1.1 503 Full\r\n\r\n") }, 0, "it answers 503"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var hooks sync.WaitGroup
				s := NewSender(func(string) (string, bool) { return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true })
				s.private.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					hooks.Go(func() {
						defer there.Close()
						if request, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
							_, _ = io.Copy(io.Discard, request.Body)
						}
						row.answer(there)
						_, _ = there.Read(make([]byte, 1)) // until the sender has hung up
					})
					return here, nil
				}
				began := time.Now()
				err := s.Test(t.Context(), Hook{URL: "http://shop.example", SecretEnv: "SECRET", AllowPrivate: true}, "test_1")
				if took := time.Since(began); took != row.took {
					t.Errorf("it took %v", took)
				}
				if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
					t.Error(err)
				}
				s.private.CloseIdleConnections()
				hooks.Wait()
			})
		})
	}
}

// endless writes a text, and then more as long as it is read.
func endless(conn net.Conn, text string) {
	_, err := io.WriteString(conn, text)
	for more := strings.Repeat("x", 4096); err == nil; {
		_, err = io.WriteString(conn, more)
	}
}
