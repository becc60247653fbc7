package auth_test

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
)

// sender is a caller.
type sender comment.Viewer

func (s sender) Identify(context.Context) (comment.Viewer, error) {
	if s.CannotWriteReason != nil {
		return comment.Viewer(s), comment.Errorf(comment.Unauthenticated, "sign in")
	}
	return comment.Viewer(s), nil
}

// A merchant replies to comments that everyone sees; a moderator with that role, to any comment.
// Nobody else learns whether there is a comment.
func TestWhoMayReply(t *testing.T) {
	author, other, reason := "a", "b", comment.TokenRequired
	for _, row := range []struct {
		why    string
		viewer comment.Viewer
		status comment.Status
		want   string // a code, FORBIDDEN, or nothing
	}{
		{"an anonymous visitor", comment.Viewer{CannotWriteReason: &reason}, comment.Approved, "UNAUTHENTICATED"},
		{"a customer", comment.Viewer{CustomerID: &other}, comment.Approved, "FORBIDDEN"},
		{"the author", comment.Viewer{CustomerID: &author}, comment.Approved, "FORBIDDEN"},
		{"a moderator with a signed token", comment.Viewer{CustomerID: &other, Roles: comment.Moderator}, comment.Approved, "FORBIDDEN"},
		{"the shop's own servers", comment.Viewer{CustomerID: &other, Roles: comment.Shop}, comment.Approved, "FORBIDDEN"},
		{"a merchant", comment.Viewer{CustomerID: &other, Roles: comment.Merchant}, comment.Approved, ""},
		{"a merchant, to a pending comment", comment.Viewer{CustomerID: &other, Roles: comment.Merchant}, comment.Pending, "NOT_FOUND"},
		{"a merchant, to a rejected comment", comment.Viewer{CustomerID: &other, Roles: comment.Merchant}, comment.Rejected, "NOT_FOUND"},
		{"the moderators' token, to a pending comment", comment.Viewer{Roles: comment.Moderator | comment.Merchant | comment.Shop}, comment.Pending, ""},
		{"anyone of an open server, to a withdrawn comment", comment.Viewer{Open: true}, comment.Withdrawn, ""},
	} {
		store := newStore(0)
		store.kept.Status = row.status
		w := auth.Service{Store: store, Authorizer: sender(row.viewer), ShopName: "Shop"}
		_, problems, err := w.Reply(t.Context(), comment.ReplyDraft{CommentID: string(store.kept.ID), Text: "Thanks"})
		if got := said(problems, err); got != row.want || (store.kept.Reply != nil) != (row.want == "") {
			t.Errorf("%s replies: %q, want %q; the reply is %v", row.why, got, row.want, store.kept.Reply)
		}
		store.kept.Reply = &comment.Reply{Text: "Thanks", Name: "Shop", CreatedAt: written, Version: 1}
		_, problems, err = w.DeleteReply(t.Context(), string(store.kept.ID), nil)
		if got := said(problems, err); got != row.want || (store.kept.Reply == nil) != (row.want == "") {
			t.Errorf("%s deletes the reply: %q, want %q; the reply is %v", row.why, got, row.want, store.kept.Reply)
		}
	}
}

// said returns the code of the only problem, or the kind of the error.
func said(problems []comment.Problem, err error) string {
	switch {
	case comment.KindOf(err) == comment.Forbidden && err != nil:
		return "FORBIDDEN"
	case comment.KindOf(err) == comment.Unauthenticated && err != nil:
		return "UNAUTHENTICATED"
	case err != nil:
		return err.Error()
	case len(problems) == 0:
		return ""
	}
	return string(problems[0].Code)
}

// A reply has its own version, and writing the same again changes nothing.
func TestReplies(t *testing.T) {
	long, shop, other := strings.Repeat("ü", comment.MaxReply), "Shop", "Ada of Shop"
	first := comment.Reply{Text: "Thanks", Name: shop, CreatedAt: written, Version: 3}
	for _, row := range []struct {
		why   string
		there *comment.Reply
		draft comment.ReplyDraft
		code  string
		want  comment.Reply // the reply in the end
	}{
		{"a first one", nil, comment.ReplyDraft{Text: "Thanks"}, "", comment.Reply{Text: "Thanks", Name: shop, Version: 1}},
		{"with a name of its own", nil, comment.ReplyDraft{Text: "Thanks", Name: &other}, "", comment.Reply{Text: "Thanks", Name: other, Version: 1}},
		{"as long as may be", nil, comment.ReplyDraft{Text: long}, "", comment.Reply{Text: long, Name: shop, Version: 1}},
		{"an edit keeps the name", &comment.Reply{Text: "x", Name: other, CreatedAt: written, Version: 1}, comment.ReplyDraft{Version: 1, Text: "y"}, "", comment.Reply{Text: "y", Name: other, Version: 2}},
		{"an edit of a version that is gone", &first, comment.ReplyDraft{Version: 2, Text: "y"}, "CONFLICT", first},
		{"a first one where one is", &first, comment.ReplyDraft{Text: "y"}, "CONFLICT", first},
		{"an edit of one that is gone", nil, comment.ReplyDraft{Version: 1, Text: "y"}, "CONFLICT", comment.Reply{}},
		{"the same again, as after a lost answer", &first, comment.ReplyDraft{Version: 2, Text: "Thanks"}, "", first},
		{"no text", nil, comment.ReplyDraft{Text: " \n"}, "EMPTY", comment.Reply{}},
		{"no name", nil, comment.ReplyDraft{Text: "x", Name: new("")}, "EMPTY", comment.Reply{}},
		{"too long", nil, comment.ReplyDraft{Text: long + "u"}, "TOO_LONG", comment.Reply{}},
		{"a control character", nil, comment.ReplyDraft{Text: "\a"}, "MALFORMED", comment.Reply{}},
		{"no text for an edit", &first, comment.ReplyDraft{Version: 3}, "EMPTY", first},
	} {
		store := newStore(0)
		store.kept.Reply, row.draft.CommentID = row.there, string(store.kept.ID)
		w := auth.Service{Store: store, Authorizer: everyone, ShopName: shop}
		_, problems, err := w.Reply(t.Context(), row.draft)
		var got comment.Reply
		if store.kept.Reply != nil {
			got = *store.kept.Reply
		}
		if said(problems, err) != row.code || got.Text != row.want.Text || got.Name != row.want.Name || got.Version != row.want.Version ||
			(got.UpdatedAt != nil) != (got.Version == 2) {
			t.Errorf("%s: %q and %+v; want %q and %+v", row.why, said(problems, err), got, row.code, row.want)
		}
	}
}

// The time of an edit is never before the reply was written or last edited, even if this server's
// clock is behind.
func TestTimeOfReplyNeverGoesBack(t *testing.T) {
	store, text := newStore(0), "Thanks"
	for _, row := range []struct{ now, want time.Duration }{{time.Minute, time.Minute}, {0, time.Minute}, {time.Hour, time.Hour}, {time.Minute, time.Hour}} {
		beginning(t, written.Add(row.now), func(t *testing.T) {
			text += "!"
			draft := comment.ReplyDraft{CommentID: string(store.kept.ID), Version: cmp.Or(store.kept.Reply, new(comment.Reply)).Version, Text: text}
			w := auth.Service{Store: store, Authorizer: everyone, ShopName: "Shop"}
			after, problems, err := w.Reply(t.Context(), draft)
			if err != nil || len(problems) > 0 {
				t.Fatal(problems, err)
			}
			if at := *cmp.Or(after.Reply.UpdatedAt, &after.Reply.CreatedAt); !at.Equal(written.Add(row.want)) {
				t.Errorf("written at %s: it has the time %s, want %s", row.now, at.Sub(written), row.want)
			}
		})
	}
}

// A deletion without a version succeeds whatever edits come; one with a version does not.
func TestReplyIsDeletedBesideEdits(t *testing.T) {
	store := newStore(1)
	store.kept.Reply = &comment.Reply{Text: "Thanks", Name: "Shop", CreatedAt: written, Version: 1}
	w := auth.Service{Store: store, Authorizer: everyone}
	_, problems, err := w.DeleteReply(t.Context(), string(store.kept.ID), new(1))
	if got := said(problems, err); got != "CONFLICT" {
		t.Errorf("an edited reply is deleted: %q", got)
	}
	store.edits = 1
	if _, problems, err = w.DeleteReply(t.Context(), string(store.kept.ID), nil); said(problems, err) != "" || store.kept.Reply != nil {
		t.Errorf("the reply stays: %q, %v", said(problems, err), store.kept.Reply)
	}
	if _, problems, err = w.DeleteReply(t.Context(), string(store.kept.ID), nil); said(problems, err) != "NOT_FOUND" {
		t.Errorf("a reply that is gone is deleted: %q", said(problems, err))
	}
}
