package overload

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// tableLatency is how long the table takes for a Query.
const tableLatency = 4 * time.Millisecond

// quickTable stands before the engine and answers each Query from memory once the engine has
// answered it. So the server, not the engine, is overloaded, and they need not share a processor.
// It writes an answer byte for byte: a server of net/http would build each anew, in four times the
// time.
type quickTable struct {
	engine string

	mu      sync.Mutex
	answers map[string][]byte // by the bodies of requests
	late    []time.Duration   // delays of answers beyond the latency
	passed  map[string]int    // requests that the engine got, by operation
}

func newQuickTable(t *testing.T, engine string) (q *quickTable, endpoint string) {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	q = &quickTable{engine: engine, answers: map[string][]byte{}, passed: map[string]int{}}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // the listener is closed
			}
			t.Cleanup(func() { _ = connection.Close() }) // it may be closed already
			go q.serve(connection)
		}
	})
	t.Cleanup(func() {
		_ = listener.Close() // nothing is lost
		connections.Wait()
	})
	return q, "http://" + listener.Addr().String()
}

// serve answers the requests of a connection until its client closes it.
func (q *quickTable) serve(connection net.Conn) {
	defer connection.Close()
	from := bufio.NewReader(connection)
	for {
		r, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		arrived := time.Now()
		input, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		answer, known := q.known(input)
		query := strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".Query")
		if !known || !query {
			if answer, err = q.ask(r, input, query); err != nil {
				return // the server sees a connection that ends
			}
		}
		if query {
			time.Sleep(time.Until(arrived.Add(tableLatency)))
		}
		if _, err := connection.Write(answer); err != nil || r.Close {
			return
		}
		if known && query {
			q.answered(time.Since(arrived))
		}
	}
}

func (q *quickTable) known(input []byte) (answer []byte, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	answer, known = q.answers[string(input)]
	return answer, known
}

func (q *quickTable) answered(took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.late = append(q.late, took-tableLatency)
}

// lateness returns the 99th percentile of the answers' delays since its last call. It also returns
// the requests that the engine had to answer meanwhile, which takes longer.
func (q *quickTable) lateness() (late time.Duration, passed map[string]int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	late, passed = quantile(q.late, 0.99), q.passed
	q.late, q.passed = q.late[:0], map[string]int{}
	return late, passed
}

// ask sends a call to the engine, and caches its answer to a Query.
func (q *quickTable) ask(r *http.Request, input []byte, query bool) ([]byte, error) {
	passedOn, err := http.NewRequestWithContext(r.Context(), http.MethodPost, q.engine, bytes.NewReader(input))
	if err != nil {
		return nil, err
	}
	passedOn.Header = r.Header
	response, err := http.DefaultClient.Do(passedOn)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer bytes.Buffer
	if err := response.Write(&answer); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	q.passed[operation]++
	if query && response.StatusCode == http.StatusOK {
		q.answers[string(input)] = answer.Bytes()
	}
	return answer.Bytes(), nil
}

// The engine gets each Query once, unless it fails, and everything else each time.
func TestQuickTable(t *testing.T) {
	var asked atomic.Int64
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) == "bad" {
			w.WriteHeader(http.StatusBadRequest)
		}
		w.Header().Set("X-Amz-Crc32", "7")
		_, _ = io.WriteString(w, r.Header.Get("X-Amz-Target")+" of "+string(body))
	}))
	defer engine.Close()
	q, endpoint := newQuickTable(t, engine.URL)
	for _, row := range []struct {
		target, body string
		status       int
		asks         int64 // by three requests
	}{
		{"DynamoDB_20120810.Query", "one", 200, 1},
		{"DynamoDB_20120810.Query", "two", 200, 1},
		{"DynamoDB_20120810.Query", "bad", 400, 3},
		{"DynamoDB_20120810.GetItem", "one", 200, 3},
	} {
		before := asked.Load()
		for range 3 {
			request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(row.body)))(t)
			request.Header.Set("X-Amz-Target", row.target)
			response := must.Get(http.DefaultClient.Do(request))(t)
			body, err := io.ReadAll(response.Body)
			if err != nil || string(body) != row.target+" of "+row.body || response.StatusCode != row.status || row.status == 200 && response.Header.Get("X-Amz-Crc32") != "7" {
				t.Errorf("%+v: %s, %v, %s, %v", row, response.Status, response.Header, body, err)
			}
			_ = response.Body.Close() // read to its end
		}
		if got := asked.Load() - before; got != row.asks {
			t.Errorf("%+v: the engine was asked %d times", row, got)
		}
	}
	if late, passed := q.lateness(); late < 0 || passed["Query"] != 5 || passed["GetItem"] != 3 {
		t.Errorf("answers came late by %v, passed on were %v, want 5 and 3", late, passed)
	}
	if late, passed := q.lateness(); late != 0 || len(passed) != 0 {
		t.Errorf("%v and %v are told twice", late, passed)
	}
}
