package comment

import "time"

// Decision is an entry of a comment's audit: what a moderator decided, or that the author took the
// comment back.
type Decision struct {
	CommentID ID
	// Position is the time of the decision, made unique within its millisecond. A retry keeps it, so
	// that the audit has the decision once.
	Position Position
	// By is the shop's own id of the person who decided, nil for the holder of the moderators' token.
	By *string
	// From and To are the states before and after. They are equal if the decision was about an edit or
	// about reports.
	From, To Status
	// Version is the version that the decision is about: the comment's, or that of an edit beside it.
	Version int
	// Reason is why the comment or the edit was rejected, nil if it was not.
	Reason *RejectionReason
	// Note is what the moderator wrote for other moderators, at most MaxNote characters; empty for
	// none.
	Note string
}

// At returns when it was decided, to the millisecond.
func (d Decision) At() time.Time { return d.Position.Time() }

// MaxNote bounds the note of a Decision, in characters.
const MaxNote = 1000

// Verdict is what a moderator decides about a version of a comment.
type Verdict struct {
	// ID is the comment, and Version its version or that of an edit that waits beside it.
	ID      string
	Version int
	// Reason rejects the version, nil approves it.
	Reason *RejectionReason
	// Note is for other moderators.
	Note string
}

// Problems returns all problems of a verdict, at once.
func (v Verdict) Problems() []Problem {
	var p problems
	p.plain([]string{"note"}, v.Note, MaxNote)
	return p
}

const (
	// MaxDecisions bounds the decisions of one mutation.
	MaxDecisions = 50
	// MaxQueuePage bounds the comments of a page of the queue.
	MaxQueuePage = 50
	// MaxQueueScan bounds the places of the queue that a filtered page scans, and those that are
	// counted.
	MaxQueueScan = 1000
	// MaxAudit bounds the decisions that are read for a comment, the latest ones, and likewise its
	// reports, any of them.
	MaxAudit = 100
)

// Waiting is a place in the queue of moderators.
type Waiting struct {
	// ID is the comment, ProductID its product, and Language its language.
	ID        ID
	ProductID string
	Language  Language
	// Reasons say why it waits, at least one.
	Reasons []HoldReason
	// Since is when it began to wait, to the millisecond.
	Since time.Time
}

// Queued is a comment in the queue of moderators.
type Queued struct {
	// Comment is its current state.
	Comment Comment
	Waiting Waiting
}

// Reasons returns why the comment waits.
func (q Queued) Reasons() []HoldReason { return q.Waiting.Reasons }

// Since returns when it began to wait.
func (q Queued) Since() time.Time { return q.Waiting.Since }

// NoteOrNil returns the note, nil if there is none.
func (d Decision) NoteOrNil() *string { return orNil(d.Note) }

// ModeratorView is the type Moderation of the schema. Each field has its own resolver.
type ModeratorView struct{}

// QueueFilter says which comments of the queue to list. An empty field does not restrict.
type QueueFilter struct {
	// Reasons lists comments that wait for any of these.
	Reasons   []HoldReason
	Languages []Language
	ProductID *string
}

// IsEmpty reports whether the filter lets every comment pass.
func (f QueueFilter) IsEmpty() bool {
	return len(f.Reasons) == 0 && len(f.Languages) == 0 && f.ProductID == nil
}

// QueueQuery asks for a page of the queue.
type QueueQuery struct {
	Filter QueueFilter
	// First is the size of the page, 1 to MaxQueuePage.
	First int
	// After is the place after which the page begins, the zero Waiting for the start. Only ID and
	// Since count.
	After Waiting
}

// QueuePage is a page of the queue, the comment that waits longest first.
type QueuePage struct {
	Queued []Queued
	// Last is the place after which the next page begins: the last one scanned, whether or not it
	// passed the filter.
	Last Waiting
	// HasNext says whether more places follow, which may not pass the filter.
	HasNext bool
}

// NextVersion returns the version of the next edit, higher than any that an edit of the author had.
func (c Comment) NextVersion() int {
	return max(c.WithHeldEdit().Version, c.RejectedEdit()) + 1
}

// WithHeldEdit returns the comment as approval of its held edit would make it, unchanged if it has
// none.
func (c Comment) WithHeldEdit() Comment {
	edit := c.HeldEdit()
	if edit == nil {
		return c
	}
	c.Rating, c.Language, c.Title, c.Text, c.Media = edit.Rating, edit.Language, edit.Title, edit.Text, edit.Media
	c.UpdatedAt, c.Version = &edit.At, edit.Version
	return c
}
