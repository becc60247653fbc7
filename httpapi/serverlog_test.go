package httpapi_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/httpapi"
)

// Messages of the server are logged once a minute for each kind, with the number of further ones,
// and without client addresses.
func TestServerLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		server := httpapi.NewServerLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
		for i := range 200 {
			server.Logger().Printf("http: TLS handshake error from 203.0.113.9:%d: EOF", 1000+i)
			server.Logger().Printf("http2: server: error reading preface from client [2001:db8::%x]:443: bogus greeting", i)
		}
		server.Logger().Print("http: Accept error: accept tcp 127.0.0.1:8080: too many open files; retrying in 5ms")
		time.Sleep(time.Minute)
		synctest.Wait()
		server.Logger().Print("http: TLS handshake error from 203.0.113.9:9: EOF")
		server.Logger().Print("http: TLS handshake error from 203.0.113.9:9: EOF")
		for range 2 {
			server.Logger().Print("http: panic serving 203.0.113.9:9: oh\ngoroutine 1")
		}
		server.Close()
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "203.0.113") || strings.Contains(line, "2001:db8") {
				t.Errorf("an address is logged: %s", line)
			}
		}
		for what, want := range map[string]int{"level=DEBUG": 6, "level=WARN": 1, "level=ERROR": 2, "count=199": 2, "count=1\n": 1, "too many open files": 1} {
			if got := strings.Count(out.String(), what); got != want {
				t.Errorf("%d times %q, want %d:\n%s", got, what, want, out.String())
			}
		}
	})
}
