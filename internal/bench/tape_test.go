package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// tape is an HTTP client of the SDK. It passes a new call on to an engine, and answers a repeated
// one from memory.
type tape struct {
	mu      sync.RWMutex
	answers map[tapedCall]recorded
	// written are the answers by the exact bytes of a call. The SDK writes the members of a map in
	// random order, so one call has several forms. Each form is parsed once and then found
	// directly, since the time of the tape counts as that of the handlers.
	written map[tapedCall]recorded
	// heard are the recorded calls, nil while no test listens.
	heard *[]tapedCall
	// change makes another answer of the engine's before it is recorded. Nil leaves it as it is.
	change func(body []byte) ([]byte, error)
}

// tapedCall identifies a call: the operation and its input, which is JSON.
type tapedCall struct{ target, input string }

// recorded is an answer that can be returned any number of times.
type recorded struct {
	status int
	header http.Header
	body   []byte
}

const (
	targetHeader = "X-Amz-Target"
	crcHeader    = "X-Amz-Crc32"
)

func newTape() *tape {
	return &tape{answers: map[tapedCall]recorded{}, written: map[tapedCall]recorded{}}
}

// onceTarget is the call whose answer a server remembers for a while: whether comments were ever
// counted, and the statistics of a product.
const onceTarget = "DynamoDB_20120810.GetItem"

// during returns the calls of an action, sorted, without the server's background calls.
func (t *tape) during(something func()) (heard []tapedCall) {
	listen := func(to *[]tapedCall) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.heard = to
	}
	listen(&heard)
	something()
	listen(nil)
	heard = slices.DeleteFunc(heard, func(c tapedCall) bool { return c.target == onceTarget })
	slices.SortFunc(heard, func(a, b tapedCall) int { return cmp.Compare(a.input, b.input) })
	return heard
}

// Do answers a call of the SDK.
func (t *tape) Do(request *http.Request) (*http.Response, error) {
	body := make([]byte, request.ContentLength)
	if _, err := io.ReadFull(request.Body, body); err != nil {
		return nil, err
	}
	answer, err := t.find(request, tapedCall{request.Header.Get(targetHeader), string(body)})
	if err != nil {
		return nil, err
	}
	return answer.response(request), nil
}

func (t *tape) find(request *http.Request, as tapedCall) (recorded, error) {
	t.mu.RLock()
	answer, known := t.written[as]
	known = known && t.heard == nil
	t.mu.RUnlock()
	if known {
		return answer, nil
	}
	return t.understand(request, as)
}

// understand finds the answer of a call with new bytes, or of any call while a test listens.
func (t *tape) understand(request *http.Request, as tapedCall) (recorded, error) {
	key, err := callOf(as)
	if err != nil {
		return recorded{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heard != nil {
		*t.heard = append(*t.heard, key)
	}
	answer, known := t.answers[key]
	if !known {
		if answer, err = t.record(request, as.input); err != nil {
			return recorded{}, err
		}
	}
	t.answers[key], t.written[as] = answer, answer
	return answer, nil
}

func (t *tape) record(request *http.Request, body string) (recorded, error) {
	answer, err := passOn(request, body)
	if err != nil {
		return recorded{}, err
	}
	if t.change != nil {
		if answer.body, err = t.change(answer.body); err != nil {
			return recorded{}, err
		}
		answer.header.Del(crcHeader)
	}
	if answer.header.Get(crcHeader) == "" { // AWS sends a checksum, which the SDK verifies, and local engines may not
		answer.header.Set(crcHeader, strconv.FormatUint(uint64(crc32.ChecksumIEEE(answer.body)), 10))
	}
	answer.header.Del("Date") // a server that replays it sets its own
	return answer, nil
}

func passOn(request *http.Request, body string) (recorded, error) {
	passedOn := request.Clone(request.Context())
	passedOn.Body = io.NopCloser(strings.NewReader(body))
	response, err := http.DefaultClient.Do(passedOn)
	if err != nil {
		return recorded{}, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return recorded{status: response.StatusCode, header: response.Header, body: raw}, err
}

// callOf returns the normal form of a call: with sorted members, as Go marshals maps.
func callOf(as tapedCall) (tapedCall, error) {
	decoder := json.NewDecoder(strings.NewReader(as.input))
	decoder.UseNumber()
	var input any
	if err := decoder.Decode(&input); err != nil {
		return tapedCall{}, fmt.Errorf("the input of %s is not JSON: %w", as.target, err)
	}
	sorted, err := json.Marshal(input)
	return tapedCall{as.target, string(sorted)}, err
}

// response makes a fresh response. Its header is shared: the SDK only reads it.
func (r recorded) response(request *http.Request) *http.Response {
	return &http.Response{
		StatusCode:    r.status,
		Header:        r.header,
		Body:          io.NopCloser(bytes.NewReader(r.body)),
		ContentLength: int64(len(r.body)),
		Request:       request,
	}
}
