package auth_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/moderation"
)

// stuck is a store in which another change always comes first.
type stuck struct{ *store }

func (s stuck) Replace(context.Context, comment.Comment, comment.Comment) error {
	s.writes++
	return comment.Errorf(comment.Conflict, "changed")
}

func (s stuck) Report(ctx context.Context, before, after comment.Comment, _ comment.Report) error {
	return s.Replace(ctx, before, after)
}

func (s stuck) Decide(ctx context.Context, before, after comment.Comment, _ comment.Decision) error {
	return s.Replace(ctx, before, after)
}

func (stuck) VotesBy(context.Context, []comment.VoteKey) (map[comment.VoteKey]comment.CastVote, map[comment.VoteKey]error, error) {
	return nil, nil, nil
}

func (s stuck) Delete(ctx context.Context, c comment.Comment) error { return s.Replace(ctx, c, c) }

func (s stuck) SetReply(ctx context.Context, c comment.Comment, _ *comment.Reply) error {
	return s.Replace(ctx, c, c)
}

func (s stuck) SetVote(ctx context.Context, _ comment.ID, _, _ comment.CastVote) error {
	return s.Replace(ctx, comment.Comment{}, comment.Comment{})
}

func (stuck) Audit(context.Context, comment.ID) ([]comment.Decision, error) { return nil, nil }

// If an item never meets the condition of a change, for example after damage by hand, the change is
// not retried for ever.
func TestChangesThatNeverGetThrough(t *testing.T) {
	customer, spam, words := "b", comment.Spam, "new"
	for _, row := range []struct {
		name   string
		viewer comment.Viewer
		change func(stuck, auth.Authorizer, string) ([]comment.Problem, error)
	}{
		{"a report", comment.Viewer{CustomerID: &customer}, func(s stuck, who auth.Authorizer, id string) ([]comment.Problem, error) {
			p := auth.Service{Store: s, Authorizer: who, Threshold: 3}
			return p.Report(t.Context(), comment.ReportDraft{CommentID: id, Reason: "SPAM"})
		}},
		{"a decision", comment.Viewer{Roles: comment.Moderator}, func(s stuck, who auth.Authorizer, id string) ([]comment.Problem, error) {
			j := auth.Service{Store: s, Authorizer: who}
			_, problems, err := j.Decide(t.Context(), comment.Verdict{ID: id, Version: 1, Reason: &spam})
			return problems, err
		}},
		{"an edit", comment.Viewer{Roles: comment.Moderator}, func(s stuck, who auth.Authorizer, id string) ([]comment.Problem, error) {
			w := auth.Service{Store: s, Authorizer: who}
			_, problems, err := w.Edit(t.Context(), id, 1, comment.Change{Text: &words})
			return problems, err
		}},
		{"a deletion", comment.Viewer{Roles: comment.Moderator}, func(s stuck, who auth.Authorizer, id string) ([]comment.Problem, error) {
			w := auth.Service{Store: s, Authorizer: who}
			_, problems, err := w.Delete(t.Context(), id, nil)
			return problems, err
		}},
		{"a deletion of a reply", comment.Viewer{Roles: comment.Moderator | comment.Merchant}, func(s stuck, who auth.Authorizer, id string) ([]comment.Problem, error) {
			s.kept.Reply = &comment.Reply{Text: "Thanks", Name: "Shop", CreatedAt: written, Version: 1}
			r := auth.Service{Store: s, Authorizer: who}
			_, problems, err := r.DeleteReply(t.Context(), id, nil)
			return problems, err
		}},
		{"a reply", comment.Viewer{Roles: comment.Moderator | comment.Merchant}, func(s stuck, who auth.Authorizer, id string) ([]comment.Problem, error) {
			r := auth.Service{Store: s, Authorizer: who, ShopName: "Shop"}
			_, problems, err := r.Reply(t.Context(), comment.ReplyDraft{CommentID: id, Text: "Thanks"})
			return problems, err
		}},
		{"a vote", comment.Viewer{CustomerID: &customer}, func(s stuck, who auth.Authorizer, id string) ([]comment.Problem, error) {
			v := auth.Service{Store: s, Authorizer: who}
			_, problems, err := v.Vote(t.Context(), id, comment.Helpful)
			return problems, err
		}},
	} {
		store := stuck{newStore(0)}
		problems, err := row.change(store, sender(row.viewer), string(store.kept.ID))
		if got := said(problems, err); got != "CONFLICT" || store.writes != 20 {
			t.Errorf("%s: %q after %d tries", row.name, got, store.writes)
		}
	}
}

// An imported comment may be too long for an edit to fit beside it. A text that the API accepts
// always fits.
func TestEditBesideALongComment(t *testing.T) {
	policy := must.Get(moderation.Open("hold", ""))(t)
	stars, words := 1, "short"
	for _, row := range []struct {
		reason string
		bytes  int
		change comment.Change
		want   string
	}{
		{"a new rating keeps both texts", comment.MaxTextBytes, comment.Change{Rating: &stars}, "TOO_LONG"},
		{"a short text beside a long one", comment.MaxTextBytes, comment.Change{Text: &words}, ""},
		{"both texts fit", 10_000, comment.Change{Rating: &stars}, ""},
	} {
		store, customer := newStore(0), "a"
		store.kept.Text = strings.Repeat("x", row.bytes)
		w := auth.Service{Store: store, Authorizer: sender(comment.Viewer{CustomerID: &customer}), Policy: policy}
		_, problems, err := w.Edit(t.Context(), string(store.kept.ID), 1, row.change)
		if got := said(problems, err); got != row.want || (store.writes > 0) != (row.want == "") {
			t.Errorf("%s: %q after %d writes", row.reason, got, store.writes)
		}
	}
}

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
		w := auth.Service{Store: audited{store: store}, Authorizer: sender(row.viewer), Threshold: 3}
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

// After each decision of moderators about a version, it takes twice as many reports to hold it
// again. Decisions about other versions do not count.
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
		w := auth.Service{Store: store, Authorizer: sender(comment.Viewer{CustomerID: &customer}), Threshold: 3}
		for reports := 1; reports <= row.want; reports++ {
			problems, err := w.Report(t.Context(), comment.ReportDraft{CommentID: string(store.kept.ID), Reason: "SPAM"})
			if waits := len(store.kept.Moderation.Held) > 0; err != nil || problems != nil || waits != (reports == row.want) {
				t.Errorf("%s: after %d reports it waits: %v; %v, %v", row.reason, reports, waits, problems, err)
			}
		}
	}
}

// An author cannot take a reported comment from the queue by taking it back and submitting it
// again.
func TestReportsOfAResubmittedComment(t *testing.T) {
	author := "a"
	for _, row := range []struct {
		reports int
		policy  string
		status  comment.Status
		held    []comment.HoldReason
	}{
		{2, "publish", comment.Approved, nil},
		{3, "publish", comment.Approved, []comment.HoldReason{comment.HeldReported}},
		{3, "hold", comment.Pending, []comment.HoldReason{comment.HeldAlways, comment.HeldReported}},
		{0, "hold", comment.Pending, []comment.HoldReason{comment.HeldAlways}},
	} {
		store := newStore(0)
		before := &store.kept
		before.Status, before.Moderation = comment.Approved, nil
		if row.reports > 0 {
			before.Moderation = &comment.Moderation{Reports: row.reports}
		}
		*before = must.Get(moderation.Withdraw(*before, before.Version))(t)
		w := auth.Service{Store: store, Authorizer: sender(comment.Viewer{CustomerID: &author}), Policy: must.Get(moderation.Open(row.policy, ""))(t), Threshold: 3}
		after, problems, err := w.Edit(t.Context(), string(before.ID), before.Version, comment.Change{Text: new("other words")})
		must.Do(t, err)
		if m := cmp.Or(after.Moderation, new(comment.Moderation)); problems != nil || after.Status != row.status || !slices.Equal(m.Held, row.held) || m.Reports != row.reports || m.Since.IsZero() != (row.held == nil) {
			t.Errorf("after %d reports with %s: %s, %+v, %v", row.reports, row.policy, after.Status, m, problems)
		}
	}
}

// Who edits or deletes beside an edit that waits learns which version to give: that of the comment
// does not change.
func TestVersionBesideAnEditThatWaits(t *testing.T) {
	author := "a"
	for version, want := range map[int]string{
		1: "an edit of the comment waits for a moderator, with version 3: read it in heldEdit, and give its version, not 1",
		2: "the comment has version 3, not 2: read it again, and decide anew",
		3: "",
	} {
		store := newStore(0)
		store.kept.Version, store.kept.Status = 1, comment.Approved
		store.kept.Moderation = &comment.Moderation{
			Held: []comment.HoldReason{comment.HeldEdited}, Since: written, HeldEdit: &comment.HeldEdit{Rating: 5, Language: "en", Text: "edit", At: written, Version: 3},
		}
		w := auth.Service{Store: store, Authorizer: sender(comment.Viewer{CustomerID: &author})}
		_, problems, err := w.Edit(t.Context(), string(store.kept.ID), version, comment.Change{Text: new("other words")})
		must.Do(t, err)
		if got := slices.Concat(problems, []comment.Problem{{}})[0].Message; got != want {
			t.Errorf("an edit of version %d: %q, want %q", version, got, want)
		}
	}
}
