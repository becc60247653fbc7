package stream

import (
	"context"
	"errors"
)

// Observer observes a Consumer, or a function of AWS Lambda. Several goroutines call its methods,
// so they must be quick.
type Observer interface {
	// HeartbeatSent is called for each heartbeat that was written, and HeartbeatReceived for each
	// that came through the stream, whichever process sent it.
	HeartbeatSent()
	HeartbeatReceived()
	// Processed is called with the number of records that were processed.
	Processed(records int)
	// DeadLettered and GapFound are called once the journal has stored a dead letter or a gap. For
	// a dead-lettered record, both are called.
	DeadLettered()
	GapFound()
}

// unobserved stands for no observer.
type unobserved struct{}

// HeartbeatSent implements Observer.
func (unobserved) HeartbeatSent() {}

// HeartbeatReceived implements Observer.
func (unobserved) HeartbeatReceived() {}

// Processed implements Observer.
func (unobserved) Processed(int) {}

// DeadLettered implements Observer.
func (unobserved) DeadLettered() {}

// GapFound implements Observer.
func (unobserved) GapFound() {}

// observed returns a handler that calls another one and reports the processed records to an observer.
func observed(under Handler, o Observer) Handler {
	return func(ctx context.Context, records []Record) error {
		err := under(ctx, records)
		var failed RecordErrors
		if err == nil || errors.As(err, &failed) {
			o.Processed(len(records) - len(failed))
		}
		return err
	}
}
