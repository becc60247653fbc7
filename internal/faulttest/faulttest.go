// Package faulttest puts a faulty network between the SDK and a real engine: it refuses calls,
// breaks, delays and repeats them, and loses their answers after the engine has executed them. Only
// tests import it.
package faulttest

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Network counts calls and makes some of them fail.
type Network struct {
	// Leave has the caller of the request that a call belongs to leave. It is for the faults of
	// Leaving, and may be nil without them.
	Leave func()

	under  HTTPClient
	faults func(call int) Fault

	mu    sync.Mutex
	calls int
	held  []exchange
}

// Under puts a network under a client.
func Under(client *dynamodb.Client, faults func(call int) Fault) (*dynamodb.Client, *Network) {
	network := Over(client.Options().HTTPClient, faults)
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) { o.HTTPClient = network }), network
}

// Over returns a network over another client. It calls faults for each call, retries included, with
// the call's number from 1. It never does so concurrently.
func Over(under HTTPClient, faults func(call int) Fault) *Network {
	return &Network{under: under, faults: faults}
}

// HTTP is a function as an HTTP client of the SDK.
type HTTP func(*http.Request) (*http.Response, error)

// Do implements HTTPClient.
func (f HTTP) Do(request *http.Request) (*http.Response, error) { return f(request) }

// With returns a client whose calls, retries included, go through a function. It gets the HTTP
// client below, and the operation of a call.
func With(client *dynamodb.Client, do func(under HTTPClient, operation string, request *http.Request) (*http.Response, error)) *dynamodb.Client {
	under := client.Options().HTTPClient
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) {
		o.HTTPClient = HTTP(func(request *http.Request) (*http.Response, error) {
			_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
			return do(under, operation, request)
		})
	})
}

// Before returns a client that does something ahead of each call of an operation, retries included.
// It makes these calls one at a time.
func Before(client *dynamodb.Client, operation string, do func()) *dynamodb.Client {
	var turn sync.Mutex
	return With(client, func(under HTTPClient, of string, request *http.Request) (*http.Response, error) {
		if of == operation {
			turn.Lock()
			defer turn.Unlock()
			do()
		}
		return under.Do(request)
	})
}

// Nth makes only the n-th call fail.
func Nth(n int, fault Fault) func(call int) Fault {
	return func(call int) Fault {
		if call == n {
			return fault
		}
		return None
	}
}

// From makes the n-th call and all after it fail.
func From(n int, fault Fault) func(call int) Fault {
	return func(call int) Fault {
		if call >= n {
			return fault
		}
		return None
	}
}

// OneIn makes one call in n fail on average, each in a random way. It seeds its own source from r,
// so the caller may go on using r.
func OneIn(r *rand.Rand, n int) func(call int) Fault {
	own := rand.New(rand.NewPCG(r.Uint64(), 1))
	return func(int) Fault {
		if own.IntN(n) > 0 {
			return None
		}
		return Kinds[own.IntN(len(Kinds))]
	}
}

// Calls returns how many calls there were.
func (n *Network) Calls() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls
}

// Do makes one call, subject to its fault.
func (n *Network) Do(request *http.Request) (*http.Response, error) {
	e, err := newExchange(n.under, request)
	if err != nil {
		return nil, err
	}
	fault := n.next()
	_, call, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	if !fault.happensTo(call) {
		fault = None
	}
	if fault == None {
		response, err := e.perform(0)
		return response, errors.Join(err, n.Flush())
	}
	if slices.Contains(Leaving, fault) {
		return nil, n.leave(e, fault)
	}
	if fault == Late {
		n.mu.Lock()
		n.held = append(n.held, e)
		n.mu.Unlock()
	}
	return e.meet(fault)
}

// leave has the caller leave, and returns the error of a call whose context ended.
func (n *Network) leave(e exchange, fault Fault) (err error) {
	if fault == CallerLeaves {
		_, err = e.answered()
	}
	n.Leave()
	<-e.request.Context().Done()
	return errors.Join(err, e.unreachable(e.request.Context().Err()))
}

func (n *Network) next() Fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	return n.faults(n.calls)
}

// Late returns how many late calls have not arrived yet.
func (n *Network) Late() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.held)
}

// Flush lets late calls arrive. A call without a fault also does so once it is done.
func (n *Network) Flush() error {
	n.mu.Lock()
	held := n.held
	n.held = nil
	n.mu.Unlock()
	var err error
	for _, e := range held {
		_, failed := e.answered()
		err = errors.Join(err, failed)
	}
	return err
}
