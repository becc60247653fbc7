// Package faulttest puts a faulty network between the SDK and a real engine: it refuses calls,
// breaks, delays and repeats them, and loses their answers after the engine has executed them. Only
// tests import it.
package faulttest

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Fault is how a call fails.
type Fault string

// The faults. Calls that are throttled, refused or canceled, or fail in the engine, do not reach
// it. If the answer is lost or damaged, the engine has executed the call. It executes a Late call
// when that arrives.
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

// OfTransactions reports whether a fault happens to transactions only. For other calls it is None.
func (f Fault) OfTransactions() bool { return f == TransactConflict || f == TransactThrottled }

// happensTo reports whether a fault can happen to a call. DynamoDB itself refuses single writes
// that a transaction is in the way of.
func (f Fault) happensTo(call string) bool {
	switch {
	case f.OfTransactions():
		return call == "TransactWriteItems"
	case f == WriteConflict:
		return call == "PutItem" || call == "UpdateItem" || call == "DeleteItem"
	}
	return true
}

// Network counts calls and makes some of them fail.
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

// Over returns a network over another client. It calls faults for each call, retries included, with
// a number from 1. These calls do not overlap.
func Over(under HTTPClient, faults func(call int) Fault) *Network {
	return &Network{under: under, faults: faults}
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

// Calls returns how many calls there were.
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

// Flush lets late calls arrive. A call without a fault also does so after it is done.
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
