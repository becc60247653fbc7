package httpapi

import (
	"context"
	"log"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"
)

// logEvery is how often messages of one kind are logged.
const logEvery = time.Minute

// ServerLog is the ErrorLog of an [net/http.Server]. It receives messages such as that a handshake
// failed or that a client broke the protocol, and logs them without the addresses of clients.
//
// Anyone can cause thousands of such messages. Of each kind, ServerLog logs the first of a minute,
// and at the end of the minute how many more there were. What clients cause has the level debug.
// Panics have the level error and are all logged. Safe for concurrent use.
type ServerLog struct {
	to *slog.Logger

	mu   sync.Mutex
	more map[kindOfMessage]int // after the first of this minute
	ends map[kindOfMessage]*time.Timer
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
	return &ServerLog{to: to, more: map[kindOfMessage]int{}, ends: map[kindOfMessage]*time.Timer{}}
}

// Logger returns the logger to use as the ErrorLog of a server.
func (l *ServerLog) Logger() *log.Logger { return log.New(l, "", 0) }

// Write implements [io.Writer]. It takes one message at a time.
func (l *ServerLog) Write(message []byte) (int, error) {
	text := withoutAddresses(strings.TrimSuffix(string(message), "\n"))
	kind := kindOfText(text)
	if kind.level == slog.LevelError || l.first(kind) {
		l.to.Log(context.Background(), kind.level, "the HTTP server: "+text)
	}
	return len(message), nil
}

// first reports whether a message is the first of its kind in a minute, and counts it if not.
func (l *ServerLog) first(kind kindOfMessage) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ends[kind] != nil {
		l.more[kind]++
		return false
	}
	l.ends[kind] = time.AfterFunc(logEvery, func() { l.end(kind) })
	return true
}

// end ends the minute of a kind, unless it has ended before.
func (l *ServerLog) end(kind kindOfMessage) {
	l.mu.Lock()
	more := l.more[kind]
	delete(l.more, kind)
	delete(l.ends, kind)
	l.mu.Unlock()
	if more > 0 {
		l.to.Log(context.Background(), kind.level, "the HTTP server: more such messages", "kind", kind.begins, "count", more)
	}
}

// Close logs what was counted and not logged yet.
func (l *ServerLog) Close() {
	l.mu.Lock()
	var open []kindOfMessage
	for kind, timer := range l.ends {
		timer.Stop()
		open = append(open, kind)
	}
	l.mu.Unlock()
	for _, kind := range open {
		l.end(kind)
	}
}

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

// withoutAddresses returns what may be logged of a message.
func withoutAddresses(message string) string { return address.ReplaceAllString(message, "a client") }
