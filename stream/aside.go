package stream

import "context"

// SetAside keeps where a record stands that could not be worked off, for whoever hands records over without a Consumer,
// and records the gap that this is: what is counted lacks the record, until everything is counted again.
func SetAside(ctx context.Context, journal Journal, label string, aside Aside) error {
	if err := journal.SetAside(ctx, label, aside); err != nil {
		return err
	}
	return recordGap(ctx, journal, Gap{Found: aside.Found, Shard: aside.Shard, Reason: "a record was set aside at " + string(aside.Position)})
}
