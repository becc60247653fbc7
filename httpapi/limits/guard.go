package limits

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/talkback/talkback/graph/lookahead"
)

// Guard applies the limits to each operation. It is an extension of gqlgen's executor, and must be
// the first one that reads operations. All functions are required.
type Guard struct {
	// Limits are the bounds. Required, and valid.
	Limits Limits
	// Documents is the server's own cache of validated documents. Required.
	Documents graphql.Cache[*ast.QueryDocument]
	// NoIntrospection refuses introspection. Otherwise the guard allows it.
	NoIntrospection bool
	// Charge charges the client in the context for an operation: its estimated read units, and the
	// comments that it writes. It returns an error if the client has too little left.
	Charge func(ctx context.Context, units float64, writes int) *gqlerror.Error
	// Left returns how many read units the client has left after the operation in the context, and
	// when it has all of them again. known is false if the answer must not show it.
	Left func(context.Context) (remaining int, resetAt time.Time, known bool)
	// Await waits for all reads that the operation in the context has begun.
	Await func(context.Context)

	reader   *lookahead.Reader
	averages map[*ast.FieldDefinition]float64
}

var _ interface {
	graphql.HandlerExtension
	graphql.OperationParameterMutator
	graphql.OperationContextMutator
	graphql.FieldInterceptor
	graphql.ResponseInterceptor
} = (*Guard)(nil)

// ExtensionName implements graphql.HandlerExtension.
func (*Guard) ExtensionName() string { return extension }

// Validate implements graphql.HandlerExtension.
func (g *Guard) Validate(schema graphql.ExecutableSchema) error {
	g.reader = lookahead.NewReader(schema.Schema())
	g.averages = averages(schema.Schema())
	return g.Limits.Validate()
}

// MutateOperationParameters checks variables, text and document, in this order, before the server
// parses and validates the text. It skips the text of a document that was validated before. Another
// document is parsed here and once more by the server, which costs some 30 µs once per document.
func (g *Guard) MutateOperationParameters(ctx context.Context, request *graphql.RawParams) *gqlerror.Error {
	if err := g.Limits.CheckVariables(request.Variables); err != nil {
		return err
	}
	if _, known := g.Documents.Get(ctx, request.Query); known {
		return nil
	}
	return g.Limits.CheckQuery(request.Query)
}

// CheckQuery refuses a query that would cost too much to parse or to validate. It returns nil for a
// text that cannot be parsed.
func (l Limits) CheckQuery(text string) *gqlerror.Error {
	s := scan(text) // takes time in proportion to its length, which the transport bounds
	if err := cmp.Or(
		atMost(TooManyTokens, s.tokens, l.Tokens),
		atMost(NestedTooDeep, s.nesting, l.Nesting),
		atMost(NameTooLong, s.name, l.NameBytes),
	); err != nil {
		return err
	}
	doc, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		return nil //nolint:nilerror // the server parses it again and reports the error
	}
	return l.checkDocument(doc)
}

// MutateOperationContext analyses the operation and checks its estimated cost, before anything is
// read from the table.
func (g *Guard) MutateOperationContext(ctx context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	operation.DisableIntrospection = g.NoIntrospection
	cost, read := estimate{averages: g.averages}, g.reader.Read(operation)
	if g.NoIntrospection {
		if err := checkIntrospection(read.Fields); err != nil {
			return err
		}
	}
	cost.fields(read.Fields, place{times: 1, products: 1})
	if operation.Operation.Operation == ast.Subscription {
		// Validation does not find all that have none, or two: it counts a skipped field, and counts a
		// field under two names once.
		if n := len(read.Fields); n != 1 {
			err := gqlerror.Errorf("a subscription has exactly one root field, and this one has %d: ask for one field under one name, and do not skip it", n)
			errcode.Set(err, errcode.ValidationFailed)
			return err
		}
		if err := checkEvents(read.Fields); err != nil {
			return err
		}
	}
	operation.Stats.SetExtension(extension, &account{units: ceiling(cost.units)})
	if err := cmp.Or(
		atMost(TooComplex, ceiling(cost.units), g.Limits.ReadUnits),
		atMost(AnswerTooLarge, ceiling(cost.values), g.Limits.AnswerValues),
	); err != nil {
		return err
	}
	writes := 0 // how many comments it adds, edits and deletes
	for i := range read.Fields {
		if read.Fields[i].Kind == lookahead.Write {
			writes++
		}
	}
	return g.Charge(ctx, cost.units, writes)
}

// extension is the key of the account in gqlgen's operation context.
const extension = "Limits"

// account counts what one operation uses.
type account struct {
	units int          // read units, estimated
	bytes atomic.Int64 // of the texts in the answer so far
}

// Steady reports whether the answer to an operation stays the same until one of the products that
// it names changes.
func Steady(operation *graphql.OperationContext) bool {
	read := lookahead.Of(operation)
	return read != nil && read.Steady()
}

// accountOf returns the account of the operation of a context, nil if it was refused before it had
// one.
func accountOf(ctx context.Context) *account {
	a, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(extension).(*account)
	return a
}
