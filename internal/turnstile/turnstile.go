// Package turnstile lets goroutines go on a few at a time, so that Go looks for what has arrived on
// the network in between.
//
// Go looks when no goroutine can run, or when its monitor wakes up, each 10 ms under load. So once
// many goroutines can run, the next request is not even seen before all of them have had their turn.
// See docs/design/refusals.md.
package turnstile

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// each is how many goroutines pass between two looks, for each processor. With fewer, refusals are
// quicker and pages fewer: see docs/measurements.md.
const each = 3

// Turnstile is where goroutines wait for their turn. It is safe for concurrent use.
type Turnstile struct {
	busy func() bool
	most int
	look looker

	mu      sync.Mutex
	turning bool // whether somebody looks
	broken  bool
	passed  int             // since the last look
	waiting []chan struct{} // the first is the next
}

// looker lets Go look for what has arrived.
type looker interface {
	// wait returns after Go has looked. An error means that it cannot tell.
	wait() error
	close() error
}

// New returns a turnstile that lets everybody pass at once while the program is not busy. An error
// means that the system has no pipe left. The caller closes the turnstile.
func New(busy func() bool) (*Turnstile, error) {
	look, err := newPipe()
	if err != nil {
		return nil, fmt.Errorf("turnstile: %w", err)
	}
	return &Turnstile{busy: busy, most: each * runtime.GOMAXPROCS(0), look: look}, nil
}

// Pass returns when it is the caller's turn, in the order of calls. That takes as long as it takes
// those before the caller to run until they wait for something. Nobody waits for a turn after Close,
// or on a system that does not tell when Go has looked.
func (t *Turnstile) Pass() {
	if !t.busy() {
		return
	}
	if turn := t.enter(); turn != nil {
		<-turn
	}
}

// enter returns what is closed when it is the caller's turn, nil if that is now.
func (t *Turnstile) enter() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken {
		return nil
	}
	if !t.turning {
		t.turning = true
		go t.turn()
	}
	if t.passed < t.most {
		t.passed++
		return nil
	}
	turn := make(chan struct{})
	t.waiting = append(t.waiting, turn)
	return turn
}

// turn lets some pass after each look, until nobody has come between two.
func (t *Turnstile) turn() {
	for t.release(t.look.wait()) {
	}
}

// release lets the next ones pass, all of them if Go's looks cannot be told. It reports whether there
// is reason to look again.
func (t *Turnstile) release(failed error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	came := t.passed > 0
	t.broken = t.broken || failed != nil
	t.passed = min(t.most, len(t.waiting))
	if t.broken {
		t.passed = len(t.waiting)
	}
	for _, turn := range t.waiting[:t.passed] {
		close(turn)
	}
	t.waiting = slices.Delete(t.waiting, 0, t.passed)
	t.turning = came && !t.broken
	return t.turning
}

// Close lets everybody pass, from now on.
func (t *Turnstile) Close() error {
	t.mu.Lock()
	t.broken = true
	t.mu.Unlock()
	t.release(nil)
	return t.look.close()
}
