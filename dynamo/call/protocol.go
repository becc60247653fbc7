package call

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/talkback/talkback/dynamo/wire"
	"github.com/talkback/talkback/internal/task"
)

// protocol is the SDK's protocol, but for usual inputs of lean reads, which package wire encodes, and
// for how answers are read. An answer without the checksum that its header claims is an error, where
// the SDK only logs it. So is an empty answer. Usual answers of reads are decoded by package wire, all
// others by the SDK.
type protocol struct{ smithyhttp.ClientProtocol }

// Around returns another protocol, changed in the same way.
func (p *protocol) Around(other smithyhttp.ClientProtocol) smithyhttp.ClientProtocol {
	return &protocol{other}
}

// leanBody stands for the body of a lean read while its input is encoded. All else of such a request
// comes from its frame.
type leanBody struct {
	io.ReadCloser
	json []byte // nil if the SDK has to encode the input
}

// awsJSON is the protocol whose inputs package wire encodes.
var awsJSON = smithy.ShapeID{Namespace: "aws.protocols", Name: "awsJson1_0"}

// SerializeRequest implements [smithyhttp.ClientProtocol].
func (p *protocol) SerializeRequest(ctx context.Context, schema *smithy.OperationSchema, in smithy.Serializable, request *smithyhttp.Request) error {
	if body, lean := request.Body.(*leanBody); lean && p.ID() == awsJSON {
		if json, usual := wire.Input(in); usual {
			body.json = json
			return nil
		}
	}
	return p.ClientProtocol.SerializeRequest(ctx, schema, in, request)
}

// DeserializeResponse implements [smithyhttp.ClientProtocol].
func (p *protocol) DeserializeResponse(
	ctx context.Context, schema *smithy.OperationSchema, types *smithy.TypeRegistry, response *smithyhttp.Response, out smithy.Deserializable,
) error {
	buffer := answers.Get().(*bytes.Buffer)
	defer giveBack(buffer)
	if err := readAnswer(response.Response, buffer, mostAnswer); err != nil {
		return &smithy.DeserializationError{Err: err}
	}
	if taker := takerOf(ctx); success(response.Response) && decodeUsual(buffer.Bytes(), out, taker) == nil {
		taker.end()
		return nil
	}
	read := *response.Response // the body that the SDK closes stays where it is
	read.Body = io.NopCloser(bytes.NewReader(buffer.Bytes()))
	err := task.Try(func() error { // damaged JSON makes the SDK's decoder panic
		return p.ClientProtocol.DeserializeResponse(ctx, schema, types, &smithyhttp.Response{Response: &read}, out)
	})
	if err != nil && success(response.Response) {
		return &smithy.DeserializationError{Err: errDamaged}
	}
	return err
}

// success reports whether an answer is no error.
func success(response *http.Response) bool { return response.StatusCode/100 == 2 }

// errDamaged stands for errors of the SDK's decoder, which may cite what a customer wrote.
var errDamaged = errors.New("the answer is damaged")

// decodeUsual decodes the usual answer of a read. With an error, it leaves the output empty.
func decodeUsual(body []byte, out smithy.Deserializable, taker *taker) error {
	if decodePlain(body, out, taker) == nil {
		return nil
	}
	switch out := out.(type) {
	case *dynamodb.QueryOutput:
		return decodeInto(out, func(out *dynamodb.QueryOutput) error { return wire.Query(body, out, taker.begin()) })
	case *dynamodb.BatchGetItemOutput:
		return decodeInto(out, func(out *dynamodb.BatchGetItemOutput) error { return wire.BatchGetItem(body, out, taker.begin()) })
	case *dynamodb.GetItemOutput:
		return decodeInto(out, func(out *dynamodb.GetItemOutput) error { return wire.GetItem(body, out) })
	}
	return wire.ErrUnusual
}

// decodePlain is decodeUsual for plain answers whose items are handed over.
func decodePlain(body []byte, out smithy.Deserializable, taker *taker) error {
	if taker == nil {
		return wire.ErrUnusual
	}
	switch out := out.(type) {
	case *dynamodb.QueryOutput:
		return decodeInto(out, func(out *dynamodb.QueryOutput) error { return wire.PlainQuery(body, out, taker.begin()) })
	case *dynamodb.BatchGetItemOutput:
		return decodeInto(out, func(out *dynamodb.BatchGetItemOutput) error { return wire.PlainBatchGetItem(body, out, taker.begin()) })
	}
	return wire.ErrUnusual
}

func decodeInto[T any](out *T, decode func(*T) error) error {
	var decoded T
	if err := decode(&decoded); err != nil {
		return err
	}
	*out = decoded
	return nil
}

// answers are buffers for answers. What is decoded of an answer keeps nothing of its buffer.
var answers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// largestKept is the capacity in bytes up to which a buffer is kept. Few answers are larger.
const largestKept = 256 << 10

func giveBack(buffer *bytes.Buffer) {
	if buffer.Cap() <= largestKept {
		buffer.Reset()
		answers.Put(buffer)
	}
}

// mostAnswer is the size in bytes of the largest answer that is read. A batch has 16 MB, of which JSON
// can make six times as much. What goes on for longer does not end, and is no answer of a table.
const mostAnswer = 128 << 20

// readAnswer reads an answer whole, unless it is larger than most bytes, and verifies its checksum,
// if it has one.
func readAnswer(response *http.Response, into *bytes.Buffer, most int64) error {
	into.Grow(bytes.MinRead + int(min(max(response.ContentLength, 0), largeRoom))) // bounded has that room
	if _, err := into.ReadFrom(io.LimitReader(response.Body, most+1)); err != nil {
		return err
	}
	if int64(into.Len()) > most {
		return errors.New("the answer is larger than any of DynamoDB")
	}
	if into.Len() == 0 && success(response) {
		return errors.New("the answer is empty")
	}
	claimed := response.Header.Get("X-Amz-Crc32")
	if claimed == "" {
		return nil
	}
	want, err := strconv.ParseUint(claimed, 10, 32)
	if err != nil {
		return errors.New("the answer's checksum is not a number")
	}
	if crc32.ChecksumIEEE(into.Bytes()) != uint32(want) {
		return errors.New("the answer does not have the checksum it claims")
	}
	return nil
}
