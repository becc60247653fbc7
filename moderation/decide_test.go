package moderation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/moderation"
)

// words is what somebody said, in a version of a comment.
type words struct {
	text    string
	version int
}

// story is the model of a comment: what everyone sees of it, and what waits.
type story struct {
	status comment.Status
	said   words // by the comment itself
	waits  words // by an edit beside it, version 0 for none
	// refused says that a moderator rejected the comment, and none approved it since.
	refused bool
	// dropped is the version of an edit beside the comment that was rejected last, or of a comment
	// that was rejected beside an edit; 0 if another edit came since.
	dropped int
}

// latest is what the author wrote last.
func (s story) latest() words {
	if s.waits.version > 0 {
		return s.waits
	}
	return s.said
}

// edited returns the story after an edit.
func (s story) edited(said words, held, hide bool) story {
	switch {
	case s.status == comment.Pending || s.refused:
		return story{comment.Pending, said, words{}, s.refused, 0}
	case s.status == comment.Withdrawn && held, held && hide:
		return story{comment.Pending, said, words{}, false, 0}
	case held:
		return story{comment.Approved, s.said, said, false, 0}
	}
	return story{comment.Approved, said, words{}, false, 0}
}

// decided returns the story after a decision about a version, and whether there is anything to
// decide.
func (s story) decided(version int, approve bool) (after story, conflict bool) {
	edit := s.waits.version > 0 && version == s.waits.version
	switch {
	case !approve && (s.status == comment.Approved || s.status == comment.Rejected) && s.dropped > 0 && version == s.dropped: // as after a lost answer
		return s, false
	case s.status == comment.Withdrawn || !edit && version != s.said.version:
		return s, true
	case edit && approve:
		return story{comment.Approved, s.waits, words{}, false, 0}, false
	case edit:
		return story{comment.Approved, s.said, words{}, false, version}, false
	case approve:
		return story{comment.Approved, s.said, s.waits, false, s.dropped}, false
	case s.waits.version > 0:
		return story{comment.Rejected, s.waits, words{}, true, version}, false
	}
	return story{comment.Rejected, s.latest(), words{}, true, s.dropped}, false
}

// Random edits and decisions end where the model does. A comment waits exactly while there is
// something to decide, and says so; what the author wrote last is never lost but by the rejection
// of an edit.
func TestDecisionsFollowTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		reasons := func(held bool) []comment.HoldReason {
			if held {
				return []comment.HoldReason{comment.HeldLink}
			}
			return nil
		}
		held := rapid.Bool().Draw(t, "held")
		c := comment.Comment{ID: comment.IDOf(comment.FirstAt(now)), ProductID: "p", Rating: 5, Language: "en", Text: "first", Version: 1}
		c = moderation.Submit(c, reasons(held), now)
		model := story{comment.Approved, words{"first", 1}, words{}, false, 0}
		if held {
			model.status = comment.Pending
		}
		versions := map[int]bool{1: true}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Second)
			latest := model.latest()
			switch rapid.SampledFrom([]string{"edit", "approve", "reject", "withdraw"}).Draw(t, "step") {
			case "edit":
				held, hide := rapid.Bool().Draw(t, "held"), rapid.Bool().Draw(t, "hide")
				said := words{strings.Repeat("x", latest.version), c.NextVersion()}
				if versions[said.version] {
					t.Fatalf("two edits have version %d", said.version)
				}
				versions[said.version] = true
				edited := c.WithHeldEdit()
				edited.Text, edited.Version, edited.UpdatedAt = said.text, said.version, &now
				c, model = moderation.Edit(c, edited, reasons(held), hide, now), model.edited(said, held, hide)
			case "withdraw":
				after, err := moderation.Withdraw(c, latest.version)
				if (err != nil) != (model.status == comment.Rejected) {
					t.Fatalf("taking back a comment that is %s: %v", model.status, err)
				}
				if c = after; err == nil {
					model = story{comment.Withdrawn, latest, words{}, model.refused, model.dropped}
				}
			default:
				version := rapid.SampledFrom([]int{model.said.version, latest.version, latest.version + 1, model.dropped, 0}).Draw(t, "version")
				approve := rapid.Bool().Draw(t, "approve")
				want, conflict := model.decided(version, approve)
				after, err := moderation.Approve(c, version)
				if !approve {
					after, err = moderation.Reject(c, version, comment.Spam)
				}
				if conflict != (comment.KindOf(err) == comment.Conflict) || !conflict && err != nil {
					t.Fatalf("a decision about version %d of %+v: %v", version, model, err)
				}
				c, model = after, want
			}
			got := story{c.Status, words{c.Text, c.Version}, words{}, model.refused, model.dropped}
			if edit := c.HeldEdit(); edit != nil {
				got.waits = words{edit.Text, edit.Version}
			}
			if diff := cmp.Diff(model, got, cmp.AllowUnexported(story{}, words{})); diff != "" {
				t.Fatal(diff)
			}
			waits := c.Moderation != nil && len(c.Moderation.Held) > 0
			if must := c.Status == comment.Pending || c.HeldEdit() != nil; waits != must || waits && c.Moderation.Since.IsZero() {
				t.Fatalf("%+v waits: %v, %+v", model, waits, c.Moderation)
			}
			if reason := c.RejectionReason(); (reason != nil) != (c.Status == comment.Rejected) {
				t.Fatalf("%s for the reason %v", c.Status, reason)
			}
		}
	})
}

// An edit or a decision leaves exactly what still has to be known of a comment: why and since when
// it waits, its reports, and the version of a rejected edit. Reports are settled by a decision
// about the comment, and not by one about an edit beside it. They outlive a withdrawal, since who
// reported a comment cannot report it again.
func TestWhatIsLeftOfModeration(t *testing.T) {
	type moderated = comment.Moderation
	type reasons = []comment.HoldReason
	since, now, title := time.Unix(1, 0), time.Unix(2, 0), "New"
	spam, offTopic := comment.Spam, comment.OffTopic
	edit := func(hide bool, reasons ...comment.HoldReason) func(comment.Comment) (comment.Comment, error) {
		return func(before comment.Comment) (comment.Comment, error) {
			edited := before.WithHeldEdit()
			edited.Rating, edited.Language, edited.Title, edited.Text, edited.Media = 4, "de", &title, "new", []comment.Media{{Path: "a.jpg"}}
			edited.Version, edited.UpdatedAt = before.NextVersion(), &now
			return moderation.Edit(before, edited, reasons, hide, now), nil
		}
	}
	approve := func(version int) func(comment.Comment) (comment.Comment, error) {
		return func(c comment.Comment) (comment.Comment, error) { return moderation.Approve(c, version) }
	}
	reject := func(version int, reason comment.RejectionReason) func(comment.Comment) (comment.Comment, error) {
		return func(c comment.Comment) (comment.Comment, error) { return moderation.Reject(c, version, reason) }
	}
	withdraw := func(version int) func(comment.Comment) (comment.Comment, error) {
		return func(c comment.Comment) (comment.Comment, error) { return moderation.Withdraw(c, version) }
	}
	held := &comment.HeldEdit{Rating: 4, Language: "de", Title: &title, Text: "new", Media: []comment.Media{{Path: "a.jpg"}}, At: now, Version: 2}
	both := moderated{Held: reasons{comment.HeldEdited, comment.HeldReported}, HeldEdit: held, Reports: 3, Since: since}
	reported := moderated{Held: reasons{comment.HeldReported}, Reports: 3, Since: since}
	for _, row := range []struct {
		why    string
		status comment.Status
		before moderated
		do     func(comment.Comment) (comment.Comment, error)
		after  comment.Status
		want   *moderated
	}{
		{
			"a comment that waits keeps its place, its reports and its reasons", comment.Pending,
			moderated{Held: reasons{comment.HeldReported, comment.HeldWord}, Reports: 3, Since: since}, edit(false, comment.HeldLink),
			comment.Pending, &moderated{Held: reasons{comment.HeldReported, comment.HeldLink, comment.HeldWord}, Reports: 3, Since: since},
		},
		{
			"an edit waits beside a reported comment", comment.Approved, reported, edit(false, comment.HeldLink),
			comment.Approved, &moderated{Held: reasons{comment.HeldEdited, comment.HeldReported, comment.HeldLink}, HeldEdit: held, Reports: 3, Since: since},
		},
		{
			"an edit hides a reported comment", comment.Approved, reported, edit(true, comment.HeldLink),
			comment.Pending, &moderated{Held: reasons{comment.HeldEdited, comment.HeldReported, comment.HeldLink}, Reports: 3, Since: since},
		},
		{"an edit is shown, and the comment stays reported", comment.Approved, reported, edit(false), comment.Approved, &reported},
		{"so does a comment with few reports", comment.Approved, moderated{Reports: 1}, edit(false), comment.Approved, &moderated{Reports: 1}},
		{
			"an edit of a rejected comment", comment.Rejected, moderated{Reason: &spam}, edit(false, comment.HeldLink),
			comment.Pending, &moderated{Held: reasons{comment.HeldEdited, comment.HeldLink}, RejectedEdit: 1, Since: now},
		},
		{
			"another edit of it", comment.Pending, moderated{Held: reasons{comment.HeldWord}, RejectedEdit: 1, Since: since}, edit(false, comment.HeldLink),
			comment.Pending, &moderated{Held: reasons{comment.HeldEdited, comment.HeldLink, comment.HeldWord}, RejectedEdit: 1, Since: since},
		},
		{"the comment was approved since", comment.Approved, moderated{RejectedEdit: 1}, edit(false), comment.Approved, nil},
		{"only an edit beside it was rejected before it was taken back", comment.Withdrawn, moderated{RejectedEdit: 2}, edit(false), comment.Approved, nil},
		{"the comment is fine", comment.Approved, reported, approve(1), comment.Approved, nil},
		{"its rejection is settled", comment.Pending, moderated{Held: reasons{comment.HeldEdited}, RejectedEdit: 1, Since: since}, approve(1), comment.Approved, nil},
		{"no later edit has the version of a rejected one", comment.Approved, moderated{RejectedEdit: 2, Reports: 1}, approve(1), comment.Approved, &moderated{RejectedEdit: 2}},
		{
			"the comment is fine, and its edit goes on waiting", comment.Approved, both, approve(1),
			comment.Approved, &moderated{Held: reasons{comment.HeldEdited}, HeldEdit: held, Since: since},
		},
		{"the edit takes the place of what was reported", comment.Approved, both, approve(2), comment.Approved, nil},
		{
			"the edit is rejected, and what was reported stands", comment.Approved, both, reject(2, spam),
			comment.Approved, &moderated{Held: reasons{comment.HeldReported}, RejectedEdit: 2, Reports: 3, Since: since},
		},
		{
			"the same again", comment.Approved, moderated{Held: reasons{comment.HeldReported}, RejectedEdit: 2, Reports: 3, Since: since}, reject(2, spam),
			comment.Approved, &moderated{Held: reasons{comment.HeldReported}, RejectedEdit: 2, Reports: 3, Since: since},
		},
		{"a comment is rejected after its edit", comment.Approved, moderated{RejectedEdit: 2}, reject(1, spam), comment.Rejected, &moderated{Reason: &spam, RejectedEdit: 2}},
		{"the same again", comment.Rejected, moderated{Reason: &spam, RejectedEdit: 2}, reject(1, spam), comment.Rejected, &moderated{Reason: &spam, RejectedEdit: 2}},
		{"the rejection of its edit again", comment.Rejected, moderated{Reason: &spam, RejectedEdit: 2}, reject(2, offTopic), comment.Rejected, &moderated{Reason: &spam, RejectedEdit: 2}},
		{"a comment is rejected with its edit", comment.Approved, both, reject(1, spam), comment.Rejected, &moderated{Reason: &spam, RejectedEdit: 1}},
		{"for another reason", comment.Rejected, moderated{Reason: &spam}, reject(1, offTopic), comment.Rejected, &moderated{Reason: &offTopic}},
		{"a comment is taken back", comment.Approved, moderated{RejectedEdit: 2, Reports: 1}, withdraw(1), comment.Withdrawn, &moderated{RejectedEdit: 2, Reports: 1}},
		{"the same again", comment.Withdrawn, moderated{RejectedEdit: 2, Reports: 1}, withdraw(1), comment.Withdrawn, &moderated{RejectedEdit: 2, Reports: 1}},
		{"reports outlive that, and do not hold the comment any more", comment.Approved, reported, withdraw(1), comment.Withdrawn, &moderated{Reports: 3}},
		{"so they do when it is submitted again", comment.Withdrawn, moderated{Reports: 3}, edit(false), comment.Approved, &moderated{Reports: 3}},
		{
			"and is held", comment.Withdrawn, moderated{Reports: 3}, edit(false, comment.HeldLink),
			comment.Pending, &moderated{Held: reasons{comment.HeldLink}, Reports: 3, Since: now},
		},
		{"a version that neither the comment nor its edit has", comment.Approved, both, withdraw(3), comment.Approved, &both},
	} {
		before := row.before
		after, err := row.do(comment.Comment{Rating: 5, Version: 1, Status: row.status, Moderation: &before})
		if diff := cmp.Diff(row.want, after.Moderation); diff != "" || after.Status != row.after || (err != nil) != (row.want == &both) {
			t.Errorf("%s: %s, %v, %s", row.why, after.Status, err, diff)
		}
	}
}
