package dynamo

import (
	"context"

	"github.com/talkback/talkback/stream"
)

// Noticing returns a handler of the table's stream that tells the Store of each change of a comment, after the handler did
// its work. From then on no page is shown that was read before, and no partition is skipped that the change put a comment
// into. A process hears of the shards that it reads.
func (s *Store) Noticing(handler stream.Handler) stream.Handler { return noticing{handler, s} }

type noticing struct {
	stream.Handler
	store *Store
}

// Handle implements stream.Handler.
func (n noticing) Handle(ctx context.Context, records []stream.Record) error {
	err := n.Handler.Handle(ctx, records)
	for _, record := range records {
		if product, now, concerns, err := standingOf(record); err == nil && concerns {
			n.store.memory.noticed(product, now.cell)
			n.store.changed(product)
		}
	}
	return err
}

// wrote notes that this Store wrote to a product, or may have: what is remembered or being read of it may be older.
func (s *Store) wrote(product string) {
	s.memory.wrote(product)
	s.changed(product)
}

// changed notes that a product was changed: nobody gets a page that was read before.
func (s *Store) changed(product string) { s.changes.note(product, s.now()) }
