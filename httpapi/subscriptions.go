package httpapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/internal/edge"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/live"
)

// The errors of subscriptions that the server ends.
var (
	errTooSlow  = &gqlerror.Error{Message: live.ErrSlow.Error(), Extensions: map[string]any{"code": "TOO_SLOW"}}
	errBroken   = &gqlerror.Error{Message: live.ErrBroken.Error(), Extensions: map[string]any{"code": "UNAVAILABLE"}}
	errStopping = &gqlerror.Error{Message: "the server stops: subscribe again", Extensions: map[string]any{"code": "UNAVAILABLE"}}
	errExpired  = &gqlerror.Error{Message: "the token is not valid any more: subscribe again with a new one", Extensions: map[string]any{"code": "UNAUTHENTICATED"}}
)

// onlyEvents reports whether a client accepts server-sent events and no JSON.
func onlyEvents(header http.Header) bool {
	accept := header.Values("Accept")
	events, named := edge.Weight(accept, eventStream.contentType)
	plain, _ := edge.Weight(accept, jsonType)
	graphQL, _ := edge.Weight(accept, graphQLType)
	return named && events > 0 && plain == 0 && graphQL == 0
}

// refusesToken reports whether the token of a request is not valid, or not any more.
func (o *Options) refusesToken(r *http.Request) (refused bool) {
	o.Authenticate(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		refused = o.Subscriptions.TokenRefused(r.Context())
	})).ServeHTTP(nil, r)
	return refused
}

// subscriber begins subscriptions.
type subscriber struct {
	*Options
	executor *executor.Executor
	texts    *usage.Pool
	unsent   *budget
}

// subscribe begins a subscription. If that fails, it returns a response or a refusal.
func (t subscriber) subscribe(ctx context.Context, r *http.Request, operation *graphql.OperationContext) (*graphql.Response, *refusal) {
	known := requestOf(ctx)
	if known.extensions.noPosition {
		return nil, badMember.with("extensions.position", "a string")
	}
	form := streamFormOf(r.Header)
	free, refused := t.Subscriptions.enter(r, form)
	if refused != nil {
		return nil, refused
	}
	position := r.Header.Get("Last-Event-ID") // browsers send it when a stream of events resumes
	inlet := &live.Inlet{From: *cmp.Or(known.extensions.position, &position)}
	defer func() {
		if known.stream != nil {
			return
		}
		free()
		if inlet.Subscription != nil { // something panicked
			inlet.Subscription.Close()
		}
	}()
	respond, ctx := t.executor.DispatchOperation(live.With(ctx, inlet), operation)
	if inlet.Subscription == nil {
		if response := respond(ctx); response != nil {
			return response, nil
		}
		return t.executor.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(context.Cause(ctx))}), nil
	}
	// Operations with equal keys give equal answers to an event.
	key := sha256.Sum256(mustJSON([]any{operation.RawQuery, operation.OperationName, operation.Variables}))
	s := &stream{
		subscriber: t, ctx: context.WithoutCancel(ctx), respond: respond, subscription: inlet.Subscription,
		key: string(key[:]), form: form,
	}
	s.close = sync.OnceFunc(func() { s.subscription.Close(); free(); s.unsent.remove(s.waiting) })
	if !known.socket && !t.Subscriptions.TokenRefused(ctx) { // a socket checks its own
		s.expired = func() bool { return t.refusesToken(r) }
	}
	known.stream = s
	return nil, nil
}

// stream is a subscription that has begun. It implements [streamSource].
type stream struct {
	subscriber
	ctx          context.Context // the context of the operation, but not canceled with it
	respond      graphql.ResponseHandler
	subscription *live.Subscription
	key          string
	form         *streamForm // nil over a socket
	expired      func() bool // nil if the stream need not check the token
	close        func()
	waiting      *held // the answer that was built for this stream, until the client has it
}

// Close implements [streamSource].
func (s *stream) Close() { s.close() }

// Position implements [streamSource].
func (s *stream) Position() string { return s.subscription.Position() }

// Next implements [streamSource]. Subscribers with equal operations share an answer.
func (s *stream) Next(ctx context.Context) (streamAnswer, error) {
	s.unsent.remove(s.waiting)
	delivery, err := s.subscription.Next(ctx)
	switch {
	case errors.Is(err, live.ErrSlow):
		return streamAnswer{}, endBy(errTooSlow)
	case errors.Is(err, live.ErrBroken):
		return streamAnswer{}, endBy(errBroken)
	case err != nil:
		return streamAnswer{}, err
	}
	own := false
	answer := delivery.Once(s.key, func() (any, int) { own = true; return s.build(delivery) }).(streamAnswer)
	if answer.Data == nil {
		return streamAnswer{}, &streamEnd{Errors: answer.Errors}
	}
	if own {
		to := s.Connections.of(s.ctx)
		if s.waiting = s.unsent.add(&to.unread, len(answer.Data), to.hangUp); s.waiting == nil {
			return streamAnswer{}, context.Canceled // the connection was closed to make room
		}
	}
	answer.Position = delivery.Position
	s.Subscriptions.sent.Add(1)
	return answer, nil
}

// build executes the operation for an event. It returns the size of an answer that is shared, as
// one with errors is not.
func (s *stream) build(delivery live.Delivery) (answer any, bytes int) {
	account := s.texts.Open(s.Limits.TextBytes)
	defer account.Close()
	ctx := usage.With(s.ctx, account)
	defer func() {
		if cause := recover(); cause != nil {
			err := s.executor.PresentRecoveredError(ctx, cause)
			answer, bytes = streamAnswer{Errors: mustJSON(gqlerror.List{gqlerror.WrapIfUnwrapped(err)})}, 0
		}
	}()
	s.subscription.Offer(delivery)
	response := s.respond(ctx)
	if response == nil {
		return streamAnswer{Errors: mustJSON(gqlerror.List{errBroken})}, 0
	}
	response.Data = slices.Clone(response.Data) // gqlgen uses the buffer again
	if len(response.Errors) == 0 {
		bytes = len(response.Data)
	}
	return answerOf(response), bytes
}

// answerOf returns a response in parts. Its data is JSON already, and by far the largest part, so
// it is not encoded again. The data is absent, not null, when the operation was refused before it
// ran.
func answerOf(response *graphql.Response) streamAnswer {
	answer := streamAnswer{Data: response.Data}
	if len(response.Errors) > 0 {
		answer.Errors = mustJSON(response.Errors)
	}
	if len(response.Extensions) > 0 {
		answer.Extensions = mustJSON(response.Extensions)
	}
	return answer
}

// endBy ends a stream with an error.
func endBy(err *gqlerror.Error) *streamEnd {
	return &streamEnd{Errors: mustJSON(gqlerror.List{err})}
}

// send answers a request with the stream, once nothing else is held for it. A HEAD gets the header
// alone.
func (s *stream) send(w http.ResponseWriter, r *http.Request, stopping context.Context) {
	defer s.Close()
	known := requestOf(r.Context())
	if e := known.exchange; e != nil {
		e.Took = time.Since(e.Began)
	}
	if known.head {
		w.Header().Set("Content-Type", s.form.contentType)
		return
	}
	s.form.send(r.Context(), stopping, w, s, s.Subscriptions.Timing, func(stopping context.Context) *streamEnd {
		switch {
		case stopping.Err() != nil:
			return endBy(errStopping)
		case s.expired != nil && s.expired():
			return endBy(errExpired)
		}
		return nil
	})
}

var _ streamSource = (*stream)(nil)
