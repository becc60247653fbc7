package main

import (
	"context"
	"time"

	"github.com/talkback/talkback/httpapi/gateway"
)

// api is the function that answers HTTP requests. It implements lambda.Handler.
type api struct {
	gateway *gateway.Gateway
	flush   func(context.Context)
}

// sendWithin is the part of an invocation's time that is reserved for sending the answer to Lambda.
const sendWithin = 200 * time.Millisecond

// Invoke answers an event. It sends metrics and traces before it returns.
func (a api) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	answer, err := a.gateway.Invoke(ctx, payload)
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-sendWithin))
		defer cancel()
	}
	a.flush(ctx)
	return answer, err
}
