// Package programtest runs the program within the process of a test. Only tests import it.
package programtest

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/internal/commenttest"
)

// startsWithin bounds the wait for the server. Only a failing test uses it up.
const startsWithin = 5 * time.Minute

// answers matches what a server says once it answers, as text or as a line of JSON.
var answers = regexp.MustCompile(`API +https?://(\S+)/graphql(?s:.*)Stop with Ctrl-C|"talkback answers","address":"([^"]+)"`)

// Serve runs a command line that starts a server, and waits until the server answers. All that it
// prints and logs is added to said. stop ends the server; the end of the test does it otherwise.
func Serve(t *testing.T, said *commenttest.Transcript, arguments ...string) (address string, stop func()) {
	t.Helper()
	before, status, ended := len(said.String()), 0, make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(ended)
		status = command.Main(ctx, arguments, command.Terminal{In: strings.NewReader(""), Out: said, Err: said, Logger: slog.New(slog.NewTextHandler(said, nil))})
	}()
	stop = sync.OnceFunc(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections() // otherwise the server waits a second for their next requests
		cancel()
		if <-ended; status != 0 {
			t.Errorf("it ended with status %d: %s", status, said)
		}
	})
	t.Cleanup(stop)
	for deadline := time.Now().Add(startsWithin); ; time.Sleep(10 * time.Millisecond) {
		if match := answers.FindStringSubmatch(said.String()[before:]); match != nil {
			return match[1] + match[2], stop
		}
		select {
		case <-ended:
			t.Fatal("it ended: ", said)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not answer: ", said)
		}
	}
}
