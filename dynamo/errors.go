package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/talkback/talkback/comment"
)

// wrap says in which call an error happened and gives it its kind. The kind of an error that has one stays.
func wrap(err error, call string, args ...any) error {
	if err == nil {
		return nil
	}
	where := fmt.Sprintf(call, args...)
	var known *comment.Error
	if errors.As(err, &known) {
		return fmt.Errorf("%s: %w", where, err)
	}
	kind, message := classify(err)
	if kind == comment.Internal {
		return fmt.Errorf("%s: %w", where, err)
	}
	return &comment.Error{Kind: kind, Message: message, Cause: fmt.Errorf("%s: %w", where, err)}
}

// classify tells what an error of the SDK means to whoever asked. Throttling is told by the SDK's own list of codes.
func classify(err error) (comment.Kind, string) {
	var api smithy.APIError
	var missing *types.ResourceNotFoundException
	var network net.Error
	var unanswered *smithyhttp.RequestSendError
	var answered *smithyhttp.ResponseError
	var unreadable *smithy.DeserializationError
	switch {
	case errors.Is(err, context.Canceled):
		return comment.Canceled, "the request was canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return comment.Timeout, "the table took too long to answer; ask for less, or again in a moment"
	case errors.As(err, &missing):
		return comment.Unavailable, "the table is not there"
	case errors.As(err, &api) && throttled(api.ErrorCode()):
		return comment.Throttled, "the table is too busy; ask again in a moment"
	case errors.As(err, &api) && api.ErrorFault() == smithy.FaultServer:
		return comment.Unavailable, "the table does not answer properly; ask again in a moment"
	case errors.As(err, &network) && network.Timeout():
		return comment.Timeout, "the table took too long to answer; ask for less, or again in a moment"
	case errors.As(err, &network), errors.As(err, &unanswered):
		return comment.Unavailable, "the table cannot be reached; ask again in a moment"
	case errors.As(err, &unreadable), errors.As(err, &answered) && answered.HTTPStatusCode() >= http.StatusInternalServerError:
		return comment.Unavailable, "the table does not answer properly; ask again in a moment"
	}
	return comment.Internal, ""
}

func throttled(code string) bool {
	_, found := retry.DefaultThrottleErrorCodes[code]
	return found
}
