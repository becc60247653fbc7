package planner_test

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// The comments that a part can hold decide where a moved comment is looked for, and how many
// comments are expected.
func TestPartHolds(t *testing.T) {
	german := comment.Cell{Language: "de", Rating: 4}
	helpful := comment.Cell{Language: "de", Rating: 4, Traits: comment.IsHelpful}
	for _, row := range []struct {
		why  string
		part planner.Part
		cell comment.Cell
		want bool
	}{
		{"the whole product has every comment", planner.Part{Partition: layout.Partition{Index: layout.All}}, german, true},
		{"a language has its comments", planner.Part{Partition: layout.Partition{Index: layout.ByLang, Language: "de"}}, german, true},
		{"and no others", planner.Part{Partition: layout.Partition{Index: layout.ByLang, Language: "fr"}}, german, false},
		{"a rating has no others", planner.Part{Partition: layout.Partition{Index: layout.ByRating, Rating: 5}}, german, false},
		{"the index of helpful comments has those with votes", planner.Part{Partition: layout.Partition{Index: layout.ByHelpful}}, helpful, true},
		{"and none without", planner.Part{Partition: layout.Partition{Index: layout.ByHelpful}}, german, false},
		{"a residual filter drops ratings", planner.Part{Partition: layout.Partition{Index: layout.All}, Conditions: comment.Filter{Ratings: []int{1}}.Conditions()}, german, false},
		{"what has no votes is the rest of the helpful ones", planner.Part{Partition: layout.Partition{Index: layout.All}, Conditions: comment.Filter{Helpful: new(false)}.Conditions()}, helpful, false},
		{"a condition on another trait is that of all parts", planner.Part{Partition: layout.Partition{Index: layout.All}, Conditions: comment.Filter{Verified: new(true)}.Conditions()}, german, true},
	} {
		if got := row.part.Holds(row.cell); got != row.want {
			t.Errorf("%s: %v", row.why, got)
		}
	}
}
