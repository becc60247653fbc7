package comment

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// maxHeldBytes bounds the text of a comment plus that of its held edit. One item, of at most 400
// KB, holds both.
const maxHeldBytes = MaxTextBytes + 128<<10

// Check returns a BadInput error that names the first field which cannot be stored, and why.
func (c Comment) Check() error {
	var title error
	if c.Title != nil {
		title = checkText("title", *c.Title, 1, MaxTitleBytes)
	}
	return cmp.Or(
		CheckProductID(c.ProductID),
		CheckRating(c.Rating),
		refuse(c.Language == "", `the language is missing; "und" stands for an unknown one`),
		checkText("text", c.Text, 0, MaxTextBytes),
		title,
		refuse(!IsTime(c.CreatedAt()) || c.UpdatedAt != nil && !IsTime(*c.UpdatedAt), "a time of the comment is not within the years 0 to 9999"),
		refuse(c.Version < 1 || c.Version > MaxVersion, "the version %d is not 1 to %d", c.Version, MaxVersion),
		c.Author.CheckID(),
		checkText("author's name", c.Author.Name, 1, maxNameBytes),
		c.ImportedVotes.check(),
		c.Votes.check(),
		CheckMedia(c.Media),
		c.Reply.check(),
		c.checkModeration(),
	)
}

// check checks a reply. A nil reply is valid.
func (r *Reply) check() error {
	if r == nil {
		return nil
	}
	length := utf8.RuneCountInString(r.Text)
	return cmp.Or(
		checkText("reply", r.Text, 1, 4*MaxReply),
		refuse(length > MaxReply, "the reply has %d characters; at most %d are kept", length, MaxReply),
		checkText("name of who replied", r.Name, 1, maxNameBytes),
		refuse(!IsTime(r.CreatedAt) || r.UpdatedAt != nil && !IsTime(*r.UpdatedAt), "a time of the reply is not within the years 0 to 9999"),
		refuse(r.Version < 1 || r.Version > MaxVersion, "the version %d of the reply is not 1 to %d", r.Version, MaxVersion),
	)
}

// CheckID returns a BadInput error unless the ID can be that of an author: 1 to MaxIDBytes bytes of
// valid UTF-8 without control characters.
func (a Author) CheckID() error { return checkText("author's id", a.ID, 1, MaxIDBytes) }

// ProblemOfID returns what is wrong with the ID, which the input has at a path; nil for nothing.
func (a Author) ProblemOfID(path ...string) []Problem {
	if err := a.CheckID(); err != nil {
		return []Problem{{Code: codeOfID(a.ID), Path: path, Message: MessageOf(err)}}
	}
	return nil
}

// checkModeration checks that a comment's state and its Moderation are consistent.
func (c Comment) checkModeration() error {
	m := c.moderation()
	// A comment waits while it is pending or has an undecided edit. It may wait if people reported it.
	must, may := c.Status == Pending || m.HeldEdit != nil, c.Status == Approved && slices.Contains(m.Held, HeldReported)
	isUnknown := func(reason HoldReason) bool { return !slices.Contains(HoldReasons(), reason) }
	return cmp.Or(
		refuse(c.Status < Approved || int(c.Status) >= len(statusNames), "the state is not one of %v", statusNames),
		refuse((c.Status == Rejected) != (m.Reason != nil), "a rejected comment needs a reason, and only a rejected comment has one"),
		refuse(m.Reason != nil && !slices.Contains(RejectionReasons(), *m.Reason), "the reason of a rejection must be one of %v", RejectionReasons()),
		refuse(m.Reports < 0 || m.Reports > MaxVersion, "the number of reports is not 0 to %d", MaxVersion),
		refuse(m.RejectedEdit < 0 || m.RejectedEdit > MaxVersion, "the version of the edit that was rejected is not 0 to %d", MaxVersion),
		c.checkHeldEdit(),
		refuse(must && len(m.Held) == 0, "the comment waits for a moderator without a reason: give one or more of %v", HoldReasons()),
		refuse(!must && !may && len(m.Held) > 0, "the comment has reasons to wait for a moderator, but neither the comment nor an edit waits"),
		refuse(len(m.Held) > 0 && (!IsTime(m.Since) || m.Since.UnixMilli() < 0), "the time since when the comment waits is not within the years 1970 to 9999"),
		refuse(slices.ContainsFunc(m.Held, isUnknown) || len(sortedSet(m.Held)) < len(m.Held),
			"each reason to wait for a moderator must be one of %v, and be given once", HoldReasons()),
	)
}

// checkHeldEdit checks the held edit, if there is one.
func (c Comment) checkHeldEdit() error {
	edit, after := c.HeldEdit(), c.WithHeldEdit()
	if edit == nil {
		return nil
	}
	after.Reply, after.Status, after.Moderation = nil, Approved, nil
	err := after.Check()
	return cmp.Or(
		refuse(c.Status != Approved, "only an approved comment has an edit that waits beside it"),
		refuse(err != nil, "the edit that waits: %s", err),
		refuse(edit.Version <= c.Version, "the edit that waits has version %d, and the comment already has %d", edit.Version, c.Version),
		refuse(len(c.Text)+len(edit.Text) > maxHeldBytes, "the texts of the comment and of the edit that waits have more than %d bytes together", maxHeldBytes),
	)
}

// HeldProblems returns the problems of a held edit. One item must hold both the edit and the
// comment.
func (c Comment) HeldProblems() []Problem {
	var p problems
	if edit := c.HeldEdit(); edit != nil && len(c.Text)+len(edit.Text) > maxHeldBytes {
		p.add(ProblemTooLong, []string{"text"}, "the comment is too long to keep it beside the edit until a moderator decides: shorten the text, or ask a moderator to edit it")
	}
	return p
}

// InQueue fills in the reason to a comment that waits for a moderator without one: HeldAlways since
// it was written, or HeldEdited since the edit.
func (c Comment) InQueue() Comment {
	m := c.moderation()
	switch {
	case len(m.Held) > 0:
		return c
	case c.Status == Pending:
		m.Held, m.Since = []HoldReason{HeldAlways}, c.CreatedAt()
	case c.Status == Approved && m.HeldEdit != nil:
		m.Held, m.Since = []HoldReason{HeldEdited}, m.HeldEdit.At
	default:
		return c
	}
	c.Moderation = &m
	return c
}
