package comment_test

import (
	"testing"

	"github.com/talkback/talkback/comment"
)

// An imported author is no customer, also of the same ID. Only moderators change its comments, and
// no sender writes as it.
func TestImportedAuthorsAreNoCustomers(t *testing.T) {
	author := comment.Author{ID: "42"}
	imported := author
	imported.Imported = true
	for why, row := range map[string]struct {
		viewer                comment.Viewer
		adds, changes, others bool // as the customer; and the changes of the imported author's comments
	}{
		"the customer with the ID": {comment.Viewer{CustomerID: new("42")}, true, true, false},
		"another customer":         {comment.Viewer{CustomerID: new("43")}, false, false, false},
		"the shop":                 {comment.Viewer{Roles: comment.Shop}, true, true, false},
		"a moderator":              {comment.Viewer{Roles: comment.Moderator}, false, true, true},
		"a server without tokens":  {comment.Viewer{Open: true}, true, true, true},
		"nobody":                   {comment.Viewer{}, false, false, false},
	} {
		if got := row.viewer.CheckAuthor(author) == nil; got != row.adds {
			t.Errorf("%s adds a comment of the customer: %v", why, got)
		}
		if row.viewer.CheckAuthor(imported) == nil {
			t.Errorf("%s adds a comment of an imported author", why)
		}
		if got := row.viewer.CheckChange(author) == nil; got != row.changes {
			t.Errorf("%s changes a comment of the customer: %v", why, got)
		}
		if got := row.viewer.CheckChange(imported) == nil; got != row.others {
			t.Errorf("%s changes a comment of an imported author: %v", why, got)
		}
	}
}

// Who may not vote is told which token is missing.
func TestCannotVoteReason(t *testing.T) {
	for why, row := range map[string]struct {
		viewer comment.Viewer
		want   comment.CannotVoteReason
	}{
		"a customer":               {comment.Viewer{CustomerID: new("42")}, ""},
		"a visitor":                {comment.Viewer{VisitorID: "v"}, ""},
		"nobody":                   {comment.Viewer{}, comment.CustomerTokenRequired},
		"nobody, but visitors may": {comment.Viewer{VisitorsVote: true}, comment.VisitorTokenRequired},
	} {
		got := row.viewer.CannotVoteReason()
		if (got == nil) != (row.want == "") || got != nil && *got != row.want {
			t.Errorf("%s: %v, want %q", why, got, row.want)
		}
	}
}
