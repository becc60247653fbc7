package planner

import (
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Request asks for comments of a stretch of a list.
type Request struct {
	Window Window
	// Purpose, WithoutText and Why become those of the plan.
	Purpose     comment.ReadPurpose
	WithoutText bool
	Why         string
	// Want is how many comments to take from it.
	Want int
	// Skip is how many of these are skipped before the page.
	Skip int
	// Last is what the same stretch held when it was last read; nil if unknown.
	Last *LastPage
	// Sample is the result of an earlier read, of which this request reads the rest; nil if there
	// was none.
	Sample *Sample
}

// partial reports whether the stretch may be any part of the list.
func (r Request) partial(filter comment.Filter) bool {
	return r.Window.inside || filter.Dated() || r.Sample != nil && r.Sample.partial
}

// before returns a lower bound for the comments of the list, which follows from pages read before
// this one.
func (r Request) before() int {
	least := r.Skip / 2
	if r.Window.inside {
		least = max(least, r.Want/2)
	}
	shown := 0
	if r.Last != nil {
		for _, c := range r.Last.cells {
			shown += c.count
		}
	}
	return max(least, shown)
}

// Sample is the result of the first call of a read with a residual filter, of a product with
// unknown counts. The call neither reached the end of its partition nor returned enough.
type Sample struct {
	// partition was read, scanned is how many comments the call scanned, and returned is how many
	// of these are in the list.
	partition         layout.Partition
	scanned, returned int
	// sparse is whether few were returned because nearly all have helpful votes.
	sparse bool
	// second is whether the read followed another sample.
	second bool
	// partial is whether the read began at a cursor or was bounded by dates.
	partial bool
	// ratings and languages count the returned comments.
	ratings   comment.Counts
	languages map[comment.Language]int
}

// posterior returns the mean of a share after a sample. seen/of is the part of the sample in the
// share. The mean before counts as weight comments.
func posterior(mean, weight float64, seen, of int) float64 {
	return (weight*mean + float64(seen)) / (weight + float64(of))
}

// LastPage is what a page held when it was last read. Pages are read again and again, the first
// page of a product most often, and their earlier contents predict the next better than counts do.
// A LastPage is not changed after a plan has used it.
type LastPage struct {
	// cells has the numbers of comments taken, by cell. The last comment was of cell last.
	cells []cellCount
	last  comment.Cell
	// full is whether as many comments were taken as were wanted.
	full bool
	// scans are the results of the reads with a residual filter.
	scans []scan
	// newer is the expected number of comments that have since arrived in front of the page.
	newer float64
}

// cellCount is the number of comments of one cell.
type cellCount struct {
	cell  comment.Cell
	count int
}

// scan is how many items of a part were scanned, and how many of them were returned.
type scan struct {
	part              Part
	scanned, returned int
}

// NewLastPage makes a LastPage of the comments taken for the page, at least one. full is whether
// that is as many as were wanted.
func NewLastPage(taken []layout.Compressed, full bool) *LastPage {
	p := &LastPage{full: full, cells: make([]cellCount, 0, 2)} // mostly of two ratings
	for i := range taken {
		cell := taken[i].Cell()
		at := slices.IndexFunc(p.cells, func(c cellCount) bool { return c.cell == cell })
		if at < 0 {
			// A copy of its own outlives the comment, whose strings share memory with the others of its
			// page.
			at, p.cells = len(p.cells), append(p.cells, cellCount{cell: cell.Clone()})
		}
		p.cells[at].count++
		p.last = p.cells[at].cell
	}
	return p
}

// NoteScan notes how many items of a part a read for the page scanned, and how many of them were
// returned. Several reads of a part count as one.
func (p *LastPage) NoteScan(part Part, scanned, returned int) {
	if !part.Residual() {
		return
	}
	at := slices.IndexFunc(p.scans, func(s scan) bool { return s.part.equal(&part) })
	if at < 0 {
		at, p.scans = len(p.scans), append(p.scans, scan{part: part})
	}
	p.scans[at].scanned += scanned
	p.scans[at].returned += returned
}

// Shifted returns the page with newer comments in front of it; newer is their expected number.
func (p LastPage) Shifted(newer float64) *LastPage {
	p.newer = newer
	return &p
}

// current reports whether most of a page of want comments is expected to be unchanged.
func (p *LastPage) current(want int) bool { return p != nil && 2*p.newer < float64(want) }

// count returns how many comments of a part were on the page.
func (p *LastPage) count(part *Part) int {
	n := 0
	for i := range p.cells {
		if part.Holds(p.cells[i].cell) {
			n += p.cells[i].count
		}
	}
	return n
}

// wanted returns how many comments of a part the page needs: mean and variance. n is how many it
// showed, and share is the part's share of the list. Each newer comment in front pushed one out at
// the end, and each of these may be of the part or not.
func (p *LastPage) wanted(part *Part, n int, share float64) (mean, variance float64) {
	switch {
	case p.full && share < 1 && part.Holds(p.last):
		n-- // no comment beyond the last one is needed
	case !p.full && share == 1:
		n++ // the end of the list has to be seen
	}
	return float64(n), 2 * p.newer * share * (1 - share)
}

// between returns the expected number of non-matching items scanned in a part before match n; shown
// is n. It returns mean and variance, and false if no scan of the part returned enough. If the
// returned items are spread evenly over the scanned ones, the place of match n has a negative
// hypergeometric distribution.
// https://en.wikipedia.org/wiki/Negative_hypergeometric_distribution
// If the last comment of the page is of another part, the page ends between two of this one.
func (p *LastPage) between(part *Part, shown int) (mean, variance float64, known bool) {
	n := float64(shown)
	if !part.Holds(p.last) {
		n += 0.5
	}
	for i := range p.scans {
		s := &p.scans[i]
		returned, dropped := float64(s.returned), float64(s.scanned-s.returned)
		if !s.part.equal(part) || n > returned+0.5 {
			continue
		}
		mean = n * dropped / (returned + 1)
		variance = mean * (returned + dropped + 1) * (returned + 1 - n) / ((returned + 1) * (returned + 2))
		each := dropped / (returned + 1)
		return mean, variance + 2*p.newer*each*(1+each), true
	}
	return 0, 0, false
}
