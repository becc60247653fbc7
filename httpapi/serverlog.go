package httpapi

import (
	"context"
	"log"
	"log/slog"
	"regexp"
	"strings"
)

// ServerLog is the ErrorLog of an [net/http.Server]. It receives messages such as that a handshake
// failed or that a client broke the protocol, and logs them without the addresses of clients.
//
// Anyone can cause thousands of such messages. Of each kind, ServerLog logs the first of a minute,
// and at the end of the minute how many more there were. What clients cause has the level debug.
// Panics have the level error and are all logged. Safe for concurrent use.
type ServerLog struct {
	to    *slog.Logger
	lines *perMinute[kindOfMessage]
}

// kindOfMessage is the beginning that messages of one kind share, and their level.
type kindOfMessage struct {
	begins string
	level  slog.Level
}

// messages are the known kinds of net/http's messages, of both versions of HTTP. Others may be
// about the server itself.
var messages = []kindOfMessage{
	{"http: panic serving", slog.LevelError},
	{"http2: panic serving", slog.LevelError},
	{"http: TLS handshake error", slog.LevelDebug},
	{"http: URL query contains semicolon", slog.LevelDebug},
	{"http2: server", slog.LevelDebug},
	{"http2: received GOAWAY", slog.LevelDebug},
	{"timeout waiting for", slog.LevelDebug},
}

var otherMessage = kindOfMessage{"", slog.LevelWarn}

// NewServerLog returns a ServerLog that writes to a logger. The caller calls Close when the server
// has ended.
func NewServerLog(to *slog.Logger) *ServerLog {
	return &ServerLog{to: to, lines: newPerMinute(1, func(kind kindOfMessage, more int) {
		to.Log(context.Background(), kind.level, "the HTTP server: more such messages", "kind", kind.begins, "count", more)
	})}
}

// Logger returns the logger to use as the ErrorLog of a server.
func (l *ServerLog) Logger() *log.Logger { return log.New(l, "", 0) }

// Write implements [io.Writer]. It takes one message at a time.
func (l *ServerLog) Write(message []byte) (int, error) {
	text := address.ReplaceAllString(strings.TrimSuffix(string(message), "\n"), "a client")
	kind := kindOfText(text)
	if kind.level == slog.LevelError || l.lines.pass(kind) {
		l.to.Log(context.Background(), kind.level, "the HTTP server: "+text)
	}
	return len(message), nil
}

// Close logs what was counted and not logged yet.
func (l *ServerLog) Close() { l.lines.close() }

func kindOfText(message string) kindOfMessage {
	for _, kind := range messages {
		if strings.HasPrefix(message, kind.begins) {
			return kind
		}
	}
	return otherMessage
}

// address matches a client's address with its port: IPv4, or IPv6 in brackets.
var address = regexp.MustCompile(`\[[0-9A-Fa-f:.%\w]+\]:\d+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?`)
