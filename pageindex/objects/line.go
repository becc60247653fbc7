package objects

import (
	"slices"
	"sort"

	"github.com/talkback/talkback/comment"
)

// line is the list of a product's comments that a filter's languages and ratings select, in
// ascending order. If a method asks reads for something unread, what it returns is meaningless.
type line struct {
	reads    *reads
	product  string
	filter   comment.Filter
	sections []section
	// changes are those that affect the filtered list; sums[i] is the sum of the first i of them.
	changes []change
	sums    []comment.Counts
}

// section is the product's part of one chunk.
type section struct {
	chunk *Chunk
	// start is the lowest position of the section. The first section starts at the lowest of all.
	start comment.Position
	// before are the counts of the sections before this one, counts its own.
	before, counts comment.Counts
}

// piece is a block of a section, or a whole section without records.
type piece struct {
	start          comment.Position
	before, counts comment.Counts
	number         int // of the block
}

func (l *line) allows(cell comment.Cell) bool {
	return cell.Code() != 0 && l.filter.AllowsCell(cell)
}

// setChanges sets the changes of the product.
func (l *line) setChanges(changes []change) {
	var sum comment.Counts
	l.changes, l.sums = nil, []comment.Counts{sum}
	for _, c := range changes {
		if c.was == c.now || !l.allows(c.was) && !l.allows(c.now) {
			continue
		}
		l.count(&sum, c.was, -1)
		l.count(&sum, c.now, 1)
		l.changes, l.sums = append(l.changes, c), append(l.sums, sum)
	}
}

// open finds the sections. There is always at least one.
func (l *line) open(root *Root) {
	var before comment.Counts
	l.sections = nil
	for _, c := range root.Of(l.product) {
		s := section{chunk: &c, start: c.First.Position, before: before}
		if c.Single {
			for _, cell := range c.Cells {
				l.count(&s.counts, cell.Cell, cell.Count)
			}
		} else {
			h := l.reads.head(&c, Records)
			if h == nil {
				return
			}
			if n, found := h.Find(l.product); found {
				for _, b := range h.Products[n].Blocks {
					s.counts = s.counts.Plus(l.countsOf(&h.Products[n], b))
				}
			}
		}
		before = before.Plus(s.counts)
		l.sections = append(l.sections, s)
	}
	if len(l.sections) == 0 {
		l.sections = []section{{}}
	}
	l.sections[0].start = comment.Position{}
}

func (l *line) count(counts *comment.Counts, cell comment.Cell, n int) {
	if l.allows(cell) {
		counts.Add(cell, n)
	}
}

func (l *line) countsOf(p *Product, b Block) (counts comment.Counts) {
	for i, n := range b.Counts {
		l.count(&counts, p.Cells[i], n)
	}
	return counts
}

// all returns the counts of the whole line.
func (l *line) all() comment.Counts {
	last := l.sections[len(l.sections)-1]
	return last.before.Plus(last.counts).Plus(l.sums[len(l.changes)])
}

// changeAt returns the number of the first change at or after a position.
func (l *line) changeAt(p comment.Position) int {
	return sort.Search(len(l.changes), func(i int) bool { return l.changes[i].position.Compare(p) >= 0 })
}

// pieces returns the pieces of a section, nil if something has to be read first. It also returns
// the head of the chunk's file, and the number of the product in it.
func (l *line) pieces(s *section) ([]piece, *Head, int) {
	whole := []piece{{start: s.start, before: s.before}}
	if s.counts.Total() == 0 {
		return whole, nil, 0
	}
	h := l.reads.head(s.chunk, Records)
	if h == nil {
		return nil, nil, 0
	}
	n, found := h.Find(l.product)
	if !found {
		return whole, nil, 0
	}
	out := make([]piece, 0, len(h.Products[n].Blocks))
	before := s.before
	for i, b := range h.Products[n].Blocks {
		p := piece{start: b.First, before: before, counts: l.countsOf(&h.Products[n], b), number: i}
		before = before.Plus(p.counts)
		out = append(out, p)
	}
	out[0].start = s.start
	return out, h, n
}

// records returns the records of a piece that are in the line.
func (l *line) records(s *section, p piece, h *Head, product int) []Item {
	if p.counts.Total() == 0 {
		return nil
	}
	data := l.reads.block(s.chunk.objectName(Records), h, product, p.number)
	return slices.DeleteFunc(h.items(Records, &h.Products[product], data), func(r Item) bool { return !l.allows(r.Cell) })
}

// before returns the counts of the comments below a position.
func (l *line) before(at comment.Position) comment.Counts {
	n := sort.Search(len(l.sections), func(i int) bool { return l.sections[i].start.Compare(at) > 0 }) - 1
	s := &l.sections[n]
	changed := l.sums[l.changeAt(at)]
	switch c := s.chunk; {
	case at == s.start:
		return s.before.Plus(changed)
	case c != nil && c.Single && at.Compare(c.Last) > 0:
		return s.before.Plus(s.counts).Plus(changed)
	}
	pieces, h, product := l.pieces(s)
	if pieces == nil {
		return comment.Counts{}
	}
	p := pieces[sort.Search(len(pieces), func(i int) bool { return pieces[i].start.Compare(at) > 0 })-1]
	counts := p.before.Plus(changed)
	if p.counts.Total() == 0 {
		return counts
	}
	if last := &h.Products[product]; at.Compare(last.Last) > 0 {
		return counts.Plus(p.counts)
	}
	for _, r := range l.records(s, p, h, product) {
		if r.Position.Compare(at) < 0 {
			counts.Add(r.Cell, 1)
		}
	}
	return counts
}

// at returns the position of the comment that n others precede. It must exist.
func (l *line) at(n int) comment.Position {
	first := func(start comment.Position, before comment.Counts) int {
		return before.Total() + l.sums[l.changeAt(start)].Total()
	}
	i := sort.Search(len(l.sections), func(i int) bool { return first(l.sections[i].start, l.sections[i].before) > n }) - 1
	s := &l.sections[i]
	pieces, h, product := l.pieces(s)
	if pieces == nil {
		return comment.Position{}
	}
	j := sort.Search(len(pieces), func(j int) bool { return first(pieces[j].start, pieces[j].before) > n }) - 1
	records := l.records(s, pieces[j], h, product)
	changes := l.changes[l.changeAt(pieces[j].start):]
	n -= first(pieces[j].start, pieces[j].before)
	for len(records)+len(changes) > 0 {
		var at comment.Position
		there := true
		switch {
		case len(changes) == 0 || len(records) > 0 && records[0].Position.Compare(changes[0].position) < 0:
			at, records = records[0].Position, records[1:]
		default:
			at, there = changes[0].position, l.allows(changes[0].now)
			if len(records) > 0 && records[0].Position == at {
				records = records[1:]
			}
			changes = changes[1:]
		}
		if there {
			if n == 0 {
				return at
			}
			n--
		}
	}
	return comment.MaxPosition
}
