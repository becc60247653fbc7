package relational

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// Covers implements pageindex.Store.
func (s *Store) Covers(ctx context.Context) (covers string, err error) {
	err = s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, s.sql.Replace(`SELECT CASE WHEN server = {server} THEN covers ELSE '' END FROM {store}`)).Scan(&covers)
	})
	return covers, err
}

// Renew implements pageindex.Renewer.
func (s *Store) Renew(ctx context.Context, was, covers string) error {
	return s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, s.sql.Replace(`UPDATE {store} SET covers = ?2 WHERE covers = ?1`), was, covers)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); n > 0 || err != nil {
			return err
		}
		return comment.Errorf(comment.Conflict, "the page index in %s was built anew meanwhile", s.db.Name)
	})
}

// Products implements pageindex.Store.
func (s *Store) Products(ctx context.Context, tell func(product string)) error {
	last := ""
	for n := batch; n >= batch; {
		n = 0
		err := s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
			g, err := s.generations(ctx, tx)
			if err != nil {
				return err
			}
			return s.each(ctx, tx, `SELECT DISTINCT product FROM {blocks} WHERE generation = ?1 AND product > ?2 ORDER BY product LIMIT ?3`,
				[]any{g.current, last, batch}, []any{&last}, func() {
					n++
					tell(unescape.Replace(last))
				})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Find implements pageindex.Index. Every boundary is exact. It takes two statements for any number
// of targets, and one if none needs a position.
func (s *Store) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	l := newListQuery(list)
	if l.span.low.Compare(l.span.high) > 0 {
		return pageindex.Found{Boundaries: make([]pageindex.Boundary, len(targets))}, nil
	}
	var found pageindex.Found
	err := s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
		counts, err := s.countList(ctx, tx, l)
		if err != nil {
			return err
		}
		found = pageindex.Found{Counts: counts.ratings, Cost: pageindex.Cost{Calls: s.db.Frame + 1, Waves: s.db.Frame + 1}}
		found.Boundaries, err = s.locate(ctx, tx, l, counts, targets)
		if slices.ContainsFunc(targets, counts.needsPosition) {
			found.Cost.Calls++
			found.Cost.Waves++
		}
		return err
	})
	return found, err
}

// blockCounts is the counts of a list by block.
type blockCounts struct {
	generation int
	ratings    comment.Counts
	total      int
	// blocks are the blocks with comments of the list, in its order.
	blocks []blockCount
}

// countList counts a list in one statement, which also reads the store's row.
func (s *Store) countList(ctx context.Context, tx *sql.Tx, l listQuery) (blockCounts, error) {
	text, args := l.countStatement()
	c, found := blockCounts{}, 0
	byBlock := map[int]int{}
	var block, code, n int
	err := s.each(ctx, tx, text, args, []any{&block, &code, &n}, func() {
		if block == storeRow {
			found, c.generation = code, n
			return
		}
		cell, _ := comment.CellOf("", code)
		c.ratings.Add(cell, n)
		byBlock[block] += n
	})
	if err == nil && c.generation == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return blockCounts{}, err
	}
	c.total = c.ratings.Total()
	blocks, before := slices.Sorted(maps.Keys(byBlock)), 0
	if l.Order.Descends() {
		slices.Reverse(blocks)
	}
	for _, block := range blocks {
		c.blocks = append(c.blocks, blockCount{block: block, n: byBlock[block], before: before})
		before += byBlock[block]
	}
	return c, s.check(found)
}

// needsPosition reports whether counts do not suffice to answer a target.
func (c blockCounts) needsPosition(t pageindex.Target) bool {
	return c.total > 0 && (t.At != nil || t.Rank > 0)
}

// holding returns the block that contains a rank, from 1 to the total.
func (c blockCounts) holding(rank int) blockCount {
	i, found := slices.BinarySearchFunc(c.blocks, rank, func(b blockCount, rank int) int { return b.before + 1 - rank })
	if !found {
		i--
	}
	return c.blocks[i]
}

// before returns how many comments of the list are in blocks before a block, in the list's order.
func (c blockCounts) before(block int, descending bool) int {
	for _, b := range c.blocks {
		if b.block == block || (b.block > block) != descending {
			return b.before
		}
	}
	return c.total
}

// locate finds the targets' boundaries with one statement, which has a column for each target that
// needs one.
func (s *Store) locate(ctx context.Context, tx *sql.Tx, l listQuery, c blockCounts, targets []pageindex.Target) ([]pageindex.Boundary, error) {
	boundaries := make([]pageindex.Boundary, len(targets))
	statement := l.locateStatement(c.generation)
	var into []any
	positions, ranks := make([][]byte, len(targets)), make([]int, len(targets))
	for i, t := range targets {
		switch {
		case t.At != nil:
			boundaries[i].After = t.At
			if c.total > 0 {
				boundaries[i].Rank = c.before(blockOf(*t.At), l.Order.Descends())
				statement.countUpTo(*t.At)
				into = append(into, &ranks[i])
			}
		case c.needsPosition(t):
			boundaries[i].Rank = min(t.Rank, c.total)
			statement.position(c.holding(boundaries[i].Rank), boundaries[i].Rank)
			into = append(into, &positions[i])
		}
	}
	if len(into) == 0 {
		return boundaries, nil
	}
	if err := tx.QueryRowContext(ctx, s.sql.Replace(statement.text()), statement.args...).Scan(into...); err != nil {
		return nil, err
	}
	for i := range boundaries {
		boundaries[i].Rank += ranks[i]
		if len(positions[i]) == len(comment.Position{}) {
			boundaries[i].After = new(comment.Position(positions[i]))
		}
	}
	return boundaries, nil
}

// listQuery is a list, and the positions that its dates select.
type listQuery struct {
	pageindex.List
	span span
}

func newListQuery(list pageindex.List) listQuery {
	low, high := list.Filter.Range()
	return listQuery{list, span{low, high}}
}

// statement is SQL with its arguments.
type statement struct {
	list    listQuery
	args    []any
	filter  string // the conditions on product, language and rating
	columns []string
}

// arg adds an argument and returns its placeholder.
func (s *statement) arg(value any) string {
	s.args = append(s.args, value)
	return "?" + strconv.Itoa(len(s.args))
}

// statement begins a statement with the arguments of the filter.
func (l listQuery) statement() *statement {
	s := &statement{list: l}
	s.filter = "product = " + s.arg(escape.Replace(l.Product))
	if len(l.Filter.Languages) > 0 {
		var placeholders []string
		for _, language := range l.Filter.Languages {
			placeholders = append(placeholders, s.arg(string(language)))
		}
		s.filter += " AND language IN (" + strings.Join(placeholders, ", ") + ")"
	}
	if codes := l.Filter.CellCodes(); len(codes) > 0 {
		s.filter += " AND rating IN (" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(codes)), ", "), "[]") + ")"
	} else {
		s.filter += " AND rating > 0"
	}
	return s
}

// between returns the condition on the position.
func (s *statement) between(r span) string {
	return "position BETWEEN " + s.arg(r.low[:]) + " AND " + s.arg(r.high[:])
}

// storeRow replaces the number of the block in the result row with the schema's version and the
// generation.
const storeRow = -1

// countStatement sums up the counts of complete blocks, and counts the comments of partial blocks.
func (l listQuery) countStatement() (text string, args []any) {
	s := l.statement()
	first, last, parts := l.span.split()
	const current = "generation = (SELECT current FROM {store})"
	selects := []string{fmt.Sprintf("SELECT %d, version, current FROM {store}", storeRow)}
	if first <= last {
		selects = append(selects, fmt.Sprintf(
			"SELECT block, rating, SUM(n) FROM {blocks} WHERE %s AND %s AND block BETWEEN %s AND %s GROUP BY block, rating",
			current, s.filter, s.arg(first), s.arg(last)))
	}
	for _, part := range parts {
		selects = append(selects, fmt.Sprintf("SELECT %d, rating, COUNT(*) FROM {entries} WHERE %s AND %s AND %s GROUP BY rating",
			blockOf(part.low), current, s.filter, s.between(part)))
	}
	return strings.Join(selects, " UNION ALL "), s.args
}

// blockCount is how many comments of a list are in a block, and in the blocks before.
type blockCount struct{ block, n, before int }

// locateStatement begins a statement, to which each target adds a column.
func (l listQuery) locateStatement(generation int) *statement {
	s := l.statement()
	s.filter = "generation = " + s.arg(generation) + " AND " + s.filter
	return s
}

// position adds a column for the position of a comment of the list, whose rank counts from 1. It
// skips from the nearer end of the comment's block.
func (s *statement) position(in blockCount, rank int) {
	skip, descending := rank-in.before-1, s.list.Order.Descends()
	if fromEnd := in.n - 1 - skip; fromEnd < skip {
		skip, descending = fromEnd, !descending
	}
	order := "position"
	if descending {
		order = "position DESC"
	}
	s.columns = append(s.columns, fmt.Sprintf("(SELECT position FROM {entries} WHERE %s AND %s ORDER BY %s LIMIT 1 OFFSET %s)",
		s.filter, s.between(spanOf(in.block).within(s.list.span)), order, s.arg(skip)))
}

// countUpTo adds a column that counts the comments of the list in the block of a position, at the
// position or before it in the list's order.
func (s *statement) countUpTo(at comment.Position) {
	r := spanOf(blockOf(at)).within(s.list.span)
	if s.list.Order.Descends() {
		r = r.within(span{low: at, high: comment.MaxPosition})
	} else {
		r = r.within(span{high: at})
	}
	s.columns = append(s.columns, fmt.Sprintf("(SELECT COUNT(*) FROM {entries} WHERE %s AND %s)", s.filter, s.between(r)))
}

func (s *statement) text() string { return "SELECT " + strings.Join(s.columns, ", ") }
