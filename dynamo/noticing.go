package dynamo

import (
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
)

// createdError is how much older a record may seem than it is: its time is told to the second, by another clock.
const createdError = 3 * time.Second

// Follow has a Counter tell the Store of each change of a comment that it counts. From then on no page is shown that was
// read before the change, no partition is skipped that the change put a comment into, and no page lacks a comment because
// it moved. A process hears of the shards that it reads. It is to be called before the Counter is used.
func (s *Store) Follow(counter *counts.Counter) {
	counter.OnChange(s.heardMove, s.heard) // moves before counting takes its time: pages are being read
}

// heard notes a change that the stream told of.
func (s *Store) heard(change counts.Change) {
	s.memory.noticed(change.Product, change.After)
	s.changed(change.Product)
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

// heardMove notes a change that the stream told of, if it is an edit and indexes may still lag behind it: a process that
// was down hears of hours of edits at once.
func (s *Store) heardMove(change counts.Change) {
	old := s.now().Sub(change.Created) > moveAge+createdError
	if old || change.Before == nil || change.After == nil {
		return
	}
	s.noteMove(change.Product, move{position: change.ID.Position(), from: *change.Before, to: *change.After, version: change.Version})
}

func (s *Store) noteMove(product string, m move) {
	if m.from == m.to {
		return
	}
	m.at = s.now()
	s.moves.note(product, m)
}
