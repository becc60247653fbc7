package planner

import "github.com/talkback/talkback/comment"

// Rest is what is left of a read of this plan whose first call was not enough: that call reached a
// position, scanned so many comments and returned these, whose sizes are given. So many more may be
// wanted of it.
func (p Plan) Rest(read Read, reached comment.Position, scanned int, returned []comment.Cell, sizes Sizes, want int) (Planner, Request) {
	s := &Sample{partition: read.Partition, partial: p.Partial, scanned: max(scanned, len(returned)), languages: map[comment.Language]int{}}
	for _, cell := range returned {
		s.add(cell)
	}
	w := Window{low: p.Low, high: p.High, descending: p.Descending}
	list := Planner{Product: p.Product, Filter: read.wanted(p.Filter), Known: p.Known}
	list.Known.Sizes = sizes
	return list, Request{Window: w.Past(reached), Purpose: p.Purpose, Want: want, WithoutText: p.WithoutText, Sample: s}
}
