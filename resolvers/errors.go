package resolvers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/comment"
)

// codes is the table from the kind of an error to its extensions.code.
var codes = map[comment.Kind]string{
	comment.Internal:    "INTERNAL",
	comment.BadInput:    "BAD_INPUT",
	comment.BadCursor:   "BAD_CURSOR",
	comment.Throttled:   "THROTTLED",
	comment.Unavailable: "UNAVAILABLE",
	comment.Timeout:     "TIMEOUT",
	comment.Canceled:    "CANCELED",
	comment.NotFound:    "NOT_FOUND",
	comment.Conflict:    "CONFLICT",
	comment.KeyReused:   "KEY_REUSED",

	comment.AlreadyWritten: "ALREADY_WRITTEN",

	comment.Unauthenticated: "UNAUTHENTICATED",
	comment.Forbidden:       "FORBIDDEN",

	comment.TooMuchText: "TOO_MUCH_TEXT",
	comment.TooCostly:   "TOO_COSTLY",
	comment.Overloaded:  "OVERLOADED",
}

// ErrorPresenter returns a function that makes the errors that clients see. An error of a known
// kind shows its text. Any other error becomes INTERNAL with the id of the request of its context,
// and only the log has its text. Errors of gqlgen and gqlparser about the operation are shown
// unchanged.
func ErrorPresenter(logger *slog.Logger, requestID func(context.Context) string) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		if known, ok := errors.AsType[*comment.Error](err); ok {
			if known.Cause != nil && known.Kind != comment.Canceled {
				logger.WarnContext(ctx, "a field failed", "code", codes[known.Kind], "request", requestID(ctx), "error", err)
			}
			return present(ctx, err, known.Message, codes[known.Kind])
		}
		var refused *gqlerror.Error // by gqlgen or gqlparser, about a document, a variable or an argument
		if errors.As(err, &refused) && refused.Err == nil {
			return refused
		}
		kind := comment.KindOf(err)
		if kind != comment.Internal {
			return present(ctx, err, contextText[kind], codes[kind])
		}
		id := requestID(ctx)
		logger.ErrorContext(ctx, "a field failed for an unknown reason", "request", id, "path", graphql.GetPath(ctx).String(), "error", err)
		return present(ctx, err, fmt.Sprintf("internal error; the log of the server has it under request %s", id), codes[comment.Internal])
	}
}

var contextText = map[comment.Kind]string{
	comment.Timeout:  "the answer took too long: ask for less, or try again in a moment",
	comment.Canceled: "the request was canceled",
}

// present returns the error that a client sees. Its path is that of its field: clients look it up
// in the answer. gqlgen's path of a value that cannot be read leads on into the argument, so the
// message names that.
func present(ctx context.Context, err error, message, code string) *gqlerror.Error {
	out := &gqlerror.Error{Message: message, Path: graphql.GetPath(ctx), Extensions: map[string]any{"code": code}}
	if at := graphql.GetFieldContext(ctx); at != nil && at.Field.Field != nil { // an element of a list has none
		err = graphql.AddFieldLocationToError(ctx, err)
	}
	if placed, ok := errors.AsType[*gqlerror.Error](err); ok {
		out.Locations = placed.Locations
		if n := len(out.Path); len(placed.Path) > n {
			out.Message = fmt.Sprintf("argument %s: %s", placed.Path[n:], message)
		}
	}
	return out
}
