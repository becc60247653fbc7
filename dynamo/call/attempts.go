package call

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// attempts makes the attempts of calls. The SDK's loop decides whether an attempt is followed by
// another, and when. After a success it has nothing to decide, so the first attempt is made before
// the loop. If that fails, the loop begins with its failure.
type attempts struct {
	*shared
	retryer aws.Retryer
	loop    *retry.Attempt
	first   http.Header // of a first attempt; nil if the loop makes all attempts
}

func (c *shared) attempts(retryer aws.Retryer) *attempts {
	blank := func(any) any { return &smithyhttp.Request{Request: &http.Request{Header: http.Header{}}} }
	a := &attempts{shared: c, retryer: retryer, loop: retry.NewAttemptMiddleware(retryer, blank, func(a *retry.Attempt) {
		a.ClientSkew, a.DisableClockSkewCorrection = c.clock, c.options.DisableClockSkewCorrection
		a.OperationMeter = c.options.MeterProvider.Meter("github.com/aws/aws-sdk-go-v2/service/dynamodb")
	})}
	switch retryer.(type) {
	case *retry.Standard, aws.NopRetryer: // an attempt needs no leave of theirs
		if !c.observed() {
			a.first = http.Header{attemptHeader: {fmt.Sprintf("attempt=1; max=%d", retryer.MaxAttempts())}}
		}
	}
	return a
}

// make makes a call.
func (a *attempts) make(ctx context.Context, e *leanRead) error {
	if a.first == nil || ctx.Err() != nil || !a.onTime() {
		_, _, err := a.loop.HandleFinalize(ctx, middleware.FinalizeInput{}, e)
		return err
	}
	request := &smithyhttp.Request{Request: (&http.Request{Header: a.first}).WithContext(ctx)}
	_, metadata, err := e.HandleFinalize(ctx, middleware.FinalizeInput{Request: request})
	if err != nil {
		return a.follow(ctx, e, metadata, err)
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
func (a *attempts) follow(ctx context.Context, e *leanRead, failed middleware.Metadata, failure error) error {
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
			return e.HandleFinalize(ctx, in)
		}))
	return err
}
