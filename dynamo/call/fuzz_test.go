package call

import (
	"bytes"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
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

// Whatever an answer is, the protocol of this package makes the same of it as the SDK's, or refuses
// it as that does.
//
//	go test ./dynamo/call -run '^$' -fuzz FuzzDecode -fuzztime 1m
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
	ours := NewLocalClient("http://" + peerHost).Options().Protocol
	sdks := ours.(*protocol).ClientProtocol
	f.Fuzz(func(t *testing.T, number uint8, body []byte) {
		operation := operations[int(number)%len(operations)]
		model, got := deserialized(t, sdks, operation, body), deserialized(t, ours, operation, body)
		if operation == "Query" && !model.Panicked {
			checkRecords(t, "an answer", body, model)
		}
		if diff := cmp.Diff(model, got, comparing...); diff != "" && !stricter(body, model, got) {
			t.Errorf("%s: the SDK (-) and the protocol (+) differ:\n%s", operation, diff)
		}
	})
}

// deserialized is what a protocol makes of an answer, without a client around it.
func deserialized(t *testing.T, p smithyhttp.ClientProtocol, operation string, body []byte) (o outcome) {
	defer o.noteOfPanic()
	response, err := canned(body).Do(nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(schema, in, out *smithy.Schema, output smithy.Deserializable) error {
		return p.DeserializeResponse(t.Context(), smithy.NewOperationSchema(schema, in, out), dynamodb.TypeRegistry, &smithyhttp.Response{Response: response}, output)
	}
	switch operation {
	case "Query":
		var output dynamodb.QueryOutput
		err = o.query(&output, read(schemas.Query, schemas.QueryInput, schemas.QueryOutput, &output))
	case "BatchGetItem":
		var output dynamodb.BatchGetItemOutput
		err = o.batch(&output, read(schemas.BatchGetItem, schemas.BatchGetItemInput, schemas.BatchGetItemOutput, &output))
	default:
		var output dynamodb.GetItemOutput
		err = o.item(&output, read(schemas.GetItem, schemas.GetItemInput, schemas.GetItemOutput, &output))
	}
	o.note(Wrap(err, "%s", operation))
	return o
}

// stricter reports whether a way refuses, for a good reason, what the SDK takes: an empty answer, or
// one at which it panics.
func stricter(body []byte, model, got outcome) bool {
	return got.Damaged && (len(body) == 0 && !model.Failed || model.Panicked)
}
