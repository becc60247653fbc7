package call

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Wrap adds the name of the call that failed to an error, and gives it a kind unless it has one. It
// returns nil for nil.
func Wrap(err error, call string, args ...any) error {
	if err == nil {
		return nil
	}
	where := fmt.Sprintf(call, args...)
	if errors.As(err, new(*comment.Error)) {
		return fmt.Errorf("%s: %w", where, err)
	}
	m := meaningOf(err)
	if m == ours {
		return fmt.Errorf("%s: %w", where, err)
	}
	return &comment.Error{Kind: m.kind, Message: m.message, Cause: fmt.Errorf("%s: %w", where, err)}
}

// meaning is the kind and the message of an error for the caller of the API.
type meaning struct {
	kind    comment.Kind
	message string
}

var (
	busy     = meaning{comment.Throttled, "the table is too busy; ask again in a moment"}
	inTheWay = meaning{comment.Throttled, "another write was in the way; try again"}
	slow     = meaning{comment.Timeout, "the table took too long to answer; ask for less, or again in a moment"}
	broken   = meaning{comment.Unavailable, "the table does not answer properly; ask again in a moment"}
	// full is an error of a local engine, which then has written nothing.
	full = meaning{comment.Unavailable, "the disk of the table is full, and nothing can be written: make room there"}
	// ours is an error in the request itself: a retry fails the same way.
	ours = meaning{kind: comment.Internal}
)

// meanings has the error codes whose meaning follows neither from the SDK's list of throttling
// codes nor from the fault (client or server). Every other code of a refused request is an error of
// ours or of the account: missing permissions, wrong credentials, an invalid request.
// TestWhatErrorsMean lists all codes.
var meanings = map[string]meaning{
	"TransactionConflictException":     inTheWay, // a transaction is changing the item
	"ReplicatedWriteConflictException": inTheWay, // another region is changing it
	"TransactionInProgressException":   inTheWay,
	"ResourceNotFoundException":        {comment.Unavailable, "the table does not exist"},
	"ResourceInUseException":           {comment.Unavailable, "the table is being made or changed; ask again in a moment"},
	"RequestTimeout":                   broken,
	"RequestTimeoutException":          broken,
	// Credentials of a role expire. The next try has new ones.
	"ExpiredTokenException": {comment.Unavailable, "the table cannot be asked right now; ask again in a moment"},
}

func meaningOf(err error) meaning {
	var api smithy.APIError
	switch {
	case errors.Is(err, context.Canceled):
		return meaning{comment.Canceled, "the request was canceled"}
	case errors.Is(err, context.DeadlineExceeded):
		return slow
	// One part of a canceled transaction that can never succeed outweighs conflicts of the other
	// parts.
	case HasReason(err, "ValidationError", "ItemCollectionSizeLimitExceeded", "DuplicateItem", "AccessDenied"):
		return ours
	case HasReason(err, "TransactionConflict"):
		return inTheWay
	case HasReason(err, throttledReasons...):
		return busy
	case errors.As(err, new(*types.TransactionCanceledException)): // the caller knows what a failed condition means
		return ours
	case errors.As(err, &api):
		m, known := meanings[api.ErrorCode()]
		switch {
		case known:
		case throttled(api.ErrorCode()):
			m = busy
		case api.ErrorFault() != smithy.FaultServer:
			m = ours
		case strings.Contains(api.ErrorMessage(), diskFull):
			m = full
		default:
			m = broken
		}
		if m != ours {
			return m
		}
	}
	// There may be no answer, or an unreadable one.
	var network net.Error
	var answered *smithyhttp.ResponseError
	switch {
	case errors.As(err, &network) && network.Timeout():
		return slow
	case errors.As(err, &network), errors.As(err, new(*smithyhttp.RequestSendError)):
		return meaning{comment.Unavailable, "the table cannot be reached; ask again in a moment"}
	case unreadable(err), errors.As(err, &answered) && answered.HTTPStatusCode() >= http.StatusInternalServerError:
		return broken
	}
	return ours
}

// throttledReasons has the reasons with which DynamoDB cancels a throttled transaction.
var throttledReasons = []string{"ThrottlingError", "ProvisionedThroughputExceeded"}

// diskFull is in the error of SQLite, and so of the local engine, if the disk is full. SQLite has
// then rolled back the transaction. https://www.sqlite.org/lang_transaction.html
const diskFull = "database or disk is full"

// HasReason reports whether a part of a canceled transaction was refused for one of the reasons.
// Parts that were not refused have the reason "None".
func HasReason(err error, reasons ...string) bool {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	return ok && slices.ContainsFunc(canceled.CancellationReasons, func(reason types.CancellationReason) bool {
		return slices.Contains(reasons, aws.ToString(reason.Code))
	})
}

// CodeOf returns DynamoDB's code of an error, empty if it has none.
func CodeOf(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorCode()
	}
	return ""
}

// Refused reports whether a write was refused because its condition, or that of a part of its
// transaction, did not hold.
func Refused(err error) bool {
	_, refused := FoundInstead(err)
	return refused || HasReason(err, "ConditionalCheckFailed")
}

// Done reports whether a write with a condition happened. That the condition did not hold is no
// error: another write came first.
func Done(err error) (bool, error) {
	if Refused(err) {
		return false, nil
	}
	return err == nil, err
}

// FoundInstead returns the stored item if the condition of a write did not hold. It is nil if there
// is none, or if the write did not set ReturnValuesOnConditionCheckFailure.
func FoundInstead(err error) (there layout.Item, refused bool) {
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return failed.Item, true
	}
	return nil, false
}

// throttled reports whether DynamoDB throttles with a code. The SDK has the list.
func throttled(code string) bool {
	_, found := retry.DefaultThrottleErrorCodes[code]
	return found
}

// ErrBusy is the error of a batch in which DynamoDB left items unprocessed after all retries.
var ErrBusy = comment.Errorf(comment.Throttled, "the table is too busy and leaves out a part of every batch; try again later")

// Transient reports whether the same call can succeed later. An answer that cannot be read was
// damaged on its way.
func Transient(err error) bool {
	if errors.As(err, new(*types.ResourceNotFoundException)) {
		return false
	}
	switch comment.KindOf(err) {
	case comment.Throttled, comment.Unavailable, comment.Timeout:
		return true
	}
	return unreadable(err)
}

// unreadable reports whether an answer came but could not be read.
func unreadable(err error) bool {
	return errors.As(err, new(*smithy.DeserializationError))
}
