package dynamo

import (
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/planner"
)

// createdError is how much too old a record may seem: its creation time comes from DynamoDB's
// clock, and this machine's may be minutes ahead. Noting a move that is really too old costs
// nothing, as long as no page lacks its comment.
const createdError = 15 * time.Minute

// A Store is the Follower of a Counter. After a change from the stream, it shows no page that was
// read before, and skips no partition that received the comment. It also finds a comment that moved
// while a page was read. A process receives the changes of the shards that it reads.
var _ counts.Follower = (*Store)(nil)

// Changed implements counts.Follower.
func (s *Store) Changed(change counts.Change) {
	s.changed(change.Product) // first: statistics that are being read lack the change
	s.memory.noteChange(change.Product, change.ID.Position(), change.After)
}

// wrote notes that this Store changed a product, or may have. Statistics and pages whose read has
// begun may lack the change.
func (s *Store) wrote(product string) {
	s.memory.wrote(product)
	s.changed(product)
}

// changed notes that a product changed, so that pages read earlier are not shown.
func (s *Store) changed(product string) { s.changes.note(product, s.now()) }

// Unchanged reports whether an answer about some products, begun at a time, is proven to be still
// current. It allows for parts that came from a cache and were as old as the caches allow.
func (s *Store) Unchanged(products []string, began time.Time) bool {
	p, read := proof(s.options.Following), began.Add(-max(s.options.PageAge, s.options.StatisticsAge))
	for _, product := range products {
		if !p.unchanged(read, s.changes.last(product)) {
			return false
		}
	}
	return true
}

// noteEdit notes an edit that this Store makes. It must be called before and after each try, so
// that a page that is read at the same time looks for the comment.
func (s *Store) noteEdit(before, after comment.Comment) {
	if before.Status != comment.Approved || after.Status != comment.Approved {
		return // it came into the lists or left them
	}
	s.noteMove(after.ProductID, move{position: after.ID.Position(), from: before.Cell(), to: after.Cell(), version: after.Version})
}

// Changing implements counts.Follower. It notes an edit at once, because counting takes time while
// pages are read. Edits too old for an index to lag behind are ignored: a process that was down
// receives hours of them at once.
func (s *Store) Changing(change counts.Change) {
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

func (s *Store) knowledge(q comment.Query) planner.Knowledge {
	if s.options.Knowledge != nil {
		return s.options.Knowledge(q)
	}
	known := s.memory.recall(q)
	known.Sizes = s.sizes.of(q.Product)
	return known
}

// knowledgeMeanwhile returns the current knowledge of a query's product once its page has begun to
// be read; known is what the first plan used.
func (s *Store) knowledgeMeanwhile(q comment.Query, known planner.Knowledge) planner.Knowledge {
	latest := known
	switch {
	case s.options.Knowledge != nil:
		latest = s.options.Knowledge(q)
	case known.Stats == nil:
		latest = s.memory.peek(q.Product)
	}
	latest.Sizes = known.Sizes
	return latest
}
