package planner

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Within tells whether a position lies in the stretch that was read to take these comments.
func (p Plan) Within(position comment.Position, taken []layout.Compressed) bool {
	if position.Compare(p.Low) < 0 || position.Compare(p.High) > 0 {
		return false
	}
	if len(taken) < p.Want {
		return true // the stretch was read to its end
	}
	return len(taken) > 0 && p.Direction(position, taken[len(taken)-1].ID.Position()) <= 0
}

// Direction compares positions in the direction of reading: it is negative if a is read before b.
func (p Plan) Direction(a, b comment.Position) int {
	if p.Descending {
		return b.Compare(a)
	}
	return a.Compare(b)
}
