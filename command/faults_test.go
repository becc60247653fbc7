package command_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// exchange is one call of the SDK, ready to be made with the engine any number of times.
type exchange struct {
	request *http.Request
	body    []byte
	network *unreliable
}

// operation is what the call asks for, such as "PutItem".
func (e exchange) operation() string {
	_, name, _ := strings.Cut(e.request.Header.Get("X-Amz-Target"), ".")
	return name
}

// perform makes the call. Each time, a transaction is a new one to the engine: its token would hide a repeat.
func (e exchange) perform(try int) (*http.Response, error) {
	body := clientToken.ReplaceAll(e.body, []byte(`"ClientRequestToken":"`+strconv.Itoa(try)+`$1"`))
	r := e.request.Clone(context.WithoutCancel(e.request.Context())) // what is under way arrives
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.GetBody = nil
	return e.network.engine.Do(r)
}

var clientToken = regexp.MustCompile(`"ClientRequestToken":"[^"]([^"]*)"`)

// fault is something that happens to a call on its way.
type fault struct {
	name string
	// only is the operation that it happens to; empty for all.
	only string
	do   func(exchange) (*http.Response, error)
}

// faults are all that can happen.
var faults = []fault{
	{name: "the request is lost", do: func(e exchange) (*http.Response, error) { return e.broken(syscall.ECONNREFUSED) }},
	{name: "the request comes late", do: exchange.late},
	{name: "the answer is lost, the connection reset", do: func(e exchange) (*http.Response, error) { return e.performedBut(syscall.ECONNRESET) }},
	{name: "the answer is lost, the time is up", do: func(e exchange) (*http.Response, error) { return e.performedBut(os.ErrDeadlineExceeded) }},
	{name: "the connection ends", do: func(e exchange) (*http.Response, error) { return e.performedBut(io.ErrUnexpectedEOF) }},
	{name: "throttled", do: func(e exchange) (*http.Response, error) {
		return e.answer(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`)
	}},
	{name: "throttled by another name", do: func(e exchange) (*http.Response, error) {
		return e.answer(400, `{"__type":"com.amazon.coral.availability#ThrottlingException","message":"slow down"}`)
	}},
	{name: "broken before", do: func(e exchange) (*http.Response, error) { return e.answer(500, brokenInside) }},
	{name: "broken after", do: func(e exchange) (*http.Response, error) {
		if err := e.performed(); err != nil {
			return nil, err
		}
		return e.answer(500, brokenInside)
	}},
	{name: "a page of a proxy", do: func(e exchange) (*http.Response, error) { return e.answer(503, "<html>Service Unavailable</html>") }},
	{name: "the answer is cut", do: exchange.cut},
	{name: "the answer is garbled", do: exchange.garbled},
	{name: performedTwice, do: exchange.twice},
	{name: "another transaction in the way", only: "TransactWriteItems", do: func(e exchange) (*http.Response, error) { return e.canceled("TransactionConflict", "None") }},
	{name: "a transaction throttled", only: "TransactWriteItems", do: func(e exchange) (*http.Response, error) { return e.canceled("None", "ThrottlingError") }},
}

const performedTwice = "performed twice"

const brokenInside = `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"secret inside"}`

func (e exchange) answer(status int, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: e.request,
	}, nil
}

func (e exchange) canceled(reasons ...string) (*http.Response, error) {
	var list []string
	for _, reason := range reasons {
		list = append(list, `{"Code":"`+reason+`"}`)
	}
	return e.answer(400, `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"canceled","CancellationReasons":[`+strings.Join(list, ",")+`]}`)
}

// broken is what http.Client makes of a connection that fails.
func (e exchange) broken(why error) (*http.Response, error) {
	return nil, &url.Error{Op: "Post", URL: e.request.URL.String(), Err: why}
}

// performed makes the call and drops the answer.
func (e exchange) performed() error {
	response, err := e.perform(0)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func (e exchange) performedBut(why error) (*http.Response, error) {
	if err := e.performed(); err != nil {
		return nil, err
	}
	return e.broken(why)
}

// cut makes the call and gives half of the answer.
func (e exchange) cut() (*http.Response, error) {
	response, err := e.perform(0)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	half := io.MultiReader(bytes.NewReader(body[:len(body)/2]), brokenReader{})
	response.Body = io.NopCloser(half)
	return response, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// garbled makes the call and gives an answer that does not have the checksum it claims.
func (e exchange) garbled() (*http.Response, error) {
	response, err := e.perform(0)
	if err == nil {
		response.Header.Set("X-Amz-Crc32", "1")
	}
	return response, err
}

// twice makes the call twice, as DynamoDB itself may when a part of it fails, and gives the second answer: a condition
// that the first time made false.
func (e exchange) twice() (*http.Response, error) {
	if err := e.performed(); err != nil {
		return nil, err
	}
	return e.perform(1)
}

// late holds the call back, until one made after it is done or the network is flushed.
func (e exchange) late() (*http.Response, error) {
	e.network.mu.Lock()
	defer e.network.mu.Unlock()
	e.network.held = append(e.network.held, e)
	return e.broken(os.ErrDeadlineExceeded)
}

// unreliable is an HTTP client for the SDK whose calls go wrong.
type unreliable struct {
	engine dynamodb.HTTPClient
	// plan says what goes wrong with the call of a number, counted from 1; nil for nothing.
	plan func(call int, operation string) *fault

	mu    sync.Mutex
	calls int
	held  []exchange
}

// Do implements the SDK's HTTP client.
func (u *unreliable) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	e := exchange{request: r, body: body, network: u}
	u.mu.Lock()
	u.calls++
	f := u.plan(u.calls, e.operation())
	u.mu.Unlock()
	if f == nil || f.only != "" && f.only != e.operation() {
		response, err := e.perform(0)
		return response, errors.Join(err, u.flush())
	}
	return f.do(e)
}

// flush lets the calls arrive that were held back.
func (u *unreliable) flush() error {
	u.mu.Lock()
	held := u.held
	u.held = nil
	u.mu.Unlock()
	var err error
	for _, e := range held {
		err = errors.Join(err, e.performed())
	}
	return err
}

// over is a client like another one, with a network that is not reliable.
func over(healthy *dynamodb.Client, plan func(call int, operation string) *fault) (*dynamodb.Client, *unreliable) {
	u := &unreliable{engine: healthy.Options().HTTPClient, plan: plan}
	return dynamodb.New(healthy.Options(), func(o *dynamodb.Options) { o.HTTPClient = u }), u
}

// once makes the n-th call go wrong, always makes it so with it and all later ones.
func once(n int, f *fault) func(int, string) *fault {
	return func(call int, _ string) *fault {
		if call == n {
			return f
		}
		return nil
	}
}

func always(n int, f *fault) func(int, string) *fault {
	return func(call int, _ string) *fault {
		if call >= n {
			return f
		}
		return nil
	}
}
