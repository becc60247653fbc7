package roundtrip

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// peer answers requests with bytes as they are.
type peer struct {
	net.Listener
	dialed   atomic.Int32 // connections
	requests atomic.Int32
}

// startPeer starts a peer that ends with the test. answer returns what to write, and whether the
// connection stays open.
func startPeer(t *testing.T, answer func(request *http.Request, body string, conn net.Conn) (string, bool)) *peer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{Listener: listener}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.dialed.Add(1)
			go p.serve(conn, answer)
		}
	}()
	return p
}

func (p *peer) serve(conn net.Conn, answer func(*http.Request, string, net.Conn) (string, bool)) {
	defer func() { _ = conn.Close() }()
	for reader := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		p.requests.Add(1)
		text, more := answer(request, string(body), conn)
		if _, err := io.WriteString(conn, text); err != nil || !more {
			return
		}
	}
}

// post returns a request with a body in memory.
func post(ctx context.Context, url, body string) *http.Request {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Accept-Encoding", "identity")
	return request
}

// settings are those of a transport as the clients of a table have them.
func settings(t *testing.T) *http.Transport {
	under := &http.Transport{
		DialContext: new(net.Dialer).DialContext, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute,
		ResponseHeaderTimeout: 5 * time.Second, DisableCompression: true,
	}
	t.Cleanup(under.CloseIdleConnections)
	return under
}

// result is what came of a request.
type result struct {
	Status             int
	Header             http.Header
	Length             int64
	Body               string
	Failed, BodyFailed bool
	Connections        int
}

// ask makes a request and reads its answer.
func ask(transport http.RoundTripper, request *http.Request) (r result) {
	response, err := transport.RoundTrip(request)
	if err != nil {
		return result{Failed: true}
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // nothing to lose
	return result{Status: response.StatusCode, Header: response.Header, Length: response.ContentLength, Body: string(body), BodyFailed: err != nil}
}

// kept returns the idle connections of a transport.
func kept(transport *Transport) (all []*conn) {
	transport.idle.mu.Lock()
	defer transport.idle.mu.Unlock()
	for _, conns := range transport.idle.conns {
		all = append(all, conns...)
	}
	return all
}

// Whatever a peer answers, it is understood as by net/http, and the connection is used again or not.
func TestAnswersAreThoseOfNetHTTP(t *testing.T) {
	for name, answer := range map[string]struct {
		text string
		more bool
	}{
		"a length":                 {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nX-A: 2\r\n\r\nhello", true},
		"no body":                  {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true},
		"no content":               {"HTTP/1.1 204 No Content\r\n\r\n", true},
		"an error":                 {"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\n\r\n{}", true},
		"a redirect":               {"HTTP/1.1 302 Found\r\nLocation: http://other.test/\r\nContent-Length: 0\r\n\r\n", true},
		"chunks":                   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", true},
		"a damaged chunk":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\nzz\r\n", false},
		"until the end":            {"HTTP/1.1 200 OK\r\n\r\nhello", false},
		"HTTP/1.0":                 {"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", true},
		"the last":                 {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", true},
		"cut":                      {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", false},
		"a cut head":               {"HTTP/1.1 200 OK\r\nContent-Le", false},
		"nothing":                  {"", false},
		"no HTTP":                  {"SSH-2.0-OpenSSH\r\n", false},
		"two lengths":              {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", true},
		"informational first":      {"HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true},
		"informational six times":  {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 6) + "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true},
		"another protocol":         {"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n", false},
		"a head that does not end": {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 2_000), false},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPeer(t, func(*http.Request, string, net.Conn) (string, bool) { return answer.text, answer.more })
			var results []result
			for _, transport := range []http.RoundTripper{settings(t), Of(settings(t))} {
				before := p.dialed.Load()
				var r result
				for range 2 {
					r = ask(transport, post(t.Context(), "http://"+p.Addr().String()+"/path?q=1", "body"))
				}
				r.Connections = int(p.dialed.Load() - before)
				results = append(results, r)
			}
			if !reflect.DeepEqual(results[0], results[1]) {
				t.Errorf("net/http has\n%+v, not\n%+v", results[0], results[1])
			}
		})
	}
}

// Requests arrive as net/http sends them.
func TestRequestsAreThoseOfNetHTTP(t *testing.T) {
	var got []string
	p := startPeer(t, func(request *http.Request, body string, _ net.Conn) (string, bool) {
		got = append(got, fmt.Sprint(request.Method, request.RequestURI, request.Host, request.Header, request.ContentLength, body))
		return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true
	})
	for _, transport := range []http.RoundTripper{settings(t), Of(settings(t))} {
		request := post(t.Context(), "http://"+p.Addr().String()+"/a%20b?q=1#f", "body")
		request.Header["X-Amz-Target"] = []string{"T"}
		request.Header["User-Agent"] = []string{"U"}
		ask(transport, request)
	}
	if len(got) != 2 || got[0] != got[1] {
		t.Errorf("requests arrived as %q", got)
	}
}

// A connection that was closed while it was idle, or on which something came that no request asked
// for, is replaced before a request is lost on it.
func TestIdleConnectionIsLookedAt(t *testing.T) {
	for name, end := range map[string]func(net.Conn){
		"closed": func(conn net.Conn) { _ = conn.Close() },
		"reset": func(conn net.Conn) {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		},
		"unasked": func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 408 Request Timeout\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			conns := make(chan net.Conn, 4)
			p := startPeer(t, func(_ *http.Request, _ string, conn net.Conn) (string, bool) {
				conns <- conn
				return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true
			})
			transport := Of(settings(t)).(*Transport)
			request := func() *http.Request { return post(t.Context(), "http://"+p.Addr().String(), "body") }
			if r := ask(transport, request()); r.Body != "hello" {
				t.Fatalf("%+v", r)
			}
			end(<-conns)
			for c := kept(transport)[0]; c.quiet(); { // until the end arrives
				time.Sleep(time.Millisecond)
			}
			if r := ask(transport, request()); r.Body != "hello" || p.requests.Load() != 2 || p.dialed.Load() != 2 {
				t.Errorf("%+v, %d requests on %d connections", r, p.requests.Load(), p.dialed.Load())
			}
		})
	}
}

// What comes after an answer is no answer of the next request, even if TLS has it in a record with
// an answer that fills the buffer.
func TestNothingFollowsAnAnswer(t *testing.T) {
	const next = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nworld"
	first := "HTTP/1.1 200 OK\r\nContent-Length: 4000\r\nX-A: "
	first += strings.Repeat("a", usualBuffer-4000-len(first)-4) + "\r\n\r\n" + strings.Repeat("h", 4000)
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = io.WriteString(conn, first+next) // what fails here fails at the client
		}
	})
	plain, secure := httptest.NewServer(answers), httptest.NewUnstartedServer(answers)
	secure.TLS = &tls.Config{DynamicRecordSizingDisabled: true} // one record for all
	secure.StartTLS()
	for _, server := range []*httptest.Server{plain, secure} {
		defer server.Close()
		under := settings(t)
		under.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
		transport := Of(under)
		for range 3 {
			if r := ask(transport, post(t.Context(), server.URL, "body")); len(r.Body) != 4000 {
				t.Errorf("%s: %+v", server.URL, r)
			}
		}
	}
}

// Requests whose contexts end at any time disturb no other: each answer is that of its request.
func TestAnswersAreNotMixedUp(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // the client may be gone
		_, _ = w.Write(body)
	}))
	defer server.Close()
	transport := Of(settings(t)).(*Transport)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(worker)))
			for n := range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				if random.IntN(2) == 0 {
					time.AfterFunc(time.Duration(random.IntN(400))*time.Microsecond, cancel)
				}
				body := strings.Repeat(fmt.Sprint(worker, "-", n, " "), 1+random.IntN(500))
				r := ask(transport, post(ctx, server.URL, body))
				if complete := !r.Failed && !r.BodyFailed; complete && r.Body != body || !complete && ctx.Err() == nil {
					t.Errorf("request %d-%d has %.300v", worker, n, fmt.Sprint(r))
				}
				cancel()
			}
		})
	}
	group.Wait()
}

// TLS is that of the settings: connections are kept, and a certificate that is not trusted ends the
// request.
func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the client's refusal
	defer server.Close()
	trusting := settings(t)
	trusting.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	transport := Of(trusting)
	first, second := ask(transport, post(t.Context(), server.URL, "body")), ask(transport, post(t.Context(), server.URL, "body"))
	if first.Body == "" || first.Body != second.Body {
		t.Errorf("%+v, then %+v", first, second)
	}
	if r := ask(Of(settings(t)), post(t.Context(), server.URL, "body")); !r.Failed {
		t.Errorf("a certificate of nobody: %+v", r)
	}
}

// What is unusual is left to net/http, and refused if that refuses it.
func TestUnusualRequestsAreNetHTTPs(t *testing.T) {
	p := startPeer(t, func(*http.Request, string, net.Conn) (string, bool) {
		return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true
	})
	for name, change := range map[string]func(*http.Transport, *http.Request){
		"a proxy": func(under *http.Transport, _ *http.Request) {
			under.Proxy = http.ProxyURL(&url.URL{Host: p.Addr().String()})
		},
		"a proxy's error": func(under *http.Transport, _ *http.Request) {
			under.Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("no") }
		},
		"a large body": func(_ *http.Transport, r *http.Request) {
			*r = *post(r.Context(), r.URL.String(), strings.Repeat("a", largestBody+1))
		},
		"a body sent once":   func(_ *http.Transport, r *http.Request) { r.GetBody = nil },
		"another scheme":     func(_ *http.Transport, r *http.Request) { r.URL.Scheme = "ftp" },
		"a damaged header":   func(_ *http.Transport, r *http.Request) { r.Header.Set("X-A", "a\r\nX-B: b") },
		"a damaged name":     func(_ *http.Transport, r *http.Request) { r.Header["X-A: a\r\nX-B"] = []string{"b"} },
		"no connection kept": func(under *http.Transport, _ *http.Request) { under.DisableKeepAlives = true },
	} {
		under, request := settings(t), post(t.Context(), "http://"+p.Addr().String(), "body")
		change(under, request)
		transport := Of(under)
		_ = ask(transport, request)
		if ours, ok := transport.(*Transport); ok && len(kept(ours)) > 0 {
			t.Errorf("%s: the request was made here", name)
		}
	}
}

// Heads that do not come, idle connections and connections beyond the limits end in time.
func TestTimesAndLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int32
		answering := make(chan struct{})
		under := &http.Transport{MaxIdleConnsPerHost: 1, MaxConnsPerHost: 2, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: time.Second}
		under.DialContext = func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			open.Add(1)
			go func() {
				p := &peer{}
				p.serve(server, func(*http.Request, string, net.Conn) (string, bool) {
					<-answering
					return "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true
				})
				open.Add(-1)
			}()
			return client, nil
		}
		transport := Of(under).(*Transport)
		began := time.Now()
		_, err := transport.RoundTrip(post(t.Context(), "http://table.test", "body"))
		if took := time.Since(began); took != time.Second || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("no head: %v after %v", err, took)
		}
		for range 2 {
			go ask(transport, post(t.Context(), "http://table.test", "body"))
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if r := ask(transport, post(ctx, "http://table.test", "body")); !r.Failed || time.Since(began) != 3*time.Second/2 {
			t.Errorf("beyond the limit: %+v after %v", r, time.Since(began))
		}
		close(answering)
		synctest.Wait()
		if open.Load() != 1 || len(kept(transport)) != 1 {
			t.Errorf("%d connections are kept, want 1", open.Load())
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if open.Load() != 0 {
			t.Errorf("%d connections are kept after the timeout", open.Load())
		}
	})
}
