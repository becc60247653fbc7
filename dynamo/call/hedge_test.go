package call

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// slowTable answers each call with its own body, after a time. It remembers its calls' contexts.
type slowTable struct {
	latency func(call int) time.Duration
	fails   func(call int) error
	refuses func(call int) bool // with an answer that is an error

	mu    sync.Mutex
	calls []context.Context
}

func (s *slowTable) Do(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	ctx := request.Context()
	s.mu.Lock()
	s.calls = append(s.calls, ctx)
	call := len(s.calls)
	latency := s.latency(call)
	s.mu.Unlock()
	select {
	case <-time.After(latency):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.fails != nil && s.fails(call) != nil {
		return nil, s.fails(call)
	}
	status := http.StatusOK
	if s.refuses != nil && s.refuses(call) {
		status, body = http.StatusBadRequest, []byte("refused")
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
}

// made returns the number of calls so far.
func (s *slowTable) made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// running returns the number of calls that were neither canceled nor closed.
func (s *slowTable) running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, ctx := range s.calls {
		if ctx.Err() == nil {
			n++
		}
	}
	return n
}

// call makes a call and reads its answer.
func call(t *testing.T, h *hedger, operation, body string) (answer string, err error) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://table", strings.NewReader(body)))(t)
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	response, err := h.Do(request)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	return string(text), errors.Join(err, response.Body.Close())
}

// trainedHedger returns a hedger that has learnt from enough reads of a millisecond, over a table
// that answers the later calls with the given latencies.
func trainedHedger(t *testing.T, later ...time.Duration) (*hedger, *slowTable) {
	t.Helper()
	table := &slowTable{latency: func(int) time.Duration { return time.Millisecond }}
	h := &hedger{under: table}
	for range hedgeLearning {
		must.Get(call(t, h, "Query", "x"))(t)
	}
	table.calls = nil
	table.latency = func(call int) time.Duration { return later[call-1] }
	return h, table
}

// Whatever the table does, hedging makes at most 5 % more calls, each answer belongs to its own
// request, and calls that are no longer needed end.
func TestHedgingIsBounded(t *testing.T) {
	r := commenttest.Rand(t)
	for _, spread := range []float64{0, 0.7, 3} {
		synctest.Test(t, func(t *testing.T) {
			table := &slowTable{latency: func(call int) time.Duration { return logNormal(r, 4*time.Millisecond, spread+float64(call/1500)) }}
			h := &hedger{under: table}
			const rounds, atOnce = 1000, 4
			for round := range rounds {
				var group sync.WaitGroup
				for i := range atOnce {
					group.Go(func() {
						body := strconv.Itoa(round*atOnce + i)
						if answer, err := call(t, h, "Query", body); answer != body || err != nil {
							t.Errorf("asked %s, got %q, %v", body, answer, err)
						}
					})
				}
				group.Wait()
				if reads := (round + 1) * atOnce; float64(table.made()) > float64(reads)*(1+hedgeShare) {
					t.Fatalf("%d calls for %d reads", table.made(), reads)
				}
			}
			synctest.Wait()
			if n := table.made() - rounds*atOnce; spread > 0 && n == 0 {
				t.Error("nothing was asked twice")
			}
			if n := table.running(); n > hedgeLearning { // the first reads were not hedged
				t.Errorf("%d calls go on", n)
			}
		})
	}
}

// logNormal draws a latency with a median.
func logNormal(r *rand.Rand, median time.Duration, spread float64) time.Duration {
	return time.Duration(float64(median) * math.Exp(spread*r.NormFloat64()))
}

func TestSlowReadIsAskedTwice(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		name      string
		operation string
		latencies []time.Duration
		fails     map[int]error
		refuses   []int
		answer    string // if it is not that of the table
		took      time.Duration
		calls     int
		err       error
	}{
		{name: "quick", operation: "Query", latencies: []time.Duration{time.Millisecond / 2}, took: time.Millisecond / 2, calls: 1},
		{name: "the second is quicker", operation: "GetItem", latencies: []time.Duration{time.Hour, time.Millisecond}, took: 2 * time.Millisecond, calls: 2},
		{name: "the first is quicker after all", operation: "BatchGetItem", latencies: []time.Duration{3 * time.Millisecond, time.Hour}, took: 3 * time.Millisecond, calls: 2},
		{name: "the second fails", operation: "Query", latencies: []time.Duration{5 * time.Millisecond, time.Millisecond}, fails: map[int]error{2: broken}, took: 5 * time.Millisecond, calls: 2},
		{name: "the first fails", operation: "Query", latencies: []time.Duration{2 * time.Millisecond, 4 * time.Millisecond}, fails: map[int]error{1: broken}, took: 5 * time.Millisecond, calls: 2},
		{name: "both fail", operation: "Query", latencies: []time.Duration{2 * time.Millisecond, 4 * time.Millisecond}, fails: map[int]error{1: broken, 2: broken}, took: 5 * time.Millisecond, calls: 2, err: broken},
		{name: "the second is refused", operation: "Query", latencies: []time.Duration{5 * time.Millisecond, time.Millisecond}, refuses: []int{2}, took: 5 * time.Millisecond, calls: 2},
		{name: "the first is refused", operation: "GetItem", latencies: []time.Duration{2 * time.Millisecond, 4 * time.Millisecond}, refuses: []int{1}, took: 5 * time.Millisecond, calls: 2},
		{name: "both are refused", operation: "Query", latencies: []time.Duration{2 * time.Millisecond, 4 * time.Millisecond}, refuses: []int{1, 2}, answer: "refused", took: 5 * time.Millisecond, calls: 2},
		{name: "one is refused, and the other fails", operation: "Query", latencies: []time.Duration{2 * time.Millisecond, 4 * time.Millisecond}, refuses: []int{1}, fails: map[int]error{2: broken}, took: 5 * time.Millisecond, calls: 2, err: broken},
		{name: "a failure at once is not repeated", operation: "Query", latencies: []time.Duration{0}, fails: map[int]error{1: broken}, calls: 1, err: broken},
		{name: "a write", operation: "PutItem", latencies: []time.Duration{time.Second}, took: time.Second, calls: 1},
		{name: "a transaction that writes", operation: "TransactWriteItems", latencies: []time.Duration{time.Second}, took: time.Second, calls: 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, table := trainedHedger(t, row.latencies...)
				table.fails = func(call int) error { return row.fails[call] }
				table.refuses = func(call int) bool { return slices.Contains(row.refuses, call) }
				began := time.Now()
				answer, err := call(t, h, row.operation, "body")
				if took := time.Since(began); took != row.took || !errors.Is(err, row.err) || err == nil && answer != cmp.Or(row.answer, "body") {
					t.Errorf("got %q, %v after %v; want %v after %v", answer, err, took, row.err, row.took)
				}
				synctest.Wait()
				if table.made() != row.calls {
					t.Errorf("%d calls, want %d", table.made(), row.calls)
				}
				if n := table.running(); n > 0 && isReadName(row.operation) {
					t.Errorf("%d calls go on", n)
				}
			})
		})
	}
}

func isReadName(operation string) bool {
	return isRead(&http.Request{Header: http.Header{"X-Amz-Target": {"DynamoDB_20120810." + operation}}})
}
