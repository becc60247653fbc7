package call

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
)

// stage is the point that a call has reached when its context ends.
type stage struct {
	name string
	// stop makes each call stop at this point.
	stop     func(p *peer, options *dynamodb.Options)
	requests int
}

var stages = []stage{
	{name: "credentials are fetched", stop: func(_ *peer, o *dynamodb.Options) { o.Credentials = stuck{} }},
	{name: "the connection is made", stop: func(p *peer, _ *dynamodb.Options) { p.dialing = untilTimeout }},
	{name: "the request is written", stop: func(p *peer, _ *dynamodb.Options) { p.deaf = true }},
	{name: "nothing has come yet", stop: stopAt(func(_ *peer, r *received) bool { return r.hold() }), requests: 1},
	{name: "half a head has come", stop: stopAt(func(_ *peer, r *received) bool { return r.write("HTTP/1.1 200 OK\r\nConten") && r.hold() }), requests: 1},
	{name: "a head has come", stop: stopAt(func(p *peer, r *received) bool { return r.write(p.head(200, 100)) && r.hold() }), requests: 1},
	{name: "half a body has come", stop: stopAt(func(p *peer, r *received) bool { return r.write(p.head(200, 200)+half(oneItem(r))) && r.hold() }), requests: 1},
	{name: "half a body without a length has come", stop: stopAt(func(p *peer, r *received) bool { return r.write(p.head(200, -1)+half(oneItem(r))) && r.hold() }), requests: 1},
	{name: "half an error has come", stop: stopAt(func(p *peer, r *received) bool { return r.write(p.head(400, 200)+`{"__type`) && r.hold() }), requests: 1},
	{name: "a retry waits", stop: func(p *peer, o *dynamodb.Options) {
		stopAt(fails(500, "InternalServerError"))(p, o)
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return time.Hour, nil })
		})
	}, requests: 1},
}

// stopAt makes a peer answer with a function.
func stopAt(answer func(*peer, *received) bool) func(*peer, *dynamodb.Options) {
	return func(p *peer, _ *dynamodb.Options) { p.answer = func(r *received) bool { return answer(p, r) } }
}

// stuck is a provider whose credentials never arrive.
type stuck struct{}

// Retrieve implements [aws.CredentialsProvider].
func (stuck) Retrieve(ctx context.Context) (aws.Credentials, error) {
	return aws.Credentials{}, untilEnd(ctx)
}

func untilEnd(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// untilTimeout waits like a dialer. The transport lets it continue, so that the next call can use
// the connection.
func untilTimeout(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return untilEnd(ctx)
}

// A call whose context ends returns at once, at whichever point. It leaves no connection, no
// goroutine and no room behind.
func TestCallsEndWithTheirContext(t *testing.T) {
	for _, stage := range stages {
		for _, operation := range operations {
			stage.check(t, operation, comment.Canceled)
			stage.check(t, operation, comment.Timeout)
		}
	}
}

// check stops a call at the stage, and then cancels it or lets its deadline pass.
func (s stage) check(t *testing.T, operation string, ending comment.Kind) {
	withPeer(t, func(t *testing.T, p *peer) {
		options := p.options()
		s.stop(p, &options)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began, returned := time.Now(), make(chan outcome, 1)
		go func() { returned <- ask(ctx, dynamodb.New(options), operation) }()
		want := time.Second
		if ending == comment.Canceled {
			want = time.Second / 10
			time.Sleep(want)
			cancel()
		}
		got := <-returned
		if took := time.Since(began); took != want {
			t.Errorf("%s, %s: returned after %v, want %v", s.name, operation, took, want)
		}
		requests, _, _ := p.seen()
		if got.kind != ending || requests != s.requests || got.message == "" {
			t.Errorf("%s, %s: %s after %d requests (%v), want %s after %d", s.name, operation, kinds[got.kind], requests, got.err, kinds[ending], s.requests)
		}
	})
}

// A client that hedges sends a second request when an answer is late, and ends the late call.
func TestCallsAreHedged(t *testing.T) {
	for _, operation := range operations {
		withPeer(t, func(t *testing.T, p *peer) {
			late := 0
			p.answer = func(r *received) bool {
				if r.number == late {
					return r.hold()
				}
				time.Sleep(time.Millisecond)
				return p.ok(r, oneItem(r))
			}
			client := Hedged(p.client())
			for range hedgeLearning {
				ask(t.Context(), client, operation)
			}
			late = hedgeLearning + 1
			began := time.Now()
			got := ask(t.Context(), client, operation)
			requests, _, _ := p.seen()
			if took := time.Since(began); got.failed || requests != late+1 || took > 5*time.Millisecond {
				t.Errorf("%s: %s (%v) after %v and %d requests", operation, got, got.err, took, requests-hedgeLearning)
			}
		})
	}
}

// A call whose answer begins and never ends is given up, also by a caller that sets no bound.
func TestAnswerThatNeverEnds(t *testing.T) {
	for _, operation := range operations {
		withPeer(t, func(t *testing.T, p *peer) {
			p.answer = func(r *received) bool { return r.write(p.head(200, 100)+"{") && r.hold() }
			began := time.Now()
			got := ask(t.Context(), p.client(), operation)
			if took := time.Since(began); got.kind != comment.Timeout || took > maxAttempts*(answerWithin+maxBackoff) {
				t.Errorf("%s: %s after %v (%v)", operation, kinds[got.kind], took, got.err)
			}
		})
	}
}
