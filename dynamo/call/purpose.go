package call

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
)

// Purposes of calls beside those of a page's plan, for the client of a component.
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

// For returns a client like another one, whose calls are for a purpose unless their context has one.
// Of several, the last one counts: its middleware comes first. A client that is not the SDK's is returned as it is.
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

// WithPurpose returns a context whose calls are for a purpose, whatever that of their client is.
func WithPurpose(ctx context.Context, purpose string) context.Context {
	return context.WithValue(ctx, purposeKey{}, purpose)
}

// purposeOf returns the purpose of calls with a context, empty for none.
func purposeOf(ctx context.Context) string {
	purpose, _ := ctx.Value(purposeKey{}).(string)
	return purpose
}
