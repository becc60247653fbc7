package planner

import "github.com/talkback/talkback/comment"

// Request is a stretch of a list that is to be read.
type Request struct {
	// Window is the stretch.
	Window Window
	// Purpose is why it is read.
	Purpose comment.ReadPurpose
	// Want is how many comments to take from it.
	Want int
	// Skip is how many of these are left out again.
	Skip int
	// WithoutText leaves out the texts of the comments.
	WithoutText bool
	// Last is what the same stretch held when it was last read, nil if that is not known.
	Last *LastPage
	// Sample is what the read told that this request is the rest of, nil for none.
	Sample *Sample
}

// partial tells whether the stretch may be any part of the list.
func (r Request) partial(filter comment.Filter) bool {
	return r.Window.start != nil || filter.Dated() || r.Sample != nil && r.Sample.partial
}

// before is how many comments of the list there are at least, because pages before this one were
// read.
func (r Request) before() int {
	least := r.Skip / 2
	if r.Window.start != nil {
		least = max(least, r.Want/2)
	}
	return max(least, r.Last.total())
}
