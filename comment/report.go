package comment

import "time"

// ReportReason says what a customer finds wrong with a comment.
type ReportReason string

// ReportReasons returns all reasons: the reasons of rejections except NotAReview.
func ReportReasons() (all []ReportReason) {
	for _, reason := range RejectionReasons() {
		if reason != NotAReview {
			all = append(all, ReportReason(reason))
		}
	}
	return all
}

// ReportDraft is a report of a comment, not yet checked.
type ReportDraft struct {
	CommentID string
	Reason    ReportReason
	// Note says more, for moderators; empty for none.
	Note string
}

// Report is a customer's report of a comment. Each customer can report a comment once.
type Report struct {
	// By is the customer.
	By string
	// At is when it was reported, to the millisecond.
	At time.Time
	// Reason says what is wrong, and Note says more; it is empty for none.
	Reason ReportReason
	Note   string
}

// NoteOrNil returns the note, nil if there is none.
func (r Report) NoteOrNil() *string { return orNil(r.Note) }

// maxReportNote bounds the note of a report, in characters.
const maxReportNote = 500

// Problems returns all problems of a report, at once.
func (r ReportDraft) Problems() []Problem {
	var p problems
	p.plain([]string{"note"}, r.Note, maxReportNote)
	return p
}
