package call

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/talkback/talkback/comment"
)

// Wrap says in which call an error happened and gives it its kind. The kind of an error that has one stays.
func Wrap(err error, call string, args ...any) error {
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

// meaning is what an error means to the caller.
type meaning struct {
	kind    comment.Kind
	message string
}

var (
	busy     = meaning{comment.Throttled, "the table is too busy; ask again in a moment"}
	inTheWay = meaning{comment.Throttled, "another write was in the way; try again"}
	slow     = meaning{comment.Timeout, "the table took too long to answer; ask for less, or again in a moment"}
	broken   = meaning{comment.Unavailable, "the table does not answer properly; ask again in a moment"}
	// ours is a fault of the request, which no further try mends.
	ours = meaning{kind: comment.Internal}
)

// meanings are those of the codes that neither the SDK's list of throttling codes nor the sort of fault tells. Any other
// code of a request that DynamoDB refused is a fault of ours, or of the account: missing permissions, wrong credentials, an
// invalid request. TestWhatErrorsMean has them all.
var meanings = map[string]meaning{
	"TransactionConflictException":     inTheWay, // a transaction is at work on the item
	"ReplicatedWriteConflictException": inTheWay, // another region is
	"TransactionInProgressException":   inTheWay,
	"ResourceNotFoundException":        {comment.Unavailable, "the table is not there"},
	"ResourceInUseException":           {comment.Unavailable, "the table is being made or changed; ask again in a moment"},
	"RequestTimeout":                   broken,
	"RequestTimeoutException":          broken,
	// Credentials of a role expire, and the next try has new ones.
	"ExpiredTokenException": {comment.Unavailable, "the table cannot be asked right now; ask again in a moment"},
}

// classify tells what an error of the SDK means to the caller.
func classify(err error) (comment.Kind, string) {
	m := meaningOf(err)
	return m.kind, m.message
}

func meaningOf(err error) meaning {
	var canceled *types.TransactionCanceledException
	var api smithy.APIError
	switch {
	case errors.Is(err, context.Canceled):
		return meaning{comment.Canceled, "the request was canceled"}
	case errors.Is(err, context.DeadlineExceeded):
		return slow
	case errors.As(err, &canceled):
		return meaningOfCancel(canceled)
	case errors.As(err, &api):
		if m := meaningOfCode(api); m != ours {
			return m
		}
	}
	return meaningOfTransport(err)
}

// meaningOfCode is what DynamoDB says. Throttling is told by the SDK's own list of codes.
func meaningOfCode(api smithy.APIError) meaning {
	if m, known := meanings[api.ErrorCode()]; known {
		return m
	}
	switch {
	case throttled(api.ErrorCode()):
		return busy
	case api.ErrorFault() == smithy.FaultServer:
		return broken
	}
	return ours
}

// meaningOfTransport is what is wrong with an answer, or with the lack of one.
func meaningOfTransport(err error) meaning {
	var network net.Error
	var unanswered *smithyhttp.RequestSendError
	var answered *smithyhttp.ResponseError
	switch {
	case errors.As(err, &network) && network.Timeout():
		return slow
	case errors.As(err, &network), errors.As(err, &unanswered):
		return meaning{comment.Unavailable, "the table cannot be reached; ask again in a moment"}
	case unreadable(err), errors.As(err, &answered) && answered.HTTPStatusCode() >= http.StatusInternalServerError:
		return broken
	}
	return ours
}

// Reasons for which DynamoDB cancels a transaction that may go through when it is tried again.
var (
	conflictReasons  = []string{"TransactionConflict"}
	throttledReasons = []string{"ThrottlingError", "ProvisionedThroughputExceeded"}
)

// meaningOfCancel is that of a transaction which was canceled: as long as one of its parts can never be, whatever else is in
// the way does not matter. What a failed condition means is the caller's to say.
func meaningOfCancel(canceled *types.TransactionCanceledException) meaning {
	switch {
	case HasReason(canceled, "ValidationError", "ItemCollectionSizeLimitExceeded", "DuplicateItem", "AccessDenied"):
		return ours
	case HasReason(canceled, conflictReasons...):
		return inTheWay
	case HasReason(canceled, throttledReasons...):
		return busy
	}
	return ours
}

// HasReason tells whether a part of a transaction was refused for one of the reasons. Parts that were not say "None".
func HasReason(canceled *types.TransactionCanceledException, reasons ...string) bool {
	return slices.ContainsFunc(canceled.CancellationReasons, func(reason types.CancellationReason) bool {
		return slices.Contains(reasons, aws.ToString(reason.Code))
	})
}

func throttled(code string) bool {
	_, found := retry.DefaultThrottleErrorCodes[code]
	return found
}

// hadNoEffect tells whether DynamoDB refused a call for what it is, so that nothing was written. That something is at work
// with the same token is no such word: it may be an earlier copy of this very call.
func hadNoEffect(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && meaningOf(err) != broken && api.ErrorCode() != "TransactionInProgressException"
}

// ErrBusy is for a table that answered properly and yet left something out.
var ErrBusy = comment.Errorf(comment.Throttled, "the table is too busy and leaves out a part of every batch; try again later")
