package webhooks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
)

// State is the state of a hook.
type State struct {
	Hook     Hook
	Progress Progress
	// Oldest is the time of the oldest event that waits for the hook; zero if none waits.
	Oldest time.Time
}

// Lag returns how long the oldest event has waited for the hook, 0 if none waits.
func (s State) Lag(now time.Time) time.Duration {
	if s.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(s.Oldest))
}

// States returns the states of all hooks that work, some seconds old, and the damaged hooks.
func (s *Store) States(ctx context.Context) ([]State, []Damaged, error) {
	hooks, damaged, err := s.List(ctx)
	if err != nil {
		return nil, nil, err
	}
	states, err := s.statesOf(ctx, hooks)
	return states, damaged, err
}

func (s *Store) statesOf(ctx context.Context, hooks []Hook) (all []State, err error) {
	for _, h := range hooks {
		state := State{Hook: h}
		if state.Progress, err = s.Progress(ctx, h); err != nil {
			return nil, err
		}
		for i, lane := range state.Progress.Lanes {
			batch, err := s.out.Read(ctx, i, lane.Position, 1)
			switch {
			case errors.Is(err, outbox.ErrGone):
				batch.Events = []outbox.Event{{At: time.Now().Add(-outbox.Keep)}}
			case err != nil:
				return nil, err
			}
			// Also of an event that the hook's filter skips: a delivering process passes over those at once.
			for _, e := range batch.Events {
				if !e.At.Before(h.Since) && (state.Oldest.IsZero() || e.At.Before(state.Oldest)) {
					state.Oldest = e.At
				}
			}
		}
		all = append(all, state)
	}
	return all, nil
}

// DeadLetters returns the dead letters of a hook, of the last 30 days, in no order. It yields a
// Damaged as the error of a damaged one, and continues.
func (s *Store) DeadLetters(ctx context.Context, hook string) iter.Seq2[DeadLetter, error] {
	input := call.PartitionInput(s.table, layout.DeadEventKey(hook, "")[layout.AttrPK], layout.DeadEventPrefix)
	input.ConsistentRead = nil
	return func(yield func(DeadLetter, error) bool) {
		for it, err := range call.Items(ctx, s.client, input, "the dead letters of hook "+hook) {
			if err != nil {
				yield(DeadLetter{}, err)
				return
			}
			letter, damaged := letterIn(it, hook)
			if damaged != nil {
				err = *damaged
			}
			if !yield(letter, err) {
				return
			}
		}
	}
}

// Redeliver sends each dead letter of a hook once more, and deletes those that arrive. It stops at
// the first failure. Damaged ones stay, and are its error after all others were delivered.
func (s *Store) Redeliver(ctx context.Context, h Hook, send func(context.Context, Hook, ...outbox.Event) error) (delivered int, err error) {
	var stay []error
	for letter, err := range s.DeadLetters(ctx, h.ID) {
		switch {
		case errors.As(err, new(Damaged)):
			stay = append(stay, err)
			continue
		case err != nil:
			return delivered, err
		}
		if err := send(ctx, h, letter.Event); err != nil {
			return delivered, fmt.Errorf("event %s: %w", letter.ID, err)
		}
		if err := s.delete(ctx, layout.DeadEventKey(h.ID, letter.ID), h.ID); err != nil {
			return delivered, err
		}
		delivered++
	}
	return delivered, errors.Join(stay...)
}
