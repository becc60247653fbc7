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

// refusals explain the error codes by which AWS refuses every call.
var refusals = []struct {
	codes []string
	text  string
}{
	{
		[]string{"UnrecognizedClientException", "InvalidSignatureException", "MissingAuthenticationTokenException", "IncompleteSignatureException", "InvalidClientTokenId"},
		"AWS does not accept the credentials: give others by AWS_PROFILE, or by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
	},
	{[]string{"ExpiredTokenException", "ExpiredToken"}, "the credentials have expired: log in again, or give others"},
	{[]string{"AccessDeniedException", "AccessDenied"}, "the credentials lack a permission: grant the permissions that docs/operate/aws.md names"},
}

// plainly returns the text of an error for people. Errors of the SDK, with request ids and type
// names, become the error code and what it means. An error whose meaning is unknown is also logged
// in full.
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

// failedCalls returns the calls of the SDK that an error is about.
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

// notAnEngine is the code that the SDK uses for a response without one.
const notAnEngine = "UnknownError"

// isRefusal reports whether an engine answered and refused the call.
func isRefusal(call *smithy.OperationError) bool {
	var api smithy.APIError
	return errors.As(call, &api) && api.ErrorCode() != notAnEngine
}

// callText says why a call failed, and reports whether that is everything to know.
func callText(call *smithy.OperationError) (text string, known bool) {
	var api smithy.APIError
	var response *smithyhttp.ResponseError
	switch {
	case isRefusal(call):
		errors.As(call, &api)
	case errors.As(call, &response) && response.HTTPStatusCode() != 0:
		return fmt.Sprintf("the server there is not a DynamoDB-compatible engine, HTTP status %d", response.HTTPStatusCode()), true
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

// innermost returns the innermost wrapped error.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
