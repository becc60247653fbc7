package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// tape stands where the SDK expects its HTTP client. While it records, it passes calls on to an engine and keeps the
// answers; afterwards it answers the same calls from memory, and no others.
type tape struct {
	engine *http.Client // nil when replaying

	mu      sync.RWMutex
	answers map[call]recorded
	// written are the answers by the very bytes of a call. The SDK writes the members of a map in random order, so one
	// call comes in several ways; each is understood once and then found at once, since what the tape costs is counted as
	// the handlers' own.
	written map[call]recorded
}

// call is what tells one call from another: the operation and its input, which is JSON.
type call struct{ target, input string }

// recorded is an answer that can be given again and again.
type recorded struct {
	status int
	header http.Header
	body   []byte
}

const (
	targetHeader = "X-Amz-Target"
	crcHeader    = "X-Amz-Crc32"
)

// newTape makes a tape that records.
func newTape() *tape {
	return &tape{engine: http.DefaultClient, answers: map[call]recorded{}, written: map[call]recorded{}}
}

// replay ends the recording.
func (t *tape) replay() { t.engine = nil }

// onceTarget is the call by which a server learns, once, whether a table's comments were ever counted.
const onceTarget = "DynamoDB_20120810.GetItem"

// calls lists the distinct calls that were recorded, but for those that a server makes once in its life.
func (t *tape) calls() []string {
	var out []string
	for c := range t.answers {
		if c.target == onceTarget {
			continue
		}
		out = append(out, c.target+" "+c.input)
	}
	slices.Sort(out)
	return out
}

// Do answers a call of the SDK.
func (t *tape) Do(request *http.Request) (*http.Response, error) {
	body := make([]byte, request.ContentLength)
	if _, err := io.ReadFull(request.Body, body); err != nil {
		return nil, err
	}
	if t.engine != nil {
		return t.record(request, body)
	}
	answer, err := t.find(request.Header.Get(targetHeader), body)
	return answer.response(request), err
}

func (t *tape) record(request *http.Request, body []byte) (*http.Response, error) {
	key, err := callOf(request.Header.Get(targetHeader), body)
	if err != nil {
		return nil, err
	}
	passedOn := request.Clone(request.Context())
	passedOn.Body = io.NopCloser(bytes.NewReader(body))
	response, err := t.engine.Do(passedOn)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	answer := recorded{status: response.StatusCode, header: response.Header, body: raw}
	answer.addChecksum()
	t.mu.Lock()
	t.answers[key] = answer
	t.mu.Unlock()
	return answer.response(request), nil
}

// addChecksum makes the answer one of AWS in what the SDK has to do with it: AWS sends a checksum, which the SDK
// verifies, and local engines may not.
func (r recorded) addChecksum() {
	if r.header.Get(crcHeader) == "" {
		r.header.Set(crcHeader, strconv.FormatUint(uint64(crc32.ChecksumIEEE(r.body)), 10))
	}
}

// find looks up what was recorded. A call that was not is an error that shows it.
func (t *tape) find(target string, body []byte) (recorded, error) {
	t.mu.RLock()
	answer, known := t.written[call{target, string(body)}]
	t.mu.RUnlock()
	if known {
		return answer, nil
	}
	key, err := callOf(target, body)
	if err != nil {
		return recorded{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	answer, known = t.answers[key]
	if !known {
		return recorded{}, fmt.Errorf("no answer was recorded for %s %s", key.target, key.input)
	}
	t.written[call{target, string(body)}] = answer
	return answer, nil
}

// callOf is the one way to write a call: with sorted members, by way of Go's maps, which are marshalled in order.
func callOf(target string, body []byte) (call, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var input any
	if err := decoder.Decode(&input); err != nil {
		return call{}, fmt.Errorf("the input of %s is not JSON: %w", target, err)
	}
	sorted, err := json.Marshal(input)
	return call{target, string(sorted)}, err
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
