package moderation

import (
	"cmp"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
)

// Submit returns a new comment in its first state: approved, or pending since now if there are
// reasons to hold it.
func Submit(c comment.Comment, reasons []comment.HoldReason, now time.Time) comment.Comment {
	c.Status, c.Moderation = comment.Approved, nil
	if len(reasons) > 0 {
		c.Status, c.Moderation = comment.Pending, &comment.Moderation{Held: reasons, Since: now}
	}
	return c
}

// Edit returns a comment as it is stored after an edit. before is the stored comment, edited has
// the new content and version, and reasons are why a new comment with this content would be held. A
// held edit of an approved comment waits beside it, or hides it if hide is set. An edit of a
// rejected comment always waits: its author cannot overrule a moderator, not even by taking it back
// first.
func Edit(before, edited comment.Comment, reasons []comment.HoldReason, hide bool, now time.Time) comment.Comment {
	was := *cmp.Or(before.Moderation, new(comment.Moderation))
	if was.Since.IsZero() {
		was.Since = now
	}
	waits := &comment.Moderation{Since: was.Since, Reports: was.Reports}
	edited.Status, edited.Moderation = comment.Pending, waits
	if refused := refusedVersion(before); refused > 0 {
		waits.RejectedEdit = refused
		waits.Held = union(union(was.Held, reasons), []comment.HoldReason{comment.HeldEdited})
		return edited
	}
	switch before.Status {
	case comment.Pending: // even if the rules would no longer hold it: a moderator looks at it anyway
		waits.Held = union(was.Held, reasons)
		return edited
	case comment.Withdrawn:
		edited = Submit(edited, reasons, now)
		if edited.Moderation == nil {
			edited.Moderation = onlyReports(was)
		} else {
			edited.Moderation.Reports = was.Reports
		}
		return edited
	}
	if len(reasons) == 0 {
		edited.Status, edited.Moderation = comment.Approved, onlyReports(was)
		return edited
	}
	waits.Held = union(union(was.Held, reasons), []comment.HoldReason{comment.HeldEdited})
	if hide {
		return edited
	}
	waits.HeldEdit = &comment.HeldEdit{
		Rating: edited.Rating, Language: edited.Language, Title: edited.Title, Text: edited.Text, Media: edited.Media,
		At: *edited.UpdatedAt, Version: edited.Version,
	}
	before.Moderation = waits
	return before
}

// refusedVersion returns the version of a comment that a moderator rejected and none approved
// since, 0 if there is none. An edit that was rejected beside an approved comment has a later
// version than the comment.
func refusedVersion(c comment.Comment) int {
	switch rejected := c.RejectedEdit(); {
	case c.Status == comment.Rejected:
		return c.Version
	case c.Status != comment.Approved && rejected <= c.Version:
		return rejected
	}
	return 0
}

// onlyReports returns a comment's moderation with nothing but its reports, and the wait that they
// caused; nil if there are none.
func onlyReports(was comment.Moderation) *comment.Moderation {
	if was.Reports == 0 {
		return nil
	}
	left := &comment.Moderation{Reports: was.Reports}
	if slices.Contains(was.Held, comment.HeldReported) {
		left.Held, left.Since = []comment.HoldReason{comment.HeldReported}, was.Since
	}
	return left
}

// Reported returns the moderation of a comment which waits, since now at the latest, if it has the
// reports needed for that.
func Reported(m comment.Moderation, needed int, now time.Time) *comment.Moderation {
	if m.Reports == 0 || m.Reports < needed || slices.Contains(m.Held, comment.HeldReported) {
		return &m
	}
	if m.Since.IsZero() {
		m.Since = now
	}
	m.Held = union(m.Held, []comment.HoldReason{comment.HeldReported})
	return &m
}

// union returns the reasons of two lists, each once, in the order of comment.HoldReasons.
func union(a, b []comment.HoldReason) []comment.HoldReason {
	return slices.DeleteFunc(comment.HoldReasons(), func(reason comment.HoldReason) bool {
		return !slices.Contains(a, reason) && !slices.Contains(b, reason)
	})
}

// Approve returns a comment after a moderator approved a version of it: the comment itself, or the
// edit that waits beside it. It returns the same comment if that is approved already, and a
// Conflict error if there is no such version any more.
func Approve(before comment.Comment, version int) (comment.Comment, error) {
	edit := before.HeldEdit()
	switch {
	case before.Status == comment.Withdrawn:
		return before, errWithdrawn
	case edit != nil && version == edit.Version:
		after := before.WithHeldEdit()
		after.Moderation = nil
		return after, nil
	case version != before.Version:
		return before, conflict(before, version)
	}
	after := before
	after.Status, after.Moderation = comment.Approved, nil
	if rejected := before.RejectedEdit(); rejected > before.Version {
		after.Moderation = &comment.Moderation{RejectedEdit: rejected} // no later edit may reuse its version
	}
	if edit != nil { // it goes on waiting; what was reported is settled
		after.Moderation = &comment.Moderation{HeldEdit: edit, Since: before.Moderation.Since, Held: slices.DeleteFunc(
			slices.Clone(before.Moderation.Held), func(reason comment.HoldReason) bool { return reason == comment.HeldReported })}
	}
	return after, nil
}

// Reject returns a comment after a moderator rejected a version of it. The rejection of an edit
// that waits drops the edit, and leaves the comment as everyone sees it. It returns the same
// comment if that version was rejected already.
func Reject(before comment.Comment, version int, reason comment.RejectionReason) (comment.Comment, error) {
	edit := before.HeldEdit()
	after := before
	switch {
	case before.Status == comment.Withdrawn:
		return before, errWithdrawn
	case edit != nil && version == edit.Version:
		after.Moderation = cmp.Or(onlyReports(*before.Moderation), &comment.Moderation{})
		after.Moderation.RejectedEdit = edit.Version
		return after, nil
	case version > 0 && version == before.RejectedEdit() && (before.Status == comment.Rejected || before.Status == comment.Approved && version > before.Version):
		return before, nil
	case version != before.Version:
		return before, conflict(before, version)
	}
	after = before.WithHeldEdit() // the author's latest text is not lost
	after.Status, after.Moderation = comment.Rejected, &comment.Moderation{Reason: &reason, RejectedEdit: before.RejectedEdit()}
	if edit != nil { // the comment now has the version of the edit: a repeat is recognized by the one it is about
		after.Moderation.RejectedEdit = version
	}
	return after, nil
}

// Withdraw returns a comment after its author took it back. It keeps the version of a rejected
// edit, and the number of reports, since nobody reports twice.
func Withdraw(before comment.Comment, version int) (comment.Comment, error) {
	if edit := before.HeldEdit(); version != before.Version && (edit == nil || version != edit.Version) {
		return before, conflict(before, version)
	}
	if before.Status == comment.Rejected {
		return before, comment.Errorf(comment.Conflict, "the comment was rejected, so that nobody else sees it: edit it to submit it again, or delete it")
	}
	after := before.WithHeldEdit()
	if m := after.Moderation; m != nil {
		after.Moderation = &comment.Moderation{RejectedEdit: m.RejectedEdit, Reports: m.Reports}
	}
	after.Status = comment.Withdrawn
	return after, nil
}

var errWithdrawn = comment.Errorf(comment.Conflict, "its author took the comment back: there is nothing to decide until it is edited")

// conflict returns the error of a decision about a version that no longer exists.
func conflict(c comment.Comment, version int) error {
	if edit := c.HeldEdit(); edit != nil {
		return comment.Errorf(comment.Conflict, "the comment has version %d, and an edit that waits has version %d; there is no version %d any more: read it again, and decide anew", c.Version, edit.Version, version)
	}
	return comment.Errorf(comment.Conflict, "the comment has version %d, not %d: read it again, and decide anew", c.Version, version)
}
