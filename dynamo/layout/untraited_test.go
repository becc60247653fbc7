package layout

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// The item of a comment without traits, votes and pictures equals the item from before these
// existed. Lists index this item.
func TestItemWithoutTraits(t *testing.T) {
	title := "Good"
	c := comment.Comment{
		ID:        comment.IDOf(comment.PositionAt(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), [10]byte{9})),
		ProductID: "espresso", Status: comment.Approved, Language: "de", Rating: 5, Title: &title, Text: "It is good.", Version: 1,
		Author: comment.Author{ID: "42", Name: "Ada"},
	}
	got := must.Get(json.Marshal(Encode(c)))(t)
	want := `{"A":{"Value":"P#espresso"},"B":{"Value":"P#espresso/de/5"},"L":{"Value":"P#espresso/de"},` +
		`"PK":{"Value":"C#01KDYAK3481400000000000000"},"R":{"Value":"P#espresso/5"},"SK":{"Value":"C"},"U":{"Value":"c42"},` +
		`"h":{"Value":"Good"},"l":{"Value":"de"},"n":{"Value":"Ada"},"r":{"Value":"5"},"t":{"Value":"It is good."}}`
	if string(got) != want {
		t.Errorf("the item is\n%s\nwant\n%s", got, want)
	}
}
