package restore

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// A vote and a report have their own age, not their comment's. An author who returned after an
// erasure keeps those about older comments.
func TestAuthorOf(t *testing.T) {
	old, late := comment.IDOf(comment.FirstAt(time.UnixMilli(1e12))), time.UnixMilli(2e12).UTC()
	for name, it := range map[string]layout.Item{
		"vote":   layout.VoteItem(old, "0f", comment.CastVote{By: "u1", Vote: comment.Helpful, At: late}),
		"report": layout.ReportItem(old, "0f", comment.Report{By: "u1", Reason: "SPAM", At: late}),
	} {
		if c, known := authorOf(it); !known || c.Author.ID != "u1" || !c.CreatedAt().Equal(late) {
			t.Errorf("%s: %v by %q at %v", name, known, c.Author.ID, c.CreatedAt())
		}
	}
	if _, known := authorOf(layout.Key("IMPORTS", "NUMBERS")); known {
		t.Error("an item of an import has an author")
	}
}
