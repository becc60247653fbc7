package command

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// refusals say in words what the codes of AWS mean by which calls are refused whatever is in the table.
var refusals = []struct {
	codes []string
	text  string
}{
	{
		[]string{"UnrecognizedClientException", "InvalidSignatureException", "MissingAuthenticationTokenException", "IncompleteSignatureException", "InvalidClientTokenId"},
		"the credentials are not accepted: give others by AWS_PROFILE, or by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
	},
	{[]string{"ExpiredTokenException", "ExpiredToken"}, "the credentials have expired: log in again, or give others"},
	{[]string{"AccessDeniedException", "AccessDenied"}, "the credentials do not allow it: grant the permissions that docs/operate/aws.md names"},
}

// plainly is the text of an error for people. What the SDK says of a call, with ids and names of its own types, becomes the
// code and what it means; where that is not known, the log has the whole.
func plainly(err error, log *slog.Logger) string {
	text := err.Error()
	for _, call := range failedCalls(err) {
		raw := call.Error()
		if strings.Contains(text, raw) {
			words, known := callText(call)
			text = strings.ReplaceAll(text, raw, words)
			if !known {
				log.Error("a call to the engine failed", "error", raw)
			}
		}
	}
	return text
}

// failedCalls are the calls of the SDK that an error is about.
func failedCalls(err error) []*smithy.OperationError {
	if call, ok := err.(*smithy.OperationError); ok {
		return []*smithy.OperationError{call}
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		if inner := wrapper.Unwrap(); inner != nil {
			return failedCalls(inner)
		}
	case interface{ Unwrap() []error }:
		var all []*smithy.OperationError
		for _, inner := range wrapper.Unwrap() {
			all = append(all, failedCalls(inner)...)
		}
		return all
	}
	return nil
}

// notAnEngine is the code that the SDK makes up for an answer which names none.
const notAnEngine = "UnknownError"

// isRefusal tells whether an engine answered, and refused.
func isRefusal(call *smithy.OperationError) bool {
	var api smithy.APIError
	return errors.As(call, &api) && api.ErrorCode() != notAnEngine
}

// callText says why a call failed, and tells whether that says all.
func callText(call *smithy.OperationError) (text string, known bool) {
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	switch {
	case isRefusal(call):
		errors.As(call, &api)
	case errors.As(call, &response) && response.HTTPStatusCode() != 0:
		return fmt.Sprintf("what answers is no DynamoDB-compatible engine, HTTP status %d", response.HTTPStatusCode()), true
	default:
		return innermost(call).Error(), true
	}
	for _, refusal := range refusals {
		if slices.Contains(refusal.codes, api.ErrorCode()) {
			return fmt.Sprintf("%s (%s of %s)", refusal.text, api.ErrorCode(), call.Operation()), true
		}
	}
	return fmt.Sprintf("the engine refused %s: %s", call.Operation(), api.ErrorCode()), false
}

// innermost is the error that all the others are about: what is left when nobody is told who called whom.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
