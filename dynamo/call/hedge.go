package call

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// When and how often slow reads are hedged.
const (
	// hedgeShare is how many second calls each read earns, and hedgeSavings is how many can be
	// saved up for a burst.
	hedgeShare   = 0.05
	hedgeSavings = 10
	// hedgeQuantile is the quantile of durations above which a read is slow.
	hedgeQuantile = 0.95
	// The quantile is taken of the latest hedgeMemory reads, and anew after every hedgeLearning
	// reads. Nothing is hedged before the first time.
	hedgeMemory   = 512
	hedgeLearning = 64
)

// Hedged returns a client that makes a second call for a read that takes longer than 95 % of the
// latest reads. It returns the answer that comes first, unless that is an error, and cancels the
// other call. A page waits for the slowest of its reads, so slow pages are more frequent than slow
// reads. There is at most one second call for every 20 reads, however slow the table is. Writes are
// never repeated.
func Hedged(client *dynamodb.Client) *dynamodb.Client {
	h := &hedger{under: client.Options().HTTPClient}
	if observed, ok := h.under.(*observedHTTP); ok {
		h.observe = observed.to.Hedged
	}
	return Over(client, h)
}

// hedger is an HTTP client that hedges reads. The call that is answered first wins, and the other
// one is canceled.
type hedger struct {
	under   dynamodb.HTTPClient
	observe func(won bool) // is called after each second call; may be nil

	mu     sync.Mutex
	times  []time.Duration // durations of the latest reads, a ring buffer
	reads  int             // so far
	slow   time.Duration   // a read that takes longer is slow; 0 while that is unknown
	tokens float64         // second calls that may be made
}

// Do implements [dynamodb.HTTPClient].
func (h *hedger) Do(request *http.Request) (*http.Response, error) {
	if !isRead(request) {
		return h.under.Do(request)
	}
	defer func(began time.Time) { h.took(time.Since(began)) }(time.Now())
	h.mu.Lock()
	h.tokens = min(h.tokens+hedgeShare, hedgeSavings)
	slow := h.slow
	h.mu.Unlock()
	if slow == 0 {
		return h.under.Do(request)
	}
	body, err := io.ReadAll(request.Body)
	if err := errors.Join(err, request.Body.Close()); err != nil {
		return nil, err
	}
	ended := make(chan *try, 2)
	first := h.start(request, body, ended)
	select {
	case <-ended:
		return first.answer()
	case <-time.After(slow):
	}
	h.mu.Lock()
	again := h.tokens >= 1
	if again {
		h.tokens--
	}
	h.mu.Unlock()
	if !again {
		return (<-ended).answer()
	}
	second := h.start(request, body, ended)
	winner, loser := <-ended, second
	if winner == second {
		loser = first
	}
	if !winner.answered() { // throttled, perhaps: the other may still be answered
		winner.drop()
		winner = <-ended
	} else {
		loser.cancel()
		go func() {
			<-ended
			loser.drop()
		}()
	}
	if h.observe != nil {
		h.observe(winner == second)
	}
	return winner.answer()
}

func isRead(request *http.Request) bool {
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	return operation == "Query" || operation == "GetItem" || operation == "BatchGetItem"
}

// took notes the duration of a read. For a hedged read that is the time until the first answer. It
// is less than the first call would have taken, but still slow, so hedging does not move the
// quantile.
func (h *hedger) took(duration time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.times) < hedgeMemory {
		h.times = append(h.times, duration)
	} else {
		h.times[h.reads%hedgeMemory] = duration
	}
	h.reads++
	if h.reads%hedgeLearning == 0 {
		sorted := slices.Sorted(slices.Values(h.times))
		h.slow = sorted[int(hedgeQuantile*float64(len(sorted)))]
	}
}

// try is one call of a read.
type try struct {
	cancel   context.CancelFunc
	response *http.Response
	err      error
}

// start makes a call on a new goroutine, and sends it to ended after its end.
func (h *hedger) start(request *http.Request, body []byte, ended chan<- *try) *try {
	ctx, cancel := context.WithCancel(request.Context())
	t := &try{cancel: cancel}
	go func() {
		defer func() { ended <- t }()
		own := request.Clone(ctx)
		own.Body = io.NopCloser(bytes.NewReader(body))
		t.response, t.err = h.under.Do(own)
	}()
	return t
}

// answered reports whether a finished call succeeded.
func (t *try) answered() bool { return t.err == nil && success(t.response) }

// drop frees a finished call whose answer is not read.
func (t *try) drop() {
	t.cancel()
	if t.err == nil {
		_ = t.response.Body.Close()
	}
}

// answer returns the answer of a finished call. The call's context ends when the body is closed.
func (t *try) answer() (*http.Response, error) {
	if t.err != nil {
		t.cancel()
		return nil, t.err
	}
	t.response.Body = &cancellingBody{ReadCloser: t.response.Body, cancel: t.cancel}
	return t.response, nil
}

// cancellingBody cancels its call's context when it is closed.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements [io.Closer].
func (b *cancellingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
