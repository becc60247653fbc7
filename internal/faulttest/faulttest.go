// Package faulttest is a bad network between the SDK and a real engine: it turns calls away, breaks them, delays and
// repeats them, and loses their answers after the engine did as it was told. Only tests import it.
package faulttest

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Fault is what goes wrong with a call.
type Fault string

// The faults. After those up to Unavailable the engine knows nothing of the call; after the others it has done what was
// asked, or will have when it comes Late.
const (
	None               Fault = ""
	Throttled          Fault = "throttled"
	ThrottledOtherwise Fault = "throttled by another name"
	Refused            Fault = "no connection"
	ServerError        Fault = "failed in the engine"
	Unavailable        Fault = "engine unavailable"
	AnswerLost         Fault = "answer lost, the connection reset"
	AnswerTimeout      Fault = "answer lost, the time is up"
	AnswerEnd          Fault = "answer lost, the connection ended"
	AnswerError        Fault = "answer replaced by an error"
	AnswerCut          Fault = "answer cut off"
	AnswerShort        Fault = "half an answer that says it is whole"
	AnswerMixed        Fault = "answer of something else"
	AnswerGarbled      Fault = "answer without the checksum it claims"
	Late               Fault = "request arrives late"
	Twice              Fault = "performed twice" // as DynamoDB itself may when a part of it fails
	TransactConflict   Fault = "another transaction in the way"
	TransactThrottled  Fault = "a transaction throttled"
	WriteConflict      Fault = "a transaction in the way of a single write"
)

// Kinds are all faults but None.
var Kinds = []Fault{
	Throttled, ThrottledOtherwise, Refused, ServerError, Unavailable, AnswerLost, AnswerTimeout, AnswerEnd, AnswerError, AnswerCut,
	AnswerShort, AnswerMixed, AnswerGarbled, Late, Twice, TransactConflict, TransactThrottled, WriteConflict,
}

// OfTransactions tells whether a fault happens to transactions only. To other calls it is None.
func (f Fault) OfTransactions() bool { return f == TransactConflict || f == TransactThrottled }

// happensTo tells whether a fault can happen to a call. DynamoDB refuses what is in the way of a transaction by itself.
func (f Fault) happensTo(call string) bool {
	switch {
	case f.OfTransactions():
		return call == "TransactWriteItems"
	case f == WriteConflict:
		return call == "PutItem" || call == "UpdateItem" || call == "DeleteItem"
	}
	return true
}

// Network counts calls and spoils those that it is told to.
type Network struct {
	under  HTTPClient
	faults func(call int) Fault

	mu    sync.Mutex
	calls int
	held  []exchange
}

// HTTPClient makes the calls of an SDK's client.
type HTTPClient interface {
	// Do makes one call.
	Do(*http.Request) (*http.Response, error)
}

// Under puts a network under a client.
func Under(client *dynamodb.Client, faults func(call int) Fault) (*dynamodb.Client, *Network) {
	options := client.Options()
	network := Over(options.HTTPClient, faults)
	options.HTTPClient = network
	return dynamodb.New(options), network
}

// Over makes a network of another one. It asks about each call, retries included, which are counted from 1; one at a time.
func Over(under HTTPClient, faults func(call int) Fault) *Network {
	return &Network{under: under, faults: faults}
}

// Nth spoils the n-th call and no other.
func Nth(n int, fault Fault) func(call int) Fault {
	return func(call int) Fault {
		if call == n {
			return fault
		}
		return None
	}
}

// From spoils the n-th call and all after it.
func From(n int, fault Fault) func(call int) Fault {
	return func(call int) Fault {
		if call >= n {
			return fault
		}
		return None
	}
}

// Calls is how many there were.
func (n *Network) Calls() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls
}

// Do makes one call, or what the fault leaves of it.
func (n *Network) Do(request *http.Request) (*http.Response, error) {
	e, err := newExchange(n, request)
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
	return e.meet(fault)
}

func (n *Network) next() Fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	return n.faults(n.calls)
}

// Flush lets the calls arrive that are late. A call that goes well does so, too, once it is done.
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

func (n *Network) hold(e exchange) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = append(n.held, e)
}
