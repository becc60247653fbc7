package turnstile

import (
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func always() bool { return true }

// steps is a looker whose looks the test makes.
type steps chan error

func (s steps) wait() error  { return <-s }
func (s steps) close() error { close(s); return nil }

// newStepped returns a turnstile that lets two pass between looks that the test makes.
func newStepped() (*Turnstile, steps) {
	looks := make(steps)
	return &Turnstile{busy: always, most: 2, look: looks}, looks
}

// queue has so many goroutines pass, one after the other, and returns the numbers of those that have.
func queue(t *Turnstile, goroutines int) <-chan int {
	passed := make(chan int, goroutines)
	for number := range goroutines {
		if turn := t.enter(); turn == nil {
			passed <- number
		} else {
			go func() { <-turn; passed <- number }()
		}
	}
	return passed
}

// A few pass between two looks, in the order in which they came, and looking ends with them.
func TestFewPassBetweenLooks(t *testing.T) {
	gate, looks := newStepped()
	passed := queue(gate, 7)
	gone := 0
	for _, few := range []int{2, 2, 2, 1} {
		gone += few
		for range few {
			if number := <-passed; number >= gone {
				t.Errorf("goroutine %d passed before its turn, among the first %d", number, gone)
			}
		}
		gate.mu.Lock()
		if left := len(gate.waiting); left != 7-gone {
			t.Errorf("%d wait after %d have passed", left, gone)
		}
		gate.mu.Unlock()
		looks <- nil
	}
	looks <- nil // nobody has come since the last one
	if turn := gate.enter(); turn != nil {
		t.Error("the first to come later has to wait")
	}
	looks <- nil // it is looked for again
}

// Nobody waits while the program is not busy, once looks cannot be told, and after the end.
func TestNobodyWaits(t *testing.T) {
	t.Run("not busy", func(t *testing.T) {
		gate, _ := newStepped()
		gate.busy = func() bool { return false }
		for range 100 {
			gate.Pass()
		}
	})
	t.Run("looks cannot be told", func(t *testing.T) {
		gate, looks := newStepped()
		passed := queue(gate, 100)
		looks <- errors.New("no pipe")
		for range 100 {
			<-passed
		}
		gate.Pass()
	})
	t.Run("after the end", func(t *testing.T) {
		gate, err := New(always)
		if err != nil {
			t.Fatal(err)
		}
		passed := queue(gate, 100)
		if err := gate.Close(); err != nil {
			t.Error(err)
		}
		for range 100 {
			<-passed
		}
		gate.Pass()
	})
}

// What arrives on the network is read while goroutines run one after the other that never wait for
// anything else.
func TestArrivalsAreSeen(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	gate, err := New(always)
	if err != nil {
		t.Fatal(err)
	}
	defer gate.Close()
	there, here := connect(t)
	var passed atomic.Int64
	seen := make(chan int64)
	go func() {
		_, _ = here.Read(make([]byte, 1))
		seen <- passed.Load()
	}()
	for here := int64(0); here < 100; here++ { // the reader waits by then
		runtime.Gosched()
	}
	const goroutines, turns = 100, 20
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			for range turns {
				gate.Pass()
				if passed.Add(1) == goroutines/2 {
					_, _ = there.Write([]byte{1})
				}
			}
		})
	}
	running.Wait()
	if after := <-seen; after > goroutines {
		t.Errorf("seen after %d of %d turns, though it came after %d", after, goroutines*turns, goroutines/2)
	}
}

// connect returns the two ends of a connection.
func connect(t *testing.T) (one, other net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	one, err = net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err = listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = one.Close(); _ = other.Close() })
	return one, other
}
