package call

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// Purposes of calls for clients of components. Plans of pages have their own.
const (
	ForComments     = "COMMENT"
	ForStatistics   = "STATISTICS"
	ForLeaderboards = "LEADERBOARD"
	ForPageNumbers  = "PAGE_NUMBERS"
	ForCounting     = "COUNTING"
	ForLeases       = "LEASE"
	ForOutbox       = "OUTBOX"
	ForRebuild      = "REBUILD"
	ForMaintenance  = "MAINTENANCE"
)

// For returns a copy of a client whose calls have a purpose, unless their context has one. If For is applied
// repeatedly, the last purpose counts, because its middleware comes first. It returns a client that is not the SDK's as
// it is.
func For[C any](client C, purpose string) C {
	sdk, ok := any(client).(*dynamodb.Client)
	if !ok {
		return client
	}
	label := func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if purposeOf(ctx) == "" {
			ctx = WithPurpose(ctx, purpose)
		}
		return next.HandleInitialize(ctx, in)
	}
	labelled := dynamodb.New(sdk.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Purpose", label), middleware.Before)
		})
	})
	return any(labelled).(C)
}

type purposeKey struct{}

// WithPurpose returns a context whose calls have a purpose, regardless of that of their client.
func WithPurpose(ctx context.Context, purpose string) context.Context {
	return context.WithValue(ctx, purposeKey{}, purpose)
}

// purposeOf returns the purpose of calls with a context; empty if it has none.
func purposeOf(ctx context.Context) string {
	purpose, _ := ctx.Value(purposeKey{}).(string)
	return purpose
}
