package limits

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/internal/usage"
)

// sized is a value that writes itself with all its texts, so that its bytes are counted at once.
type sized interface {
	// Size returns how many bytes are written, or fewer.
	Size() int
}

// InterceptField implements [graphql.FieldInterceptor]. It counts the bytes of a field's value,
// which may be hundreds of kilobytes. Once the answer is too large, it leaves texts out, so that
// the answer is never built in memory; InterceptResponse then answers with an error. A field fails
// if the operation or the process has no memory left for its text, or if a variable gives null to a
// non-null argument.
func (g *Guard) InterceptField(ctx context.Context, next graphql.Resolver) (any, error) {
	argument, variable := lookahead.NullGiven(graphql.GetFieldContext(ctx).Field.Field, graphql.GetOperationContext(ctx).Variables)
	if variable != "" {
		return nil, comment.Errorf(comment.BadInput,
			"the variable $%.40s is null, which %s cannot be: give a value, or leave the variable out to get its default", variable, argument)
	}
	value, err := next(ctx)
	if err != nil {
		return value, err
	}
	var size int  // lower bound of the value's bytes in the answer, 0 for a small value
	var empty any // replaces the value if that is left out
	switch v := value.(type) {
	case string:
		size, empty = len(v), ""
	case *string:
		if v != nil {
			size, empty = len(*v), (*string)(nil)
		}
	case sized:
		size, empty = v.Size(), graphql.Null
	}
	if size == 0 {
		return value, nil
	}
	a := accountOf(ctx)
	if a == nil {
		return value, nil
	}
	if int(a.bytes.Add(int64(size))) > g.Limits.AnswerBytes {
		return empty, nil
	}
	return value, usage.From(ctx).Hold(size)
}

// CostExtension is the name of the extension in which an answer reports its Cost.
const CostExtension = "cost"

// InterceptResponse implements [graphql.ResponseInterceptor]. It bounds an answer: its data, the
// number of its errors and their lengths. If the operation may read anything, the answer reports
// the estimated and the actual cost.
func (g *Guard) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	a, operation := accountOf(ctx), graphql.GetOperationContext(ctx).Operation
	ofMany := a != nil && operation != nil && operation.Operation == ast.Subscription
	if ofMany {
		a.bytes.Store(0) // each event has an answer
	}
	response := next(ctx)
	if response == nil {
		return nil // the time of the operation is over
	}
	g.Await(ctx)
	if a != nil {
		if size := max(int(a.bytes.Load()), len(response.Data)); size > g.Limits.AnswerBytes {
			response.Data = []byte("null")
			response.Errors = gqlerror.List{refuse(AnswerTooManyBytes, size, g.Limits.AnswerBytes)}
		}
	}
	response.Errors = g.Limits.shorten(response.Errors)
	if a != nil && a.units > 0 && !ofMany {
		used := usage.From(ctx).Units()
		cost := Cost{EstimatedReadUnits: a.units, Limit: g.Limits.ReadUnits, ReadUnits: used, UsedReadUnits: used}
		if remaining, resetAt, known := g.Left(ctx); known {
			cost.Remaining, cost.ResetAt = &remaining, resetAt.UTC().Format(time.RFC3339)
		}
		response.Extensions = map[string]any{CostExtension: cost}
	}
	return response
}

// Cost is the report of an operation's cost in its answer. Its members are sorted by name.
type Cost struct {
	// EstimatedReadUnits is the charge before the operation ran, Limit the highest charge for an
	// operation.
	EstimatedReadUnits int `json:"estimatedReadUnits"`
	Limit              int `json:"limit"`
	// ReadUnits and UsedReadUnits are the units that it consumed.
	ReadUnits float64 `json:"readUnits"`
	// Remaining is how many units the client has left, and ResetAt when it has all of them again. Both
	// are set if the client is limited.
	Remaining     *int    `json:"remaining,omitempty"`
	ResetAt       string  `json:"resetAt,omitempty"`
	UsedReadUnits float64 `json:"usedReadUnits"`
}

// shorten keeps the first errors, and shortens their messages and paths.
func (l Limits) shorten(errs gqlerror.List) gqlerror.List {
	count := len(errs)
	if count > l.Errors {
		errs = append(errs[:l.Errors:l.Errors], refuse(TooManyErrors, count, l.Errors))
	}
	for _, err := range errs {
		err.Message = cut(err.Message, l.ErrorBytes)
		for i, element := range err.Path {
			if name, ok := element.(ast.PathName); ok {
				err.Path[i] = ast.PathName(cut(string(name), l.NameBytes))
			}
		}
	}
	return errs
}

// cut shortens a text to at most length bytes, between characters, and adds an ellipsis.
func cut(text string, length int) string {
	if len(text) <= length {
		return text
	}
	for length > 0 && !utf8.RuneStart(text[length]) {
		length--
	}
	return strings.ToValidUTF8(text[:length], "�") + "…"
}
