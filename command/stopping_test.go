package command_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/servertest"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// audience is clients that read and write as fast as they are answered, over persistent
// connections, until the server refuses new ones.
type audience struct {
	t        *testing.T
	address  string
	group    sync.WaitGroup
	answered atomic.Int64
}

// join adds a client of a protocol, whose requests have the bodies that body returns.
func (c *audience) join(protocol func(*http.Protocols), trusted *x509.CertPool, body func() string) {
	transport := &http.Transport{Protocols: &http.Protocols{}, TLSClientConfig: &tls.Config{RootCAs: trusted}}
	protocol(transport.Protocols)
	c.group.Go(func() {
		defer transport.CloseIdleConnections()
		for {
			err := c.once(transport, body())
			if errors.Is(err, syscall.ECONNREFUSED) {
				return
			}
			if err != nil {
				c.t.Errorf("after %d answers: %v", c.answered.Load(), err)
				return
			}
			c.answered.Add(1)
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond) // otherwise no connection would ever be idle
		}
	})
}

// once sends one request and reads its whole answer, which must be a good one.
func (c *audience) once(client *http.Transport, body string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+"/graphql", strings.NewReader(body))
	if err != nil {
		return err
	}
	if client.Protocols.HTTP1() {
		request.GetBody = nil // otherwise the client would retry by itself; GOAWAY says when that is safe
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || strings.Contains(string(text), `"errors"`)) {
		err = fmt.Errorf("%s %s", response.Status, text)
	}
	return err
}

// reading and writing are bodies of requests.
func reading() string {
	return `{"query": "{ product(id: \"kettle\") { comments(first: 20) { totalCount nodes { id text } } } }"}`
}

func writing() string {
	return fmt.Sprintf(`{"query": "mutation { addComment(input: {productId: \"kettle\", rating: %d, language: \"en\", text: \"Hot.\", author: {id: \"u\", name: \"U\"}}) { comment { id } userErrors { code } } }"}`, 1+rand.IntN(5))
}

// SIGTERM under load: no client of any protocol sees a request fail. The server reports itself not
// ready at once. It accepts connections for as long as a load balancer may need to notice, and
// gives up its leases. SIGHUP is as good.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	certificate, key, trusted := servertest.Certificate(t)
	http1 := func(p *http.Protocols) { p.SetHTTP1(true) }
	hangup := syscall.SIGHUP
	if signal.Ignored(hangup) { // these tests run under nohup, and so do their servers
		hangup = syscall.SIGTERM
	}
	for name, row := range map[string]struct {
		arguments []string
		http2     func(*http.Protocols)
		signal    syscall.Signal
	}{
		"plain": {nil, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }, hangup},
		"TLS":   {[]string{"--tls-cert", certificate, "--tls-key", key}, func(p *http.Protocols) { p.SetHTTP2(true) }, syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t, dynamotest.Dynoxide(t))
			s := startServerWith(t, []string{"TALKBACK_DRAIN_DELAY=300ms"}, append(row.arguments, "--endpoint", a.session.Address, "--table", a.session.Table)...)
			c := &audience{t: t, address: s.address}
			t.Cleanup(c.group.Wait)
			for _, protocol := range []func(*http.Protocols){http1, row.http2} {
				for range 3 {
					c.join(protocol, trusted, reading)
				}
				c.join(protocol, trusted, writing)
			}
			must.Wait(t, "all are served", func() bool { return c.answered.Load() > 100 })
			s.signal(row.signal)
			c.expectUnready(trusted)
			before := c.answered.Load()
			c.group.Wait()
			if c.answered.Load() <= before {
				t.Error("nobody was answered after the server was not ready any more")
			}
			if status, said := s.wait(); status != 0 || strings.Contains(said, "cut off") {
				t.Errorf("status %d\n%s", status, said)
			}
			for _, lease := range a.leases() {
				if lease.Owner != "" {
					t.Errorf("not given back: %+v", lease)
				}
			}
		})
	}
}

// expectUnready waits until the server reports itself not ready. It must do so before it refuses
// connections, and each answer must end its connection.
func (c *audience) expectUnready(trusted *x509.CertPool) {
	c.t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	defer client.CloseIdleConnections()
	must.Wait(c.t, "the server is not ready", func() bool {
		response, err := client.Get(c.address + "/readyz")
		if err != nil {
			c.t.Fatalf("it was ready until it answered no more: %v", err)
		}
		_ = response.Body.Close()
		unready := response.StatusCode == http.StatusServiceUnavailable
		if unready && !response.Close {
			c.t.Error("the connection stays open after an answer of a server that is stopping")
		}
		return unready
	})
}

// Under nohup, a server outlives the terminal.
func TestNohup(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	program := binary(t)
	s := follow(t, exec.Command("nohup", program, "serve", "--listen", "127.0.0.1:0", "--no-count", "--drain-delay", "0s", "--endpoint", a.session.Address, "--table", a.session.Table))
	s.signal(syscall.SIGHUP)
	for range 100 {
		if answer := s.ask(`{ __typename }`); !strings.Contains(answer, "Query") {
			t.Fatal(answer)
		}
	}
	s.stop()
}

// A second signal ends the server at once, even with requests in progress. One that comes again
// within a moment, as the program timeout sends it, is no second one. Until then, even the longest
// drain lasts.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	s := startServerWith(t, []string{"TALKBACK_DRAIN_DELAY=100s", "TALKBACK_DRAIN_TIMEOUT=2562047h47m16s"}, "--endpoint", a.session.Address, "--table", a.session.Table)
	for range 3 {
		s.signal(syscall.SIGTERM)        // a shell may let its background jobs ignore SIGINT
		time.Sleep(5 * time.Millisecond) // else they may be one for the kernel
	}
	(&audience{t: t, address: s.address}).expectUnready(nil)
	must.Wait(t, "a later signal ends it", func() bool {
		_ = s.process.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
	})
	if status, said := s.wait(); status != -1 {
		t.Errorf("status %d\n%s", status, said)
	}
}

// A server that is asked to stop while it is starting ends successfully, however far it came. One
// that ends unasked, or whose engine died, has failed.
func TestStopBeforeReady(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the connection is not noticed
		<-r.Context().Done()
	}))
	t.Cleanup(func() { silent.CloseClientConnections(); silent.Close() })
	elsewhere := []string{"--endpoint", silent.URL, "--table", "comments"}
	local := []string{"--data", filepath.Join(t.TempDir(), "data"), "--engine", dynamotest.DynoxideBinary(t), "--sample-data"}
	for _, row := range []struct {
		why       string
		after     time.Duration
		arguments []string
	}{
		{"before anything is asked", 0, append([]string{"serve", "--listen", "127.0.0.1:0"}, elsewhere...)},
		{"while the table does not answer", 30 * time.Millisecond, append([]string{"serve", "--listen", "127.0.0.1:0"}, elsewhere...)},
		{"the same with stream", 30 * time.Millisecond, append([]string{"stream"}, elsewhere...)},
		{"while the engine is starting", 3 * time.Millisecond, append([]string{"serve", "--listen", "127.0.0.1:0"}, local...)},
		{"while sample data is put in, or before", 300 * time.Millisecond, append([]string{"serve", "--listen", "127.0.0.1:0"}, local...)},
	} {
		ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("it does not end"))
		stop := time.AfterFunc(row.after, cancel)
		status, _, said := talkback(ctx, row.arguments...)
		stop.Stop()
		if cancel(); status != 0 || !strings.Contains(said, "Stopped as asked, before it was ready.\n") {
			t.Errorf("%s: status %d\n%s", row.why, status, said)
		}
	}
}

// A server, and a process that counts, outlive the reader of their log: each goes on, and ends with
// status 0 when it is asked to.
func TestReaderOfTheLogEnds(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	table := []string{"--endpoint", a.session.Address, "--table", a.session.Table}
	serve := startServer(t, append(table, "--no-count", "--log-level", "debug")...) // which logs each request
	serve.unread()
	for range 3 {
		serve.ask(`{ leaderboard { rank } }`)
	}
	serve.signal(syscall.SIGTERM)
	if status, _ := serve.wait(); status != 0 {
		t.Errorf("the server ended with status %d", status)
	}

	reader, unread, err := os.Pipe()
	if err == nil {
		err = reader.Close()
	}
	must.Do(t, err)
	counting := exec.Command(serve.process.Path, append([]string{"stream"}, table...)...)
	counting.Stderr = unread // it says what it does
	must.Do(t, counting.Start())
	ended := make(chan error, 1)
	go func() { ended <- counting.Wait() }()
	must.Wait(t, "the stream is read", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("it counts no more: %v", err)
		default:
		}
		_, read, err := leases.NewLeases(a.session.Client, a.session.Table).Current(t.Context())
		return err == nil && slices.ContainsFunc(read, func(l stream.Lease) bool { return l.Owner != "" })
	})
	if err := errors.Join(counting.Process.Signal(syscall.SIGTERM), <-ended); err != nil {
		t.Error(err)
	}
}

// A server ends after a signal although nobody reads its full log, which holds up a request that
// logs a line.
func TestUnreadLog(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	reader, log, err := os.Pipe()
	must.Do(t, err)
	t.Cleanup(func() { _ = errors.Join(reader.Close(), log.Close()) })
	process := exec.Command(binary(t), "serve", "--listen", "127.0.0.1:0", "--no-count", "--log-level", "debug",
		"--drain-delay", "0s", "--drain-timeout", "1s", "--endpoint", a.session.Address, "--table", a.session.Table)
	process.Stderr = log
	must.Do(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill() }) // it has ended if the test came this far
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	var address string
	for said := bufio.NewScanner(reader); address == "" && said.Scan(); {
		if match := apiAddress.FindStringSubmatch(said.Text()); match != nil {
			address = match[1]
		}
	}
	own, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", log.Fd()), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("left out: a log that nobody reads: this system has no /proc to fill it by:", err)
	}
	must.Do(t, own.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
	_, err = own.Write(make([]byte, 1<<20)) // more than a pipe takes
	if closed := own.Close(); !errors.Is(err, os.ErrDeadlineExceeded) || closed != nil {
		t.Fatal(err, closed)
	}
	asked := make(chan error, 1)
	go func() {
		response, err := http.Get(address + "/graphql?query=%7B__typename%7D")
		if err == nil {
			err = response.Body.Close()
		}
		asked <- err
	}()
	select { // the line is written after the answer, or before its end
	case err := <-asked:
		must.Do(t, err)
		asked <- nil
	case <-time.After(time.Second):
	}
	must.Do(t, process.Process.Signal(syscall.SIGTERM))
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("it does not end")
	}
	<-asked
}

// The last metrics and the last spans of a process that counts are sent at the same time: a
// collector that hangs delays its end only once.
func TestLastTelemetryIsSentTogether(t *testing.T) {
	a, _ := uncounted(t)
	var metrics, spans sync.Once
	both := make(chan struct{}, 2)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		once := &metrics
		if r.URL.Path == "/v1/traces" {
			once = &spans
		}
		once.Do(func() { both <- struct{}{} })
		for len(both) < cap(both) && task.Wait(r.Context(), time.Millisecond) == nil {
		}
	}))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000") // no span is sent before the end, and no metric in the first minute
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		a.drained(time.Now())
		stop()
	}()
	if status, _, said := talkback(ctx, "stream", "--endpoint", a.session.Address, "--table", a.session.Table); status != 0 || strings.Contains(said, "not sent") {
		t.Errorf("status %d\n%s", status, said)
	}
}

// A service that takes connections and never answers keeps no server from starting, being ready,
// answering and ending with status 0, whichever it is. That of the table does: TestStopBeforeReady.
func TestServicesThatHang(t *testing.T) {
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer silent.Close()
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
		}
	}()
	at := silent.Addr().String()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": "http://" + at, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + at,
	} {
		t.Setenv(name, value)
	}
	var stops sync.WaitGroup // a collector delays each stop
	defer stops.Wait()
	for _, pages := range []string{"redis://" + at + "/0", "postgres://" + at + "/shop?sslmode=disable", "s3://pages/shop"} {
		s := serving(t, append(onTable(t), "--listen", "127.0.0.1:0", "--pages", pages, "--drain-delay", "0s",
			"--client-limits-redis", "redis://"+at+"/0", "--client-read-units", "100", "--jwt-algorithm", "RS256", "--jwks-url", "http://"+at+"/keys")...)
		if ready := fetch(t, http.MethodGet, s.address+"/readyz"); ready.status != http.StatusOK {
			t.Errorf("%s: not ready: %d %s", pages, ready.status, ready.body)
		}
		if got := post(t, s.address, operation(askedTotal, nil)); !strings.Contains(got.body, `"nodes":[]`) {
			t.Errorf("%s: %s", pages, got.body)
		}
		stops.Go(s.stop)
	}
}
