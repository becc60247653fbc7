package call

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyrand "github.com/aws/smithy-go/rand"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// leanRead is one call: a request, sent as often as it is tried, and its answer.
type leanRead struct {
	*caller
	out      smithy.Deserializable
	prepare  func(context.Context, func(*dynamodb.Options)) error // the SDK's call of the same input
	id, hash string
	body     leanBody
}

// run makes the call. Errors are those of the SDK's client.
func (e *leanRead) run(ctx context.Context, a *attempts, in smithy.Serializable) error {
	ctx, end := e.observe(ctx)
	request, err := e.serialize(ctx, in)
	if err == nil {
		err = a.make(ctx, request, e)
	}
	if err != nil {
		err = &smithy.OperationError{ServiceID: dynamodb.ServiceID, OperationName: e.schema.ID().Name, Err: err}
	}
	end(err)
	return err
}

// serialize makes what all attempts have in common: the body, its hash, and an id. The request that
// it returns is of no more use.
func (e *leanRead) serialize(ctx context.Context, in smithy.Serializable) (*smithyhttp.Request, error) {
	request := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	request.Body = &e.body
	if err := e.options.Protocol.SerializeRequest(ctx, e.schema, in, request); err != nil {
		return nil, err
	}
	if e.body.json == nil {
		e.body.json = make([]byte, request.ContentLength)
		if _, err := io.ReadFull(request.GetStream(), e.body.json); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(e.body.json)
	e.hash = hex.EncodeToString(sum[:])
	var err error
	e.id, err = smithyrand.NewUUID(rand.Reader).GetUUID()
	return request, err
}

// HandleFinalize implements [middleware.FinalizeHandler]: it makes one attempt. The request has what
// is particular to the attempt.
func (e *leanRead) HandleFinalize(ctx context.Context, in middleware.FinalizeInput) (out middleware.FinalizeOutput, metadata middleware.Metadata, err error) {
	request := in.Request.(*smithyhttp.Request)
	if err := e.sign(ctx, request); err != nil {
		return out, metadata, err
	}
	answer, metadata, err := e.answer(ctx, request)
	if err == nil {
		return out, metadata, nil
	}
	metadata, err = identified(ctx, request, answer, metadata, err)
	return out, metadata, err
}

// identified returns an error as the SDK does: with the ID that the answer has.
func identified(
	ctx context.Context, request *smithyhttp.Request, answer middleware.DeserializeOutput, metadata middleware.Metadata, err error,
) (middleware.Metadata, error) {
	failed := middleware.DeserializeHandlerFunc(func(context.Context, middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
		return answer, metadata, err
	})
	withID := middleware.DeserializeHandlerFunc(func(ctx context.Context, in middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
		return (&awsmiddleware.RequestIDRetriever{}).HandleDeserialize(ctx, in, failed)
	})
	_, metadata, err = (&awshttp.ResponseErrorWrapper{}).HandleDeserialize(ctx, middleware.DeserializeInput{Request: request}, withID)
	return metadata, err
}

// sign completes a request and signs it. Only what needs a signature is there when the SDK signs, as
// each header that it covers has its price.
func (e *leanRead) sign(ctx context.Context, request *smithyhttp.Request) error {
	identity, err := e.identities.GetIdentity(ctx, smithy.Properties{})
	if err != nil {
		return fmt.Errorf("get identity: %w", err)
	}
	f, err := e.frameOf(ctx, identity, e.prepare)
	if err != nil {
		return err
	}
	url, ofAttempt := f.url, request.Header
	request.Method, request.URL, request.Header = http.MethodPost, &url, f.toSign()
	if err := e.scheme.Signer().SignRequest(v4.SetPayloadHash(ctx, e.hash), request, identity, f.properties); err != nil {
		return fmt.Errorf("sign request: %w", err)
	}
	setBody(request.Request, e.body.json)
	maps.Copy(request.Header, f.unsigned)
	maps.Copy(request.Header, ofAttempt)
	request.Header[invocationHeader] = []string{e.id}
	return nil
}

// answer sends a request and decodes the answer.
func (e *leanRead) answer(ctx context.Context, request *smithyhttp.Request) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
	response, err := e.send(ctx, request)
	out.RawResponse = response
	defer func() { smithyhttp.CloseResponseBody(ctx, response, false, err) }()
	if e.newDate(response.Response, err) {
		metadata = e.timed(ctx, request, out, err)
	}
	if err == nil {
		err = e.options.Protocol.DeserializeResponse(ctx, e.schema, dynamodb.TypeRegistry, response, e.out)
	}
	return out, metadata, err
}

// newDate reports whether the clock of an answer is news. A date has whole seconds, so it is not in
// most answers. After an attempt that failed it is: only from a success the SDK keeps what it finds.
func (e *leanRead) newDate(response *http.Response, err error) bool {
	if err != nil || !success(response) {
		e.dated.Store(nil)
		return true
	}
	if last := e.dated.Load(); last != nil && *last == response.Header.Get("Date") {
		return false
	}
	date := response.Header.Get("Date")
	e.dated.Store(&date)
	return true
}

// timed has the SDK compare its clock with that of an answer.
func (e *leanRead) timed(ctx context.Context, request *smithyhttp.Request, out middleware.DeserializeOutput, err error) middleware.Metadata {
	timing := awsmiddleware.RecordResponseTiming{DisableClockSkewCorrection: e.options.DisableClockSkewCorrection}
	answered := func(context.Context, middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
		return out, middleware.Metadata{}, err
	}
	_, metadata, _ := timing.HandleDeserialize(ctx, middleware.DeserializeInput{Request: request}, middleware.DeserializeHandlerFunc(answered))
	return metadata // the error is the one it was given
}

// send sends a request. As the SDK does, it returns a response even with an error.
func (e *leanRead) send(ctx context.Context, request *smithyhttp.Request) (*smithyhttp.Response, error) {
	sent := request.Request
	if sent.Context() != ctx {
		sent = sent.WithContext(ctx)
	}
	response, err := e.options.HTTPClient.Do(sent)
	if response == nil {
		response = &http.Response{Header: http.Header{}, Body: http.NoBody}
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = &smithy.CanceledError{Err: ctx.Err()}
	default:
		err = &smithyhttp.RequestSendError{Err: err}
	}
	return &smithyhttp.Response{Response: response}, err
}
