package stream

import "context"

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

// ObservedJournal returns a journal that writes to another one and tells an observer.
func ObservedJournal(under Journal, o Observer) Journal { return observedJournal{under, o} }

// ObservedHandler returns a handler that calls another one and reports its records to an observer.
func ObservedHandler(under Handler, o Observer) Handler {
	return func(ctx context.Context, records []Record) error {
		err := under(ctx, records)
		if err == nil {
			o.Processed(len(records))
		}
		return err
	}
}

type observedLeases struct {
	Leases
	to Observer
}

// SendHeartbeat implements Heartbeats.
func (l observedLeases) SendHeartbeat(ctx context.Context, heartbeat Heartbeat) error {
	err := l.Leases.SendHeartbeat(ctx, heartbeat)
	if err == nil {
		l.to.HeartbeatSent()
	}
	return err
}

// HeartbeatOf implements Heartbeats.
func (l observedLeases) HeartbeatOf(record Record) (heartbeat Heartbeat, ok bool) {
	heartbeat, ok = l.Leases.HeartbeatOf(record)
	if ok {
		l.to.HeartbeatReceived()
	}
	return heartbeat, ok
}

type observedJournal struct {
	Journal
	to Observer
}

// PutDeadLetter implements Journal.
func (j observedJournal) PutDeadLetter(ctx context.Context, label string, letter DeadLetter) error {
	err := j.Journal.PutDeadLetter(ctx, label, letter)
	if err == nil {
		j.to.DeadLettered()
	}
	return err
}

// SwapState implements Journal.
func (j observedJournal) SwapState(ctx context.Context, old, next State) error {
	err := j.Journal.SwapState(ctx, old, next)
	if err == nil && next.Gap != nil && !next.Gap.Same(old.Gap) {
		j.to.GapFound()
	}
	return err
}
