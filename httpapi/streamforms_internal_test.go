package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// The bytes of two events, a pause and an end, in each form.
func TestForms(t *testing.T) {
	part := func(text string) string {
		return "\r\nContent-Type: application/json\r\n\r\n" + text + "\r\n--graphql"
	}
	for accept, want := range map[string]string{
		"text/event-stream": "id: 1.2.3.4\n\n" +
			"event: next\nid: 1.2.3.4\ndata: {\"data\":{\"a\":1},\"extensions\":{\"position\":\"1.2.3.4\"}}\n\n" +
			"event: next\ndata: {\"errors\":[{\"message\":\"b\"}],\"data\":null}\n\nid: 1.2.3.4\n\n" +
			"event: next\ndata: {\"errors\":[{\"message\":\"over\"}]}\n\n",
		"application/json, multipart/mixed;boundary=graphql;subscriptionSpec=1.0": "\r\n--graphql" + part("{}") +
			part(`{"payload":{"data":{"a":1},"extensions":{"position":"1.2.3.4"}}}`) +
			part(`{"payload":{"errors":[{"message":"b"}],"data":null}}`) + part("{}") +
			part(`{"payload":null,"errors":[{"message":"over"}]}`) + "--\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := answersSource{make(chan any, 2)}
			s.answers <- streamAnswer{Data: []byte(`{"a":1}`), Position: "1.2.3.4"}
			s.answers <- streamAnswer{Data: []byte(`null`), Errors: []byte(`[{"message":"b"}]`)}
			began, pauses := time.Now(), 0
			w := httptest.NewRecorder()
			streamFormOf(http.Header{"Accept": {accept}}).send(t.Context(), t.Context(), w, s, StreamTiming{},
				func(context.Context) *streamEnd {
					if pauses++; pauses == 2 {
						return &streamEnd{Errors: []byte(`[{"message":"over"}]`)}
					}
					return nil
				})
			if w.Header().Get("X-Accel-Buffering") != "no" || w.Header().Get("Content-Type") != streamFormOf(http.Header{"Accept": {accept}}).contentType {
				t.Errorf("%v", w.Header())
			}
			if got := w.Body.String(); got != want || !w.Flushed {
				t.Errorf("%s\n%q instead of\n%q, sent at once: %v", accept, got, want, w.Flushed)
			}
			if took := time.Since(began); took != 30*time.Second {
				t.Errorf("%s: two pauses took %v", accept, took)
			}
		})
	}
}

// A busy stream also checks at each heartbeat whether it has to end. Without a position, its client
// gets none, not even an empty one.
func TestBusyStreamsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, times, w := time.Now(), 0, httptest.NewRecorder()
		busy := nextAnswer(func() streamAnswer {
			time.Sleep(time.Second)
			return streamAnswer{Data: []byte("{}")}
		})
		eventStream.send(t.Context(), t.Context(), w, busy, StreamTiming{Heartbeat: 15 * time.Second},
			func(context.Context) *streamEnd {
				if times++; times < 3 {
					return nil
				}
				return &streamEnd{}
			})
		if took := time.Since(began); took > time.Minute || strings.Contains(w.Body.String(), "id:") {
			t.Errorf("it ended after %v: %s", took, w.Body)
		}
	})
}

// deadlines notes the deadline for reading the request.
type deadlines struct {
	*httptest.ResponseRecorder
	read time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error { d.read = at; return nil }

// A stream goes on after the time that its request may take. It checks whether it has to end as
// soon as the server stops. Nothing more is sent to a client that has gone.
func TestIdleStreamsEnd(t *testing.T) {
	for name, want := range map[string]string{"the server stops": `event: next` + "\n" + `data: {"errors":[]}` + "\n\n", "the client goes": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over, end := context.WithTimeout(t.Context(), time.Second)
				defer end()
				client, stopping := over, t.Context()
				if want != "" {
					client, stopping = stopping, client
				}
				w, began := &deadlines{httptest.NewRecorder(), time.Now()}, time.Now()
				eventStream.send(client, stopping, w, answersSource{make(chan any)}, StreamTiming{}, func(stopping context.Context) *streamEnd {
					if stopping.Err() == nil {
						t.Error("it is asked whether it must end before the server stops")
					}
					return &streamEnd{Errors: []byte("[]")}
				})
				if took, sent := time.Since(began), w.Body.String(); took != time.Second || !w.read.IsZero() || sent != "id: 1.2.3.4\n\n"+want {
					t.Errorf("it ended after %v, is read until %v, and sent %q", took, w.read, sent)
				}
			})
		})
	}
}

// A client gets a stream only in a form that it names. Clients that name multipart/mixed for
// another purpose do not count.
func TestFormOf(t *testing.T) {
	for accept, want := range map[string]string{
		"":                 "",
		"*/*":              "",
		"application/json": "",
		"multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json": "",
		"text/event-stream;q=0":     "",
		"text/event-stream;q=0.000": "",
		"application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed": "text/event-stream; charset=utf-8",
		`multipart/mixed;boundary="graphql";subscriptionSpec=1.0, text/event-stream`:                                        `multipart/mixed;boundary="graphql";subscriptionSpec=1.0`,
	} {
		got := ""
		if form := streamFormOf(http.Header{"Accept": {accept}}); form != nil {
			got = form.contentType
		}
		if got != want {
			t.Errorf("%s: %q instead of %q", accept, got, want)
		}
	}
}

// masked returns a short message of a client, with a mask of zeros.
func masked(text string) string {
	return string([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}) + text
}

// A client that never reads is dropped, over any transport.
func TestClientsThatNeverRead(t *testing.T) {
	large := nextAnswer(func() streamAnswer { return streamAnswer{Data: bytes.Repeat([]byte("1"), 64<<10)} })
	for name, head := range map[string]string{
		"events":    "Accept: text/event-stream\r\n\r\n",
		"multipart": "Accept: multipart/mixed;subscriptionSpec=1.0\r\n\r\n",
		"socket":    handshake + masked(initiate) + masked(`{"id":"1","type":"subscribe","payload":{"query":"large"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			dropped, timing := make(chan struct{}), StreamTiming{Stall: 10 * time.Millisecond}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				form := streamFormOf(r.Header)
				if form == nil {
					(&socket{
						run:      func(context.Context, string, []byte, func([]byte)) streamSource { return large },
						check:    func(string) error { return nil },
						stopping: t.Context(), closed: func() { close(dropped) }, maxMessage: 1000, timing: timing,
					}).serveUpgrade(w, r)
					return
				}
				form.send(r.Context(), t.Context(), w, large, timing, func(context.Context) *streamEnd { return nil })
				close(dropped)
			}))
			t.Cleanup(server.Close)
			conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
			defer conn.Close()
			must.Get(io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n"+head))(t)
			<-dropped
		})
	}
}

// A client that no longer answers is dropped at a heartbeat, though it takes what is sent. Until
// then, a client that has begun stays. It has 5 s to answer that it is closed, and 20 s to end a
// message.
func TestClientsThatNeverAnswer(t *testing.T) {
	for name, row := range map[string]struct {
		checks  int // how often its token is valid
		begun   string
		dropped time.Duration
	}{
		"to a ping":        {2, "", 35 * time.Second},
		"to a closing":     {1, "", 20 * time.Second},
		"amid its message": {2, "\x01\x81\x00\x00\x00\x00{", 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				defer client.Close()
				r := must.Get(http.ReadRequest(bufio.NewReader(strings.NewReader(asking))))(t)
				began, dropped, checks := time.Now(), make(chan struct{}), atomic.Int64{}
				go func() { _, _ = io.Copy(io.Discard, client) }()
				(&socket{
					check: func(string) error {
						if checks.Add(1) > int64(row.checks) {
							return errors.New("the token is not valid any more")
						}
						return nil
					},
					stopping: t.Context(), closed: func() { close(dropped) }, maxMessage: 1000,
					timing: StreamTiming{Init: 10 * time.Second, Heartbeat: 15 * time.Second, Stall: 20 * time.Second},
				}).serveUpgrade(piped{httptest.NewRecorder(), server}, r.WithContext(t.Context()))
				must.Get(io.WriteString(client, masked(initiate)+row.begun))(t)
				<-dropped
				if took := time.Since(began); took != row.dropped {
					t.Errorf("it was dropped after %v", took)
				}
				seen := checks.Load()
				if time.Sleep(time.Hour); checks.Load() != seen {
					t.Errorf("its token is checked on, %d times", checks.Load()-seen)
				}
			})
		})
	}
}

// A client may take as long for each of two answers over a socket as it may for any message.
// Meanwhile, pings pass in both directions.
func TestAnswersOverABadLine(t *testing.T) {
	overABadLine(t, `"type":"complete"}`, func(reply func([]byte)) streamSource {
		reply([]byte(`{"data":"` + strings.Repeat("a", 100<<10) + `"}`))
		return nil
	})
}

// It may take as long for the events of two subscriptions.
func TestEventsOverABadLine(t *testing.T) {
	overABadLine(t, `{"position":"1.2.3.4"}`, func(func([]byte)) streamSource {
		events := answersSource{make(chan any, 1)}
		events.answers <- streamAnswer{Data: []byte(`"` + strings.Repeat("a", 100<<10) + `"`), Position: "1.2.3.4"}
		return events
	})
}

// overABadLine reads the messages of two operations at 10 KB/s, up to the end of the second one.
func overABadLine(t *testing.T, end string, run func(reply func([]byte)) streamSource) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		r := must.Get(http.ReadRequest(bufio.NewReader(strings.NewReader(asking))))(t)
		dropped := make(chan struct{})
		(&socket{
			run: func(_ context.Context, _ string, _ []byte, reply func([]byte)) streamSource {
				return run(reply)
			},
			check:    func(string) error { return nil },
			stopping: t.Context(), closed: func() { close(dropped) }, maxMessage: 1000,
			timing: StreamTiming{Init: 10 * time.Second, Heartbeat: 15 * time.Second, Stall: 20 * time.Second},
		}).serveUpgrade(piped{httptest.NewRecorder(), server}, r.WithContext(t.Context()))
		var got strings.Builder
		read := make(chan error)
		go func() {
			var err error
			for kilobyte := make([]byte, 1<<10); err == nil && strings.Count(got.String(), end) < 2; time.Sleep(time.Second / 10) {
				var n int
				n, err = client.Read(kilobyte)
				got.Write(kilobyte[:n])
			}
			read <- err
		}()
		const ping = "\x89\x80\x00\x00\x00\x00"
		must.Get(io.WriteString(client, masked(initiate)))(t)
		time.Sleep(10 * time.Second)
		for _, id := range []string{"1", "2"} {
			must.Get(io.WriteString(client, masked(`{"id":"`+id+`","type":"subscribe","payload":{"query":"large"}}`)+ping))(t)
		}
		if err := <-read; err != nil || !strings.Contains(got.String(), "\x89\x01") || !strings.Contains(got.String(), "\x8a\x00") {
			t.Errorf("after %d bytes: %v", got.Len(), err)
		}
		must.Do(t, client.Close())
		<-dropped
	})
}

// pipe opens a socket over a pipe, whose server's end waits until the client reads.
func pipe(t *testing.T, s *socket) (client net.Conn) {
	client, server := net.Pipe()
	t.Cleanup(func() { _ = client.Close() })
	r := must.Get(http.ReadRequest(bufio.NewReader(strings.NewReader(asking))))(t)
	s.maxMessage = 1000
	if s.check == nil {
		s.check, s.stopping = func(string) error { return nil }, t.Context()
	}
	s.serveUpgrade(piped{httptest.NewRecorder(), server}, r.WithContext(t.Context()))
	must.Get(io.WriteString(client, masked(initiate)))(t)
	must.Get(io.ReadFull(client, make([]byte, 2+len(acknowledged))))(t)
	return client
}

// A socket is closed when the time for a message ends within it, even if its client reads on later:
// what followed would be a part of that message.
func TestMessageThatIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dropped, began := make(chan struct{}), time.Now()
		client := pipe(t, &socket{
			run: func(_ context.Context, _ string, _ []byte, reply func([]byte)) streamSource {
				reply([]byte(`{"data":"` + strings.Repeat("a", 40<<10) + `"}`))
				return nil
			},
			closed: func() { close(dropped) }, timing: StreamTiming{Heartbeat: 15 * time.Second, Stall: 16 * time.Second},
		})
		must.Get(io.WriteString(client, masked(`{"id":"1","type":"subscribe","payload":{"query":"large"}}`)))(t)
		time.Sleep(15*time.Second + time.Second/2)
		must.Get(io.ReadFull(client, make([]byte, 4+16<<10)))(t) // the first frame, behind which a ping waits
		<-dropped
		if took := time.Since(began); took != 16*time.Second {
			t.Errorf("it was dropped after %v", took)
		}
	})
}

// Answers may take longer together than a client may take for one message. A ping of the client
// waits for them, and the client's answers to those of the server are read meanwhile.
func TestPingBehindLargeAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dropped, say := make(chan struct{}), make(chan string, 100)
		defer close(say)
		client := pipe(t, &socket{
			run: func(_ context.Context, _ string, _ []byte, reply func([]byte)) streamSource {
				reply([]byte(`{"data":"` + strings.Repeat("a", 120<<10) + `"}`))
				return nil
			},
			closed: func() { close(dropped) },
		})
		go func() {
			for text := range say {
				_, _ = io.WriteString(client, text)
			}
		}()
		for _, id := range []string{"1", "2", "3", "4"} {
			say <- masked(`{"id":"` + id + `","type":"subscribe","payload":{"query":"large"}}`)
		}
		time.AfterFunc(time.Second, func() { say <- masked(`{"type":"ping"}`) })
		var got strings.Builder
		pings := 0
		for kilobyte := make([]byte, 1<<10); strings.Count(got.String(), `"type":"complete"}`)+strings.Count(got.String(), `{"type":"pong"}`) < 5; time.Sleep(time.Second / 10) {
			n, err := client.Read(kilobyte)
			if got.Write(kilobyte[:n]); err != nil {
				t.Fatalf("after %d bytes and %d pings: %v", got.Len(), pings, err)
			}
			if strings.Count(got.String(), "\x89\x01") > pings {
				pings++
				say <- "\x8a\x81\x00\x00\x00\x00" + strconv.Itoa(pings)
			}
		}
		must.Do(t, client.Close())
		<-dropped
	})
}

// A client that reads slowly gets nothing of an operation that it has completed meanwhile: the id
// may be that of another.
func TestIDIsUsedAgainBeforeItsAnswer(t *testing.T) {
	for _, answer := range []string{`{"data":"old"}`, `{"errors":["old"]}`} {
		synctest.Test(t, func(t *testing.T) {
			runs, dropped := atomic.Int64{}, make(chan struct{})
			client := pipe(t, &socket{
				run: func(_ context.Context, _ string, _ []byte, reply func([]byte)) streamSource {
					reply([]byte([]string{`{"data":"first"}`, answer, `{"data":"new"}`}[runs.Add(1)-1]))
					return nil
				},
				closed: func() { close(dropped) },
			})
			for _, text := range []string{
				`{"id":"0","type":"subscribe","payload":{}}`, // its answer holds up those behind it
				`{"id":"1","type":"subscribe","payload":{}}`, `{"id":"1","type":"complete"}`, `{"id":"1","type":"subscribe","payload":{}}`,
			} {
				must.Get(io.WriteString(client, masked(text)))(t)
				synctest.Wait()
			}
			var got strings.Builder
			for some := make([]byte, 1000); strings.Count(got.String(), "complete") < 2; {
				n := must.Get(client.Read(some))(t)
				got.Write(some[:n])
			}
			if text := got.String(); strings.Contains(text, "old") || strings.Count(text, `"id":"1","type":"complete"`) != 1 || !strings.Contains(text, "new") {
				t.Errorf("%q", text)
			}
			must.Do(t, client.Close())
			<-dropped
		})
	}
}

// A client may send its first messages together with its request, however many they are.
func TestClientsThatDoNotWait(t *testing.T) {
	address := strings.TrimPrefix(serve(t, nil), "http://")
	for _, pings := range []int{0, 1, 3, 4, 5, 50} {
		conn := must.Get(net.Dial("tcp", address))(t)
		defer conn.Close()
		must.Get(io.WriteString(conn, asking+strings.Repeat(masked(`{"type":"ping"}`), pings)+masked(initiate)))(t)
		var got strings.Builder
		for one := make([]byte, 1); !strings.Contains(got.String(), acknowledged); got.Write(one) {
			if _, err := conn.Read(one); err != nil {
				t.Fatalf("%d pings: %v after %q", pings, err, got.String())
			}
		}
		if pongs := strings.Count(got.String(), "pong"); pongs != pings {
			t.Errorf("%d pongs to %d pings", pongs, pings)
		}
	}
}

// piped is an answer over one end of a pipe.
type piped struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (p piped) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return p.conn, bufio.NewReadWriter(bufio.NewReader(p.conn), bufio.NewWriter(p.conn)), nil
}
