package limits

import (
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
)

// extension is the name under which gqlgen keeps the account with its operation.
const extension = "Limits"

// account counts what one operation uses.
type account struct {
	units int          // read units, estimated
	bytes atomic.Int64 // of the texts in the answer so far
}

// accountOf returns the account of the operation of a context, nil if it was refused before it had
// one.
func accountOf(ctx context.Context) *account {
	a, _ := graphql.GetOperationContext(ctx).Stats.GetExtension(extension).(*account)
	return a
}
