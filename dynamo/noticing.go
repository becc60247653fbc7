package dynamo

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// createdError is how much older a record may seem than it is: its time is told to the second, by another clock.
const createdError = 3 * time.Second

// Noticing returns a handler of the table's stream that tells the Store of each change of a comment. From then on no page is
// shown that was read before, no partition is skipped that the change put a comment into, and no page lacks a comment
// because it moved. A process hears of the shards that it reads.
func (s *Store) Noticing(handler stream.Handler) stream.Handler { return noticing{handler, s} }

type noticing struct {
	stream.Handler
	store *Store
}

// Handle implements stream.Handler.
func (n noticing) Handle(ctx context.Context, records []stream.Record) error {
	for _, record := range records {
		n.store.heardMove(record) // before the handler takes its time: pages are being read
	}
	err := n.Handler.Handle(ctx, records)
	for _, record := range records {
		if product, now, concerns, err := counts.StandingOf(record); err == nil && concerns {
			n.store.memory.noticed(product, now.Cell)
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

// moved notes an edit that this Store makes. To be called before and after each try: a page that is read meanwhile looks
// for the comment.
func (s *Store) moved(before, after comment.Comment) {
	s.noteMove(after.ProductID, move{position: after.ID.Position(), from: before.Cell(), to: after.Cell(), version: after.Version})
}

// heardMove notes the edit that a record of the stream tells of, if it is one and indexes may still lag behind it: a process
// that was down hears of hours of edits at once.
func (s *Store) heardMove(record stream.Record) {
	old := s.now().Sub(record.Created) > moveAge+createdError
	if old || layout.NoComment(record.Old) || layout.NoComment(record.New) {
		return
	}
	product, now, concerns, err := counts.StandingOf(record)
	if err != nil || !concerns {
		return
	}
	if before, err := counts.CellOf(record.Old); err == nil {
		r := layout.NewReader(record.New)
		s.noteMove(product, move{position: now.ID.Position(), from: *before, to: *now.Cell, version: r.Version()})
	}
}

func (s *Store) noteMove(product string, m move) {
	if m.from == m.to {
		return
	}
	m.at = s.now()
	s.moves.note(product, m)
}
