package command_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/episode"
	"github.com/talkback/talkback/internal/faulttest"
)

// maxInFlight is how many requests the servers of these tests process at most.
const maxInFlight = 32

// overloaded is a service whose table gets into trouble.
type overloaded struct {
	*api
	network *episode.Network
	gate    *tableGate
	client  *http.Transport
}

// newOverloaded starts a service with products 0 to 39, which have comments.
func newOverloaded(t *testing.T) *overloaded {
	t.Helper()
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t)), serve: command.Serve{MaxInFlight: maxInFlight}}
	a.markCounted()
	r := commenttest.Rand(t)
	for product := range 40 {
		a.load(commenttest.Many(r, fmt.Sprint(product), 3)...)
	}
	s := &overloaded{api: a, client: &http.Transport{MaxIdleConnsPerHost: 1000}}
	t.Cleanup(s.client.CloseIdleConnections)
	s.network = episode.Over(a.session.Client.Options().HTTPClient)
	s.gate = &tableGate{under: s.network, open: opened}
	a.useClient(call.Over(a.session.Client, s.gate))
	return s
}

// useProtocols restarts the server and makes clients use these protocols.
func (s *overloaded) useProtocols(set func(*http.Protocols)) {
	handler, protocols := s.server.Config.Handler, &http.Protocols{}
	set(protocols)
	s.server = httptest.NewUnstartedServer(handler)
	s.server.Config.Protocols = protocols
	s.server.Start()
	s.tb.Cleanup(s.server.Close)
	s.client.Protocols = protocols
}

// ending is how a request for a page ends.
type ending string

const (
	served     ending = "answered"
	turnedAway ending = "refused" // by the server, with 503
	fails      ending = "fails"   // with a code in a field
)

// any is any product but 0.
func (s *overloaded) any() int { return 1 + int(reads.Load())%39 }

// read asks for a page of a product, with a different request each time.
func (s *overloaded) read(product int) ending {
	before := time.Now().Add(time.Hour + time.Duration(reads.Add(1))*time.Second).UTC().Format(time.RFC3339)
	return s.send(fmt.Sprintf(`{ product(id: "%d") { comments(first: 3, filter: {createdBefore: %q}) { nodes { id } } } }`, product, before))
}

// list asks for the statistics of a product and of the next one, in one batch.
func (s *overloaded) list(product int) ending {
	return s.send(fmt.Sprintf(`{ a: product(id: "%d") { stats { total } } b: product(id: "%d") { stats { total } } }`, product, product+1))
}

// send sends a query.
func (s *overloaded) send(query string) ending {
	got, err := send(context.Background(), s.client, http.MethodPost, s.server.URL+"/graphql", operation(query, nil))
	switch {
	case err == nil && got.status == http.StatusOK && !strings.Contains(got.body, `"errors"`):
		return served
	case err == nil && got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "" && strings.Contains(got.body, "OVERLOADED"):
		return turnedAway
	case err == nil && got.status == http.StatusOK && strings.Contains(got.body, `"code"`):
		return fails
	}
	s.tb.Errorf("%d %s: %v", got.status, got.body, err)
	return fails
}

var reads atomic.Int64

// eventually waits until a condition holds the given number of times in a row.
func (s *overloaded) eventually(what string, times int, is func() bool) {
	s.tb.Helper()
	for deadline, row := time.Now().Add(2*time.Minute), 0; row < times; row++ {
		if !is() {
			if row = -1; time.Now().After(deadline) {
				s.tb.Errorf("not within 2 minutes: %s", what)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// tableGate is what all calls to the table pass. It counts them, and holds some back while it is
// shut.
type tableGate struct {
	under faulttest.HTTPClient

	mu        sync.Mutex
	now, peak int
	holds     string        // calls with this in their body, all if it is empty
	open      chan struct{} // closed while the gate is open
}

// Do implements [faulttest.HTTPClient].
func (g *tableGate) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	open := g.enter(body)
	defer g.leave()
	select {
	case <-open:
		return g.under.Do(request)
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

func (g *tableGate) enter(body []byte) (open <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now++
	g.peak = max(g.peak, g.now)
	if !bytes.Contains(body, []byte(g.holds)) {
		return opened
	}
	return g.open
}

var opened = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (g *tableGate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
}

// shut holds back calls with a text in their body until open is called.
func (g *tableGate) shut(holds string) (open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds, g.open = holds, make(chan struct{})
	return func() {
		close(g.open)
		g.mu.Lock()
		defer g.mu.Unlock()
		g.holds, g.open = "", opened
	}
}

// waiting returns how many calls are in progress.
func (g *tableGate) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

// most returns the highest number of calls that were in progress.
func (g *tableGate) most() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.peak
}

// overProtocols runs a test with clients of each protocol. Afterwards, requests are answered, and
// nothing of it is left.
func overProtocols(t *testing.T, test func(t *testing.T, s *overloaded)) {
	t.Helper()
	for name, protocols := range map[string]func(*http.Protocols){
		"HTTP/1.1": func(p *http.Protocols) { p.SetHTTP1(true) },
		"HTTP/2":   func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newOverloaded(t)
			s.useProtocols(protocols)
			s.eventually("the first requests are answered", 40, func() bool { return s.read(s.any()) == served })
			s.client.CloseIdleConnections()
			before := runtime.NumGoroutine()
			test(t, s)
			s.eventually("all are answered", 100, func() bool { return s.read(s.any()) == served })
			s.client.CloseIdleConnections()
			s.eventually("goroutines end", 1, func() bool {
				const ofIdleConnections = 2 * 2 * maxInFlight
				return runtime.NumGoroutine() <= before+ofIdleConnections && s.gate.waiting() == 0
			})
		})
	}
}

// A table that takes seconds for a call fills neither memory nor connections: requests beyond the
// limit are refused while earlier ones still wait. When it recovers, so does the service. A hundred
// requests over each HTTP/2 connection count like others.
func TestSlowTable(t *testing.T) {
	overProtocols(t, func(t *testing.T, s *overloaded) {
		open := s.gate.shut("")
		const requests = 300
		endings := make(chan ending, requests)
		var group sync.WaitGroup
		for range requests {
			group.Go(func() { endings <- s.read(s.any()) })
		}
		for range requests - maxInFlight { // none of these waits for the table
			if got := <-endings; got != turnedAway {
				t.Errorf("a request beyond the limit: %s", got)
			}
		}
		if peak := s.gate.most(); peak > 2*maxInFlight {
			t.Errorf("%d calls at a time", peak)
		}
		open()
		group.Wait()
	})
}

// One product with slow partitions, and more requests than there are places, leaves room for
// others. The same holds for its statistics, and for products in the same batch; pages need not be
// asked for.
func TestSlowProduct(t *testing.T) {
	s := newOverloaded(t)
	for _, row := range []struct {
		what string
		ask  func(product int) ending
	}{{"pages", s.read}, {"statistics", s.list}} {
		open := s.gate.shut(`"P#0"`)
		s.hurry(row.ask, func() {
			s.eventually("the "+row.what+" are asked for", 1, func() bool { return s.gate.waiting() >= maxInFlight/4 })
			s.eventually("others are answered", 100, func() bool { return s.read(s.any()) == served && row.ask(2+s.any()%30) == served })
			open()
		})
		s.eventually("the "+row.what+" are answered", 20, func() bool { return row.ask(0) == served })
	}
}

// One product whose partitions DynamoDB throttles does not use up others' capacity, and calls for
// it are not retried for ever.
func TestThrottledProduct(t *testing.T) {
	s := newOverloaded(t)
	trouble := s.network.Begin(episode.Episode{Kind: episode.Throttled, Target: episode.Partition("P#0")})
	asked := s.hurry(s.read, func() {
		s.eventually("others are answered", 100, func() bool { return s.read(s.any()) == served })
	})
	calls := trouble.End()
	t.Logf("%d requests, %d calls", asked, calls)
	if calls == 0 || calls > 3*asked {
		t.Errorf("%d calls for %d requests", calls, asked)
	}
	s.eventually("the product is answered", 20, func() bool { return s.read(0) == served })
}

// hurry sends many requests for product 0 during an action. It returns how many it sent.
func (s *overloaded) hurry(ask func(product int) ending, do func()) int {
	done := make(chan struct{})
	var asked atomic.Int64
	var group sync.WaitGroup
	for range 3 * maxInFlight {
		group.Go(func() {
			for {
				asked.Add(1)
				ask(0)
				select {
				case <-done:
					return
				case <-time.After(500 * time.Millisecond):
				}
			}
		})
	}
	do()
	close(done)
	group.Wait()
	return int(asked.Load())
}
