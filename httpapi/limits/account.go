package limits

import (
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/graph/lookahead"
)

// extension is the name under which gqlgen keeps the account with its operation.
const extension = "Limits"

// account counts what one operation uses.
type account struct {
	units int          // read units, estimated
	bytes atomic.Int64 // of the texts in the answer so far
}

// Steady reports whether the answer to an operation stays the same for as long as the products do not
// change that it names.
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
