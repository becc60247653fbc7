package live

import (
	"cmp"
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
)

// CommentEvents subscribes to changes of the comments of a product that pass a filter.
func (h *Hub) CommentEvents(ctx context.Context, product string, filter comment.Filter) (<-chan *comment.Event, error) {
	s := h.newSubscription(topic{product: product})
	s.filter, s.events = filter, make(chan *comment.Event, 1)
	return s.events, h.subscribe(ctx, s, func(ctx context.Context, until outbox.Position) error { return h.resume(ctx, s, until) })
}

// Stats subscribes to the statistics of a product. The first delivery has the current ones.
func (h *Hub) Stats(ctx context.Context, product string) (<-chan *comment.Statistics, error) {
	s := h.newSubscription(topic{product, true})
	s.counts = make(chan *comment.Statistics, 1)
	return s.counts, h.subscribe(ctx, s, func(ctx context.Context, _ outbox.Position) error {
		counts, failed, err := h.readStats(ctx, []string{product})
		if err = cmp.Or(err, failed[product]); err != nil {
			return err
		}
		s.begin(Delivery{value: counts[product]})
		return nil
	})
}

// subscribe adds a subscription, and calls begin with the position after which it gets every event.
func (h *Hub) subscribe(ctx context.Context, s *Subscription, begin func(ctx context.Context, until outbox.Position) error) error {
	inlet, ok := ctx.Value(inletKey{}).(*Inlet)
	if !ok {
		return comment.Errorf(comment.BadInput, "this request cannot be answered as a stream")
	}
	if !s.topic.stats && inlet.From != "" {
		var err error
		if s.from, err = outbox.ParsePosition(inlet.From); err != nil {
			return err
		}
	}
	defer func() {
		if inlet.Subscription != s { // it was refused, or something panicked
			h.leave(s)
		}
	}()
	until, err := h.join(ctx, s)
	if err == nil {
		err = begin(ctx, until)
	}
	if err == nil {
		inlet.Subscription = s
	}
	return err
}

func (h *Hub) newSubscription(to topic) *Subscription {
	return &Subscription{topic: to, wake: make(chan struct{}, 1), leave: h.leave, upTo: h.upTo, dropped: &h.dropped, waiting: &h.waiting}
}
