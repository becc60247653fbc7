package episode

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/task"
)

// halfOpenWait is how long a caller in this process waits for a HalfOpen call before it gives up,
// as the transport of package dynamo/call does.
const halfOpenWait = 5 * time.Second

// Network stands between callers and an engine. Use it as the HTTP client of an SDK's client
// (call.Over of package dynamo/call), or as a proxy (To) for processes. It is safe for concurrent
// use.
type Network struct {
	under faulttest.HTTPClient

	mu      sync.Mutex
	running []*Running
	late    int       // calls that are to arrive after their caller has left
	arrived sync.Cond // signaled when one of these arrives
}

// Running is an episode that has begun.
type Running struct {
	Episode

	network *Network
	calls   int // so far
}

// Over returns a network over an HTTP client. It changes nothing until an episode begins.
func Over(under faulttest.HTTPClient) *Network {
	n := &Network{under: under}
	n.arrived.L = &n.mu
	return n
}

// Begin begins an episode. If several episodes hit a call, the one that began first decides.
func (n *Network) Begin(e Episode) *Running {
	n.mu.Lock()
	defer n.mu.Unlock()
	running := &Running{Episode: e, network: n}
	n.running = append(n.running, running)
	return running
}

// End ends the episode and returns how many calls it hit.
func (r *Running) End() (calls int) {
	r.network.mu.Lock()
	defer r.network.mu.Unlock()
	r.network.running = slices.DeleteFunc(r.network.running, func(other *Running) bool { return other == r })
	return r.calls
}

// Play begins and ends the episodes of a schedule, until the context ends. It returns how many
// calls they hit.
func (n *Network) Play(ctx context.Context, s Schedule) (calls int) {
	for _, e := range s.Episodes {
		if task.Wait(ctx, e.Pause) != nil {
			return calls
		}
		running := n.Begin(e)
		_ = task.Wait(ctx, e.For) // the loop checks the context
		calls += running.End()
	}
	return calls
}

// Settle waits for calls that still have to arrive although their callers have left. More may be
// added meanwhile, which a WaitGroup does not allow.
func (n *Network) Settle() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.late > 0 {
		n.arrived.Wait()
	}
}

// Do makes one call, subject to the episodes under way.
func (n *Network) Do(request *http.Request) (*http.Response, error) {
	return n.do(request, halfOpenWait)
}

// do is Do. A call that is never answered fails after the caller's patience.
func (n *Network) do(request *http.Request, patience time.Duration) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body)) // to be sent afterwards
	}
	e, number := n.hit(callOf(request, body))
	takesEffect := number%2 == 0
	switch e.Kind {
	case Throttled:
		return faulttest.Spoiled(n.under, request, faulttest.Throttled)
	case Slow:
		began := time.Now()
		if err := task.Wait(request.Context(), e.Delay); err != nil {
			n.arrive(request, body, e.Delay-time.Since(began)) // it arrives all the same
			return nil, err
		}
	case HalfOpen:
		if takesEffect {
			n.arrive(request, body, 0)
		}
		if err := task.Wait(request.Context(), patience); err != nil {
			return nil, err // the caller gave up
		}
		return nil, &url.Error{Op: "Post", URL: request.URL.String(), Err: os.ErrDeadlineExceeded}
	case AnswersLost:
		return faulttest.Spoiled(n.under, request, faulttest.AnswerLost)
	case Refused:
		return faulttest.Spoiled(n.under, request, faulttest.Refused)
	case Failing:
		if takesEffect {
			return faulttest.Spoiled(n.under, request, faulttest.AnswerError)
		}
		return faulttest.Spoiled(n.under, request, faulttest.ServerError)
	}
	return n.under.Do(request)
}

// hit returns the episode that a call meets and the call's number in it, from 1. Without an
// episode, both are zero.
func (n *Network) hit(call Call) (e Episode, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, running := range n.running {
		if running.Target.Hits(call) {
			running.calls++
			return running.Episode, running.calls
		}
	}
	return Episode{}, 0
}

// arrive makes a call after a delay. Only Settle waits for it.
func (n *Network) arrive(request *http.Request, body []byte, delay time.Duration) {
	n.mu.Lock()
	n.late++
	n.mu.Unlock()
	go func() {
		_ = task.Wait(context.WithoutCancel(request.Context()), delay) // this context never ends
		own := request.Clone(context.WithoutCancel(request.Context()))
		own.Body, own.GetBody = io.NopCloser(bytes.NewReader(body)), nil
		if response, err := n.under.Do(own); err == nil { // an error means that the engine has ended, or refuses
			_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
			_ = response.Body.Close()
		}
		n.mu.Lock()
		n.late--
		n.mu.Unlock()
		n.arrived.Broadcast()
	}()
}
