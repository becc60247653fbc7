package faulttest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// HTTPClient makes the calls of an SDK's client.
type HTTPClient interface {
	// Do makes one call.
	Do(*http.Request) (*http.Response, error)
}

// exchange is one call of the SDK. The engine can execute it any number of times.
type exchange struct {
	request *http.Request
	body    []byte
	under   HTTPClient
}

func newExchange(under HTTPClient, request *http.Request) (exchange, error) {
	e := exchange{request: request, under: under}
	if request.Body == nil {
		return e, nil
	}
	var err error
	e.body, err = io.ReadAll(request.Body)
	return e, err
}

// Spoiled makes one call with a fault over a client.
func Spoiled(under HTTPClient, request *http.Request, fault Fault) (*http.Response, error) {
	e, err := newExchange(under, request)
	if err != nil {
		return nil, err
	}
	return e.meet(fault)
}

var clientToken = regexp.MustCompile(`"ClientRequestToken":"[^"]([^"]*)"`)

// perform makes the call even if its caller no longer waits, since a request under way arrives.
// Each try of a transaction gets a new token, because the old one would hide a repeat.
func (e exchange) perform(try int) (*http.Response, error) {
	body := clientToken.ReplaceAll(e.body, []byte(`"ClientRequestToken":"`+strconv.Itoa(try)+`$1"`))
	r := e.request.Clone(context.WithoutCancel(e.request.Context()))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.GetBody = nil
	return e.under.Do(r)
}

// answered makes the call and reads the whole answer.
func (e exchange) answered() (*answer, error) {
	response, err := e.perform(0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was read, or the error says why not
	body, err := io.ReadAll(response.Body)
	return &answer{response, body}, err
}

// answer is an answer of the engine.
type answer struct {
	*http.Response
	body []byte
}

// with returns the answer with another body, and without the old body's checksum in the header.
func (a *answer) with(body io.Reader) *http.Response {
	a.Header.Del("X-Amz-Crc32")
	a.ContentLength = -1
	a.Body = io.NopCloser(body)
	return a.Response
}

// meet makes the call with a fault.
func (e exchange) meet(fault Fault) (*http.Response, error) {
	switch fault {
	case Throttled:
		return e.failure(http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException", ""), nil
	case ThrottledOtherwise:
		return e.failure(http.StatusBadRequest, "com.amazon.coral.availability#ThrottlingException", ""), nil
	case Refused:
		return nil, e.unreachable(syscall.ECONNREFUSED)
	case ServerError:
		return e.brokenInside(), nil
	case Unavailable:
		return Answer(e.request, http.StatusServiceUnavailable, "<html>Service Unavailable</html>"), nil
	case TransactConflict:
		return e.canceled("TransactionConflict", "None"), nil
	case TransactThrottled:
		return e.canceled("None", "ThrottlingError"), nil
	case WriteConflict:
		return e.failure(http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#TransactionConflictException", ""), nil
	case Late:
		return nil, e.unreachable(os.ErrDeadlineExceeded)
	}
	a, err := e.answered()
	if err != nil {
		return nil, err
	}
	return e.spoil(a, fault)
}

// spoil returns the answer after a fault.
func (e exchange) spoil(a *answer, fault Fault) (*http.Response, error) {
	half := bytes.NewReader(a.body[:len(a.body)/2])
	switch fault {
	case AnswerTimeout:
		return nil, e.unreachable(os.ErrDeadlineExceeded)
	case AnswerEnd:
		return nil, e.unreachable(io.ErrUnexpectedEOF)
	case AnswerError:
		return e.brokenInside(), nil
	case AnswerCut:
		return a.with(io.MultiReader(half, broken{})), nil
	case AnswerShort:
		return a.with(half), nil
	case AnswerMixed:
		return a.with(strings.NewReader("<html>Please log in.</html>")), nil
	case AnswerGarbled:
		response := a.with(bytes.NewReader(a.body))
		response.Header.Set("X-Amz-Crc32", "1")
		return response, nil
	case Twice:
		return e.perform(1)
	}
	return nil, e.unreachable(syscall.ECONNRESET)
}

// unreachable is the error of the standard library's HTTP client for a connection that could not be
// made or broke.
func (e exchange) unreachable(err error) error {
	return &url.Error{Op: "Post", URL: e.request.URL.String(), Err: err}
}

func (e exchange) brokenInside() *http.Response {
	return e.failure(http.StatusInternalServerError, "com.amazonaws.dynamodb.v20120810#InternalServerError", "")
}

// failure is DynamoDB's error for a call that failed, with a message that users must not see.
func (e exchange) failure(status int, code, more string) *http.Response {
	return Answer(e.request, status, `{"__type":"`+code+`","message":"secret inside"`+more+`}`)
}

func (e exchange) canceled(reasons ...string) *http.Response {
	codes := make([]string, len(reasons))
	for i, reason := range reasons {
		codes[i] = `{"Code":"` + reason + `"}`
	}
	return e.failure(http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
		`,"CancellationReasons":[`+strings.Join(codes, ",")+`]`)
}

// Answer returns an answer of DynamoDB to a call.
func Answer(request *http.Request, status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: request,
	}
}

// broken is a connection that breaks while it is read.
type broken struct{}

// Read fails.
func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
