package relational

import (
	"database/sql"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// SetClock replaces the clock by which Remember is measured.
func (s *Store) SetClock(now func() time.Time) { s.now = now }

// Connections returns the connections that lookups use.
func (s *Store) Connections() *sql.DB { return s.db.Read }

// Statement is SQL with its arguments.
type Statement struct {
	Text string
	Args []any
}

// Statements returns the statements of a lookup. The first counts. The second finds a position 10
// comments after the beginning of its block, one 10 before the end, and the number of comments
// before a position in its block.
func (s *Store) Statements(list pageindex.List, at comment.Position) []Statement {
	l := newListQuery(list)
	text, args := l.countStatement()
	locate := l.locateStatement(1)
	locate.position(blockCount{block: blockOf(at), n: 100}, 11)
	locate.position(blockCount{block: blockOf(at), n: 100}, 90)
	locate.countUpTo(at)
	return []Statement{{s.sql.Replace(text), args}, {s.sql.Replace(locate.text()), locate.args}}
}
