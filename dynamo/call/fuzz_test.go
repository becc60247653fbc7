package call

import (
	"bytes"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"
)

// canned is a table that gives the same answer to every call.
type canned []byte

// Do implements [dynamodb.HTTPClient].
func (c canned) Do(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: request, ContentLength: int64(len(c)),
		Header: http.Header{"X-Amz-Crc32": {strconv.FormatUint(uint64(crc32.ChecksumIEEE(c)), 10)}}, Body: io.NopCloser(bytes.NewReader(c)),
	}, nil
}

// decoded is what a way makes of an answer.
func decoded(t *testing.T, way way, operation string, body []byte) outcome {
	options := NewLocalClient("http://" + peerHost).Options()
	options.Credentials, options.HTTPClient, options.Retryer = keys("one"), canned(body), aws.NopRetryer{}
	return ask(t.Context(), way.open(options), operation)
}

// Whatever an answer is, all ways make the same of it, or refuse it.
func FuzzDecode(f *testing.F) {
	for i, operation := range operations {
		for _, form := range itemForms {
			if len(form.text) < 10_000 {
				f.Add(uint8(i), []byte(answerOf(operation, form.text)))
			}
		}
		for _, form := range answerForms {
			f.Add(uint8(i), []byte(form.text))
		}
	}
	f.Fuzz(func(t *testing.T, number uint8, body []byte) {
		operation := operations[int(number)%len(operations)]
		model := decoded(t, ways[0], operation, body)
		for _, way := range ways[1:] {
			got := decoded(t, way, operation, body)
			if diff := cmp.Diff(model, got, comparing...); diff != "" && !stricter(body, model, got) {
				t.Errorf("%s: the SDK (-) and %s (+) differ:\n%s", operation, way.name, diff)
			}
		}
	})
}

// stricter reports whether a way refuses, for a good reason, what the SDK takes: an empty answer.
func stricter(body []byte, model, got outcome) bool {
	return len(body) == 0 && !model.Failed && got.Damaged
}
