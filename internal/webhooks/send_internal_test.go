package webhooks

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A hook that never answers, or never stops answering, takes at most 15 s of a delivery, and no
// memory.
func TestHooksThatHang(t *testing.T) {
	drip := func(conn net.Conn, text string) {
		for _, err := io.WriteString(conn, text); err == nil; _, err = io.WriteString(conn, "x") {
			time.Sleep(time.Second)
		}
	}
	long := strings.Repeat("of-the-receiver", 1000) // must be in no error, since the hook keeps its error for people to read
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
		"it sends another status":   {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 "+long+"\r\n\r\n") }, 0, "no answer"},
		"it sends another header":   {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n"+long+"\r\n\r\n") }, 0, "no answer"},
		"it goes on in another way": {func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 101 Other\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
		}, 0, "it answers 101"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewSender(func(string) (string, bool) { return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true })
				s.private.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						defer there.Close()
						if request, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
							_, _ = io.Copy(io.Discard, request.Body)
						}
						row.answer(there)
						_, _ = there.Read(make([]byte, 1)) // until the sender has hung up
					}()
					return here, nil
				}
				began := time.Now()
				err := s.Test(t.Context(), Hook{URL: "http://shop.example", SecretEnv: "SECRET", AllowPrivate: true}, "test_1")
				if took := time.Since(began); took != row.took {
					t.Errorf("it took %v", took)
				}
				if (err == nil) != (row.want == "") || err != nil && (!strings.Contains(err.Error(), row.want) || len(err.Error()) > 300) {
					t.Errorf("the error is %.300v", err)
				}
				s.private.CloseIdleConnections()
				time.Sleep(timeout) // until the hook has noticed
			})
		})
	}
}

// A hook that accepts connections and never completes a handshake holds none of them beyond its
// delivery.
func TestHooksThatNeverGreet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSender(func(string) (string, bool) { return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true })
		s.public.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, there) }() // until the sender has hung up
			return here, nil
		}
		if err := s.Test(t.Context(), Hook{URL: "https://shop.example", SecretEnv: "SECRET"}, "test_1"); err == nil || !strings.Contains(err.Error(), "no answer within 15s") {
			t.Error(err)
		}
	})
}

// An HTTP/2 connection that falls silent gets no further delivery.
func TestHooksThatFallSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var connections atomic.Int64
		s := NewSender(func(string) (string, bool) { return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true })
		transport := s.private.Transport.(*http.Transport)
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			connections.Add(1)
			here, there := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, there) }()
			return here, nil
		}
		for n := int64(1); n <= 2; n++ {
			err := s.Test(t.Context(), Hook{URL: "http://shop.example", SecretEnv: "SECRET", AllowPrivate: true}, "test_1")
			if connections.Load() != n || err == nil {
				t.Errorf("%d connections, %v", connections.Load(), err)
			}
			time.Sleep(2 * timeout) // until the sender has given it up
		}
	})
}

// endless writes a text, and then goes on writing as long as it is read.
func endless(conn net.Conn, text string) {
	_, err := io.WriteString(conn, text)
	for more := strings.Repeat("x", 4096); err == nil; {
		_, err = io.WriteString(conn, more)
	}
}
