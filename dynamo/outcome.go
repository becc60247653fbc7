package dynamo

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// sizes are the sizes of all items that the run has read.
func (r *run) sizes() measured {
	var all measured
	r.each(func(one *run) {
		for i := range one.reads {
			for rating, sizes := range one.reads[i].sizes {
				all[rating].add(sizes)
			}
		}
	})
	return all
}

// held describes the page for which the run took these comments, at least one.
func (r *run) held(taken []layout.Compressed) *planner.LastPage {
	held := planner.NewLastPage(taken, len(taken) == r.plan.Want)
	r.each(func(one *run) {
		for i, read := range one.plan.Reads {
			held.NoteScan(read.Part, one.reads[i].scanned, one.reads[i].returned)
		}
	})
	return held
}

// fromNewest tells whether the run began with the newest comment of the list.
func (r *run) fromNewest() bool { return r.plan.Descending && r.plan.High == comment.MaxPosition }

// improper are the items that the run passed over.
func (r *run) improper() []layout.Improper {
	var out []layout.Improper
	r.each(func(one *run) {
		for i := range one.reads {
			out = append(out, one.reads[i].improper...)
		}
	})
	return out
}

// readAt are the parts that were read where a position is. It leaves out those of an attempt that
// was given up, and of what followed it.
func (r *run) readAt(position comment.Position) []planner.Part {
	var out []planner.Part
	for i, read := range r.plan.Reads {
		state := &r.reads[i]
		switch {
		case len(state.rest.runs) == 0 || r.plan.Direction(position, boundOf(state.start).ID.Position()) <= 0:
			out = append(out, read.Part)
		case len(state.rest.runs) == 1:
			out = append(out, state.rest.runs[0].readAt(position)...)
		}
	}
	return out
}
