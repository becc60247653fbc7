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

// How slow reads are asked for a second time.
const (
	// hedgeShare is how many second calls there are at most for each read, and hedgeSavings how many of them may be saved up
	// for a bad moment.
	hedgeShare   = 0.05
	hedgeSavings = 10
	// hedgeQuantile is the share of reads that are quick.
	hedgeQuantile = 0.95
	// hedgeMemory is how many of the latest reads tell what is quick. They are looked at again after every hedgeLearning
	// reads; before the first of these looks nothing is asked twice.
	hedgeMemory   = 512
	hedgeLearning = 64
)

// Hedged is a client that asks a second time for what takes longer to read than nearly everything does, and takes whichever
// answer comes first; the other call is cancelled. A page waits for the slowest of its reads, so what is rare for a read
// is less rare for a page. Second calls are at most one for every twenty reads, however slow the table is. Writes are never
// repeated.
func Hedged(client *dynamodb.Client) *dynamodb.Client {
	options := client.Options()
	hedge := func(under dynamodb.HTTPClient) dynamodb.HTTPClient { return &hedger{under: under} }
	if bounded, ok := options.HTTPClient.(*bounded); ok {
		options.HTTPClient = bounded.around(hedge)
	} else {
		options.HTTPClient = hedge(options.HTTPClient)
	}
	return dynamodb.New(options)
}

// hedger is the HTTP client of a client that hedges.
type hedger struct {
	under dynamodb.HTTPClient

	mu     sync.Mutex
	times  []time.Duration // that the latest reads took, in a ring
	reads  int             // so far
	slow   time.Duration   // what takes as long as this is slow, 0 when that is not known yet
	tokens float64         // second calls that may be made
}

// Do implements [dynamodb.HTTPClient].
func (h *hedger) Do(request *http.Request) (*http.Response, error) {
	slow := h.begin(request)
	if slow == 0 {
		return h.alone(request)
	}
	body, err := io.ReadAll(request.Body)
	if err := errors.Join(err, request.Body.Close()); err != nil {
		return nil, err
	}
	race := race{under: h.under, request: request, body: body, finished: make(chan *try, 2)}
	first := race.start()
	defer func(began time.Time) { h.took(time.Since(began)) }(time.Now())
	timer := time.NewTimer(slow)
	defer timer.Stop()
	select {
	case <-race.finished:
		return first.answer()
	case <-timer.C:
	}
	if h.spend() {
		return race.between(first, race.start())
	}
	<-race.finished
	return first.answer()
}

// alone makes a call that is not repeated.
func (h *hedger) alone(request *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := h.under.Do(request)
	if isRead(request) {
		h.took(time.Since(began))
	}
	return response, err
}

// isRead tells whether a call changes nothing.
func isRead(request *http.Request) bool {
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	return operation == "Query" || operation == "GetItem" || operation == "BatchGetItem"
}

// begin counts a call, if it is a read, and tells how long to wait for it before another is made; 0 for as long as it takes.
func (h *hedger) begin(request *http.Request) time.Duration {
	if !isRead(request) {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tokens = min(h.tokens+hedgeShare, hedgeSavings)
	return h.slow
}

// spend tells whether a second call may be made.
func (h *hedger) spend() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tokens < 1 {
		return false
	}
	h.tokens--
	return true
}

// took learns from how long a read took. Of one that was asked for twice, that is the time until the first answer: less than
// the first call would have taken, but no less than what is slow, so that the quantile stays where it is.
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

// race is one call, made once or twice.
type race struct {
	under    dynamodb.HTTPClient
	request  *http.Request
	body     []byte
	finished chan *try
}

// try is one of the calls.
type try struct {
	cancel   context.CancelFunc
	response *http.Response
	err      error
}

// start makes a call. When it is finished, the channel gets it.
func (r *race) start() *try {
	ctx, cancel := context.WithCancel(r.request.Context())
	t := &try{cancel: cancel}
	go func() {
		request := r.request.Clone(ctx)
		request.Body = io.NopCloser(bytes.NewReader(r.body))
		t.response, t.err = r.under.Do(request)
		r.finished <- t
	}()
	return t
}

// between is the answer of whichever call has one first. The other is cancelled, and what still comes of it thrown away.
func (r *race) between(a, b *try) (*http.Response, error) {
	winner := <-r.finished
	if winner.err != nil {
		winner.cancel()
		winner = <-r.finished
		return winner.answer()
	}
	loser := a
	if winner == a {
		loser = b
	}
	loser.cancel()
	go func() {
		<-r.finished
		loser.discard()
	}()
	return winner.answer()
}

// answer is what came of a finished call. Its context lasts until the body is closed.
func (t *try) answer() (*http.Response, error) {
	if t.err != nil {
		t.cancel()
		return nil, t.err
	}
	t.response.Body = &cancellingBody{ReadCloser: t.response.Body, cancel: t.cancel}
	return t.response, nil
}

func (t *try) discard() {
	if t.err == nil {
		_ = t.response.Body.Close() // nobody reads it
	}
}

// cancellingBody ends its call when it is closed.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements [io.Closer].
func (b *cancellingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
