package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// errTerminated is the cause of a context that SIGTERM ended, by which supervisors stop a process.
var errTerminated = errors.New("asked to stop by SIGTERM")

// Signals returns a context that ends at the first SIGINT or SIGTERM. A second one ends the program
// at once, as if nothing caught it. stop frees what this takes.
func Signals() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case first := <-caught:
			signal.Stop(caught)
			cancel(causeOf(first))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

// causeOf returns why a signal ends a context.
func causeOf(s os.Signal) error {
	if s == syscall.SIGTERM {
		return errTerminated
	}
	return context.Canceled
}
