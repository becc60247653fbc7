package relational

import (
	"database/sql"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// SetClock replaces the clock that ages what is remembered.
func (s *Store) SetClock(now func() time.Time) { s.now = now }

// Connections are those that lookups use.
func (s *Store) Connections() *sql.DB { return s.db.Read }

// Statement is SQL with its arguments.
type Statement struct {
	Text string
	Args []any
}

// Statements are those of a lookup: the counts, and where a position is, 10 comments behind the
// beginning of its block and 10 before its end, and how many comments come before it in its block.
func (s *Store) Statements(list pageindex.List, at comment.Position) []Statement {
	l := newListQuery(list)
	text, args := l.countStatement()
	locate := l.locateStatement(1)
	locate.position(blockCount{block: blockOf(at), n: 100}, 11)
	locate.position(blockCount{block: blockOf(at), n: 100}, 90)
	locate.countUpTo(at)
	return []Statement{{s.sql.Replace(text), args}, {s.sql.Replace(locate.text()), locate.args}}
}
