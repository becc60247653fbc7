package call

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/metrics"
	"github.com/aws/smithy-go/middleware"
	"github.com/aws/smithy-go/tracing"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// attempts makes the attempts of calls. The SDK's loop decides whether an attempt is followed by
// another, and when. After a success it has nothing to decide, so the first attempt is made before
// the loop. If that fails, the loop begins with its failure.
type attempts struct {
	retryer aws.Retryer
	clock   *atomic.Int64 // by how much DynamoDB's clock is ahead, in nanoseconds
	loop    *retry.Attempt
	first   http.Header // of a first attempt; nil if the loop makes all attempts
}

func newAttempts(options dynamodb.Options, retryer aws.Retryer, clock *atomic.Int64) *attempts {
	blank := func(any) any { return &smithyhttp.Request{Request: &http.Request{Header: http.Header{}}} }
	a := &attempts{retryer: retryer, clock: clock, loop: retry.NewAttemptMiddleware(retryer, blank, func(a *retry.Attempt) {
		a.ClientSkew, a.DisableClockSkewCorrection = clock, options.DisableClockSkewCorrection
		a.OperationMeter = options.MeterProvider.Meter("github.com/aws/aws-sdk-go-v2/service/dynamodb")
	})}
	switch retryer.(type) {
	case *retry.Standard, aws.NopRetryer: // an attempt needs no leave of theirs
		if !watched(options) {
			a.first = http.Header{attemptHeader: {fmt.Sprintf("attempt=1; max=%d", retryer.MaxAttempts())}}
		}
	}
	return a
}

// watched reports whether a client has a tracer or a meter.
func watched(options dynamodb.Options) bool {
	_, noTracer := options.TracerProvider.(*tracing.NopTracerProvider)
	_, noMeter := options.MeterProvider.(metrics.NopMeterProvider)
	return !noTracer || !noMeter
}

// make makes a call, whose attempts one makes. The first may have the memory of a request that is of
// no more use.
func (a *attempts) make(ctx context.Context, request *smithyhttp.Request, one middleware.FinalizeHandler) error {
	if a.first == nil || ctx.Err() != nil || !a.onTime() {
		_, _, err := a.loop.HandleFinalize(ctx, middleware.FinalizeInput{}, one)
		return err
	}
	*request.Request = *(&http.Request{Header: a.first}).WithContext(ctx)
	*request = smithyhttp.Request{Request: request.Request}
	_, metadata, err := one.HandleFinalize(ctx, middleware.FinalizeInput{Request: request})
	if err != nil {
		return a.follow(ctx, one, metadata, err)
	}
	_ = a.retryer.GetInitialToken()(nil) // the retry budget grows by each success
	if skew, told := awsmiddleware.GetAttemptSkew(metadata); told {
		a.clock.Store(int64(skew))
	}
	return nil
}

// onTime reports whether a request can have the time of this machine. If not, the SDK's loop gives it
// the time of DynamoDB. Where that is ahead, the loop also says when the request must end.
func (a *attempts) onTime() bool {
	ahead := time.Duration(a.clock.Load())
	return -ClockTolerance <= ahead && ahead <= 0
}

// follow goes on after a first attempt that failed. The loop does not begin when a context has ended:
// what it makes of a failure then is made here.
func (a *attempts) follow(ctx context.Context, one middleware.FinalizeHandler, failed middleware.Metadata, failure error) error {
	if ended := ctx.Err(); ended != nil {
		if a.retryer.IsErrorRetryable(failure) {
			failure = errors.Join(failure, ended)
		}
		return failure
	}
	made := true
	_, _, err := a.loop.HandleFinalize(ctx, middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(
		func(ctx context.Context, in middleware.FinalizeInput) (middleware.FinalizeOutput, middleware.Metadata, error) {
			if made {
				made = false
				return middleware.FinalizeOutput{}, failed, failure
			}
			return one.HandleFinalize(ctx, in)
		}))
	return err
}
