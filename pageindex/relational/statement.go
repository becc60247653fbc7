package relational

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// listQuery is a list in the form that statements need.
type listQuery struct {
	product    string
	languages  []comment.Language
	codes      []int // of cells, nil for all
	span       span
	descending bool
}

func newListQuery(list pageindex.List) listQuery {
	l := listQuery{
		product: list.Product, languages: list.Filter.Languages, codes: list.Filter.CellCodes(),
		descending: list.Order.Descends(),
	}
	l.span.low, l.span.high = list.Filter.Range()
	return l
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
	s.filter = "product = " + s.arg(l.product)
	if len(l.languages) > 0 {
		placeholders := make([]string, len(l.languages))
		for i, language := range l.languages {
			placeholders[i] = s.arg(string(language))
		}
		s.filter += " AND language IN (" + strings.Join(placeholders, ", ") + ")"
	}
	if len(l.codes) > 0 {
		s.filter += " AND rating IN (" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(l.codes)), ", "), "[]") + ")"
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
	skip, descending := rank-in.before-1, s.list.descending
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
	if s.list.descending {
		r = r.within(span{low: at, high: comment.MaxPosition})
	} else {
		r = r.within(span{high: at})
	}
	s.columns = append(s.columns, fmt.Sprintf("(SELECT COUNT(*) FROM {entries} WHERE %s AND %s)", s.filter, s.between(r)))
}

func (s *statement) text() string { return "SELECT " + strings.Join(s.columns, ", ") }
