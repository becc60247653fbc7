// Package faulttest is a bad network between the SDK and a real engine: it turns calls away, breaks them, and loses their
// answers after the engine did as it was told. Only tests import it.
package faulttest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Fault is what goes wrong with a call.
type Fault string

// The faults. After the first four the engine knows nothing of the call; after the others it has done what was asked.
const (
	None        Fault = ""
	Throttled   Fault = "throttled"
	Refused     Fault = "no connection"
	ServerError Fault = "failed in the engine"
	Unavailable Fault = "engine unavailable"
	AnswerLost  Fault = "answer lost"
	AnswerError Fault = "answer replaced by an error"
	AnswerCut   Fault = "answer cut off"
	AnswerShort Fault = "half an answer that says it is whole"
	AnswerMixed Fault = "answer of something else"
)

// Kinds are all faults but None.
var Kinds = []Fault{Throttled, Refused, ServerError, Unavailable, AnswerLost, AnswerError, AnswerCut, AnswerShort, AnswerMixed}

// Network counts calls and spoils those that it is told to.
type Network struct {
	under  httpClient
	faults func(call int) Fault

	mu    sync.Mutex
	calls int
}

type httpClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Under puts a network under a client. It is asked about each call, retries included, which are counted from 1; one at a
// time.
func Under(client *dynamodb.Client, faults func(call int) Fault) (*dynamodb.Client, *Network) {
	options := client.Options()
	network := &Network{under: options.HTTPClient, faults: faults}
	options.HTTPClient = network
	return dynamodb.New(options), network
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
	fault := n.next()
	switch fault {
	case Throttled:
		return failure(request, http.StatusBadRequest, "ProvisionedThroughputExceededException"), nil
	case Refused:
		return nil, unreachable(request, syscall.ECONNREFUSED)
	case ServerError:
		return failure(request, http.StatusInternalServerError, "InternalServerError"), nil
	case Unavailable:
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: io.NopCloser(strings.NewReader("busy")), Header: http.Header{}, Request: request}, nil
	}
	response, err := n.under.Do(request)
	if err != nil || fault == None {
		return response, err
	}
	return spoil(request, response, fault)
}

func (n *Network) next() Fault {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	return n.faults(n.calls)
}

// spoil is what becomes of an answer.
func spoil(request *http.Request, response *http.Response, fault Fault) (*http.Response, error) {
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read, or the error tells
	if err != nil {
		return nil, err
	}
	half := bytes.NewReader(body[:len(body)/2])
	switch fault {
	case AnswerError:
		return failure(request, http.StatusInternalServerError, "InternalServerError"), nil
	case AnswerCut:
		response.Body = io.NopCloser(io.MultiReader(half, broken{}))
	case AnswerShort:
		response.Header.Del("X-Amz-Crc32")
		response.ContentLength = half.Size()
		response.Body = io.NopCloser(half)
	case AnswerMixed:
		response.Header.Del("X-Amz-Crc32")
		response.ContentLength = -1
		response.Body = io.NopCloser(strings.NewReader("<html>Please log in.</html>"))
	default:
		return nil, unreachable(request, syscall.ECONNRESET)
	}
	return response, nil
}

// unreachable is how the HTTP client of the standard library says that a connection could not be made or broke.
func unreachable(request *http.Request, err error) error {
	return &url.Error{Op: "Post", URL: request.URL.String(), Err: err}
}

// failure is how DynamoDB says that something went wrong.
func failure(request *http.Request, status int, code string) *http.Response {
	return &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:       io.NopCloser(strings.NewReader(`{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"a fault of the test"}`)),
		Request:    request,
	}
}

// broken is a connection that breaks while it is read.
type broken struct{}

// Read fails.
func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
