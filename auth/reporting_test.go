package auth_test

import (
	"context"
	"strings"
	"testing"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
)

// Customers can report comments that everyone sees, except their own.
func TestWhoMayReport(t *testing.T) {
	author, other, reason := "a", "b", comment.TokenRequired
	for _, row := range []struct {
		why    string
		viewer comment.Viewer
		status comment.Status
		note   string
		want   string
	}{
		{"an anonymous visitor", comment.Viewer{CannotWriteReason: &reason}, comment.Approved, "", "UNAUTHENTICATED"},
		{"the moderators' token: it is no customer", comment.Viewer{Roles: comment.Moderator | comment.Merchant | comment.Shop}, comment.Approved, "", "FORBIDDEN"},
		{"anyone of an open server, who is no customer", comment.Viewer{Open: true}, comment.Approved, "", "FORBIDDEN"},
		{"the author", comment.Viewer{CustomerID: &author}, comment.Approved, "", "FORBIDDEN"},
		{"a customer", comment.Viewer{CustomerID: &other}, comment.Approved, strings.Repeat("ü", 500), ""},
		{"an employee with a role", comment.Viewer{CustomerID: &other, Roles: comment.Moderator}, comment.Approved, "", ""},
		{"a customer, a long note", comment.Viewer{CustomerID: &other}, comment.Approved, strings.Repeat("u", 501), "TOO_LONG"},
		{"a customer, a pending comment", comment.Viewer{CustomerID: &other}, comment.Pending, "", "NOT_FOUND"},
		{"the author, a rejected comment", comment.Viewer{CustomerID: &author}, comment.Rejected, "", "NOT_FOUND"},
	} {
		store := newStore(1) // another change comes first
		store.kept.Status = row.status
		w := auth.Reporter{Store: audited{store: store}, Authorizer: sender(row.viewer), Threshold: 3}
		problems, err := w.Report(t.Context(), comment.ReportDraft{CommentID: string(store.kept.ID), Reason: "SPAM", Note: row.note})
		if got := said(problems, err); got != row.want || (store.kept.Moderation != nil) != (row.want == "") {
			t.Errorf("%s: %q, want %q; %+v is kept", row.why, got, row.want, store.kept.Moderation)
		}
	}
}

// audited is a store with decisions about its comment.
type audited struct {
	*store
	decisions []comment.Decision
}

func (a audited) Audit(context.Context, comment.ID) ([]comment.Decision, error) {
	return a.decisions, nil
}

// After each decision of moderators about a version, it takes twice as many reports to hold it again. Decisions about
// other versions do not count.
func TestDecisionsDoubleTheThreshold(t *testing.T) {
	customer := "b"
	for _, row := range []struct {
		reason  string
		decided []int // versions
		want    int   // reports until it is held
	}{
		{"nobody looked at it", nil, 3},
		{"a moderator looked at it", []int{1}, 6},
		{"twice", []int{1, 1}, 12},
		{"at what it said before", []int{2, 2, 2}, 3},
	} {
		store := audited{store: newStore(0)}
		for _, version := range row.decided {
			store.decisions = append(store.decisions, comment.Decision{Version: version})
		}
		w := auth.Reporter{Store: store, Authorizer: sender(comment.Viewer{CustomerID: &customer}), Threshold: 3}
		for reports := 1; reports <= row.want; reports++ {
			problems, err := w.Report(t.Context(), comment.ReportDraft{CommentID: string(store.kept.ID), Reason: "SPAM"})
			if waits := len(store.kept.Moderation.Held) > 0; err != nil || problems != nil || waits != (reports == row.want) {
				t.Errorf("%s: after %d reports it waits: %v; %v, %v", row.reason, reports, waits, problems, err)
			}
		}
	}
}
