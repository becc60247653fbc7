package planner

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Expected returns the read units that a page of a known product is expected to consume, by index:
// those of the first calls of its plan. For a page by number it includes the lookup and the skipped
// comments. The filter must be normalized.
func Expected(known Knowledge, q comment.Query, lookup LookupPrice) layout.Units {
	p := Planner{Filter: q.Filter, Known: known}
	place := p.Place(q, lookup)
	units := layout.Units{}
	if place.By == comment.ByIndex {
		units[layout.InTable] = lookup.Units
		place.Skip = int(lookup.Skip)
	}
	q.Slice = comment.Slice{Size: place.Size, After: q.Slice.After, FromEnd: place.FromEnd}
	stretch := StretchOf(q).Skipping(place.Skip)
	if SkipApart(place.Skip, known.Sizes) {
		units.Add(p.expected(stretch, stretch.WantSkipped()), 1)
		stretch = stretch.From(comment.Place{})
	}
	units.Add(p.expected(stretch, stretch.Want(place.Size)), 1)
	return units
}

// expected returns the units of the first calls for some comments of a stretch.
func (p *Planner) expected(s Stretch, want int) layout.Units {
	units := layout.Units{}
	plan := p.Take(Request{Window: s.Window(s.Links[0]), Purpose: comment.ReadPage, Want: want, Skip: s.Skip()})
	for i := range plan.Chosen.Cover {
		part := &plan.Chosen.Cover[i]
		units[part.Index] += plan.estimator.expected(part)
	}
	return units
}

// expected returns the units of the first call of a part; 0 if the part is known to be empty.
func (e *estimator) expected(part *Part) float64 {
	s, none := e.share(part)
	if none && e.Trusted {
		return 0
	}
	return e.first(part, s).units
}
