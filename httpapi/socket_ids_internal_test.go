package httpapi

import (
	"context"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// The client completes an operation just when it is the turn of its last message, and begins
// another with its id.
func TestIDIsUsedAgainInTurn(t *testing.T) {
	s := &socket{sending: semaphore.NewWeighted(1), operations: map[string]context.CancelFunc{}, ctx: t.Context()}
	of, complete := context.WithCancel(t.Context())
	sent := make(chan bool)
	s.mu.Lock()
	go func() { sent <- s.send(of, "1", func(context.Context) error { return nil }) }()
	must.Wait(t, "it is the turn of the message", func() bool {
		free := s.sending.TryAcquire(1)
		if free {
			s.sending.Release(1)
		}
		return !free
	})
	complete()
	s.operations["1"] = func() {}
	s.mu.Unlock()
	if <-sent || s.operations["1"] == nil {
		t.Error("the message is sent, or ends the other operation")
	}
}
