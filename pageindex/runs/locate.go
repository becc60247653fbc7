package runs

import (
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// Needs lists parts to read before a lookup can be answered. All can be read in parallel.
type Needs struct {
	// Chunks are for Load, Markers for Reveal.
	Chunks  []Key
	Markers []Range
	// Unsplit means that reading does not help: the answer is in the middle of a far too large run,
	// which a merge has yet to split.
	Unsplit bool
}

// None reports whether nothing has to be read.
func (n Needs) None() bool { return len(n.Chunks) == 0 && len(n.Markers) == 0 && !n.Unsplit }

// MaxReadable is the size of the largest run whose markers a lookup reads, in comments. A merge
// makes runs about a tenth as large.
const MaxReadable = 1024

// Locate finds targets in a list. If that requires further parts, it returns these instead.
func (v *View) Locate(list pageindex.List, targets []pageindex.Target) (pageindex.Found, Needs) {
	l := v.locator(list)
	var needs Needs
	for _, p := range l.parts {
		switch {
		case !l.wants(p, targets):
		case p.chunk != nil:
			needs.Chunks = append(needs.Chunks, p.chunk.Key)
		case p.tooLarge():
			needs.Unsplit = true
		default:
			needs.Markers = append(needs.Markers, Range{From: p.segment.from, Last: p.segment.last})
		}
	}
	var found pageindex.Found
	if !needs.None() {
		return found, needs
	}
	for _, p := range l.parts {
		found.Counts = found.Counts.Plus(l.counts(p))
	}
	total := found.Counts.Total()
	for _, t := range targets {
		var b pageindex.Boundary
		switch {
		case t.At != nil:
			b = l.rankOf(*t.At)
		case t.AtComment && t.Rank > 0 && t.Rank <= total:
			p := l.parts[slices.IndexFunc(l.parts, func(p segmentRange) bool { return t.Rank <= p.mostBefore+p.most })]
			b = pageindex.Boundary{Rank: t.Rank, After: &l.selected(p)[t.Rank-p.mostBefore-1].Position}
		default:
			b = l.nearest(t, total)
		}
		found.Boundaries = append(found.Boundaries, b)
	}
	return found, needs
}

// locator finds targets of one list in a view.
type locator struct {
	list  pageindex.List
	parts []segmentRange
	// hidden means that the filter selects languages that share a row in chunks not loaded yet.
	hidden bool
}

// segmentRange is the part of a segment that the list's dates select, in the order of the list.
type segmentRange struct {
	*segment
	// from and last are its bounds.
	from, last comment.Position
	// least and most bound the number of the list's comments in the part, leastBefore and
	// mostBefore the number in all parts before.
	least, most             int
	leastBefore, mostBefore int
}

// locator returns the parts of the view that the list's dates select, with bounds for the number of
// its comments in each.
func (v *View) locator(list pageindex.List) *locator {
	l := &locator{list: list}
	l.hidden = v.shared && slices.ContainsFunc(list.Filter.Languages, func(language comment.Language) bool { return !v.rows[language] })
	low, high := list.Filter.Range()
	least, most := 0, 0
	segments := slices.Clone(v.segments)
	if list.Order.Descends() {
		slices.Reverse(segments)
	}
	for _, s := range segments {
		p := segmentRange{segment: s, leastBefore: least, mostBefore: most}
		p.from = slices.MaxFunc([]comment.Position{s.from, low}, comment.Position.Compare)
		p.last = slices.MinFunc([]comment.Position{s.last, high}, comment.Position.Compare)
		if p.from.Compare(p.last) > 0 {
			continue
		}
		if p.revealed {
			p.least = l.counts(p).Total()
			p.most = p.least
		} else {
			p.least = p.counts.Counts(list.Filter).Total()
			p.most = p.least
			if l.hidden && p.chunk != nil {
				shared := list.Filter
				shared.Languages = []comment.Language{comment.OtherLanguages}
				p.most += p.counts.Counts(shared).Total()
			}
			if p.from != s.from || p.last != s.last {
				p.least = 0
			}
		}
		least, most = least+p.least, most+p.most
		l.parts = append(l.parts, p)
	}
	return l
}

// counts returns the exact number of the list's comments in a part, by rating.
func (l *locator) counts(p segmentRange) (sum comment.Counts) {
	if !p.revealed {
		if p.most > 0 {
			sum = p.counts.Counts(l.list.Filter)
		}
		return sum
	}
	for _, m := range l.selected(p) {
		sum.Add(m.Cell, 1)
	}
	return sum
}

// selected returns the list's comments in a revealed part, in the list's order.
func (l *locator) selected(p segmentRange) []Marker {
	var out []Marker
	for _, m := range p.markers {
		if m.Position.Compare(p.from) >= 0 && m.Position.Compare(p.last) <= 0 && l.list.Filter.AllowsCell(m.Cell) {
			out = append(out, m)
		}
	}
	if l.list.Order.Descends() {
		slices.Reverse(out)
	}
	return out
}

// upTo reports whether a position is at or before another one, in the order of the list.
func (l *locator) upTo(p, at comment.Position) bool {
	c := p.Compare(at)
	return c == 0 || (c < 0) != l.list.Order.Descends()
}

// ends returns the first and the last position of a part, in the order of the list.
func (l *locator) ends(p segmentRange) (first, last comment.Position) {
	if l.list.Order.Descends() {
		return p.last, p.from
	}
	return p.from, p.last
}

func (s *segment) tooLarge() bool { return s.chunk == nil && s.counts.Total() > MaxReadable }

// wants reports whether an answer depends on unread content of a part: how many of its comments are
// in the list or up to a position, or which of them has a rank. While the number of comments before
// a rank is uncertain, the rank may lie in several chunks. They are all read together with the
// parts that make it uncertain.
func (l *locator) wants(p segmentRange, targets []pageindex.Target) bool {
	if p.revealed {
		return false
	}
	if p.least != p.most {
		return true
	}
	first, last := l.ends(p)
	for _, t := range targets {
		if t.At != nil {
			if p.most > 0 && l.upTo(first, *t.At) && !l.upTo(last, *t.At) {
				return true
			}
			continue
		}
		inside := p.leastBefore < t.Rank && (t.Rank < p.mostBefore+p.most || t.AtComment && t.Rank == p.mostBefore+p.most)
		certain := p.leastBefore == p.mostBefore
		if inside && (p.chunk != nil || certain && (t.Exact || p.tooLarge())) {
			return true
		}
	}
	return false
}

// fewSkipped is how many comments may be skipped rather than reading from the middle. That takes
// two reads of at least 4 KB each: some 32 short comments.
const fewSkipped = 32

// nearest returns the boundary from which reading a target's comments skips the fewest others. It
// is the last one before them, the first one behind them, or one in their middle, which skips none.
func (l *locator) nearest(t pageindex.Target, total int) pageindex.Boundary {
	best, end := l.boundary(t.Rank), min(t.Rank+t.Size, total)
	if t.Size == 0 || t.Rank >= total || l.parts == nil {
		return best
	}
	skip := t.Rank - best.Rank
	if behind := l.boundaryFrom(end); behind.Rank-end < skip {
		best, skip = behind, behind.Rank-end
	}
	if middle := l.boundaryFrom(t.Rank + 1); middle.Rank < end && skip > fewSkipped {
		return middle
	}
	return best
}

// boundaryFrom returns the first boundary between parts at or behind a rank that is in the list.
func (l *locator) boundaryFrom(rank int) pageindex.Boundary {
	at := slices.IndexFunc(l.parts, func(p segmentRange) bool { return p.mostBefore+p.most >= rank })
	p := l.parts[at]
	_, last := l.ends(p)
	return pageindex.Boundary{Rank: p.mostBefore + p.most, After: &last}
}

// rankOf returns the boundary directly behind a position.
func (l *locator) rankOf(at comment.Position) pageindex.Boundary {
	b := pageindex.Boundary{After: &at}
	for _, p := range l.parts {
		if _, last := l.ends(p); l.upTo(last, at) {
			b.Rank += p.most
			continue
		}
		for _, m := range l.selected(p) { // if the part's markers were not read, none of the list are up to it
			if l.upTo(m.Position, at) {
				b.Rank++
			}
		}
	}
	return b
}

// boundary returns the last known boundary at or before a rank.
func (l *locator) boundary(rank int) pageindex.Boundary {
	var b pageindex.Boundary
	if rank <= 0 {
		return b
	}
	for _, p := range l.parts {
		if p.mostBefore+p.most > rank {
			if rank == p.mostBefore || !p.revealed {
				return b
			}
			return pageindex.Boundary{Rank: rank, After: new(l.selected(p)[rank-p.mostBefore-1].Position)}
		}
		if b.Rank = p.mostBefore + p.most; b.Rank > 0 {
			_, last := l.ends(p)
			b.After = &last
		}
	}
	return b
}
