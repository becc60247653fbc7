package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/talkback/talkback/comment"
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
			if first == syscall.SIGTERM {
				cancel(errTerminated)
			}
			cancel(context.Canceled) // without effect after the other
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

// endedEarly returns the error of a server that ended, and none if all that failed is what a signal
// interrupted while the server was starting, which it logs.
func endedEarly(ctx context.Context, err error, term Terminal) error {
	if err == nil || ctx.Err() == nil || !interruptedOnly(err) {
		return err
	}
	if term.LogsJSON {
		term.Logger.Info("stopped as asked, before it was ready")
	} else {
		fmt.Fprintln(term.Err, "Stopped as asked, before it was ready.")
	}
	return nil
}

// interruptedOnly reports whether every one of joined errors comes from the end of a context.
func interruptedOnly(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !interruptedOnly(err) })
	}
	return errors.Is(err, context.Canceled) || comment.KindOf(err) == comment.Canceled
}
