package layout

import (
	"errors"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// Items of reports: one for each customer, beside the comment.
const (
	attrReportReason = "reason"
	attrReportNote   = "note" // S, missing for none
)

// ReportItem returns the item of a report. By AttrWriter, the export and the erasure of the
// customer find it.
func ReportItem(id comment.ID, hash string, r comment.Report) Item {
	out := Key(commentPK(id), ReportSKPrefix+hash)
	out[AttrWriter] = WriterOfReport(r.By)
	out[attrReportReason] = Text(string(r.Reason))
	out[attrWritten] = Time(r.At)
	if r.Note != "" {
		out[attrReportNote] = Text(r.Note)
	}
	return out
}

// DecodeReport decodes a report, and returns the ID of its comment. It returns an error for an item
// that is no report.
func DecodeReport(it Item) (comment.ID, comment.Report, error) {
	r := NewReader(it)
	id, isID := r.id()
	by, isReport := strings.CutPrefix(r.Text(AttrWriter), writerOfReport)
	report := comment.Report{
		By: by, Reason: comment.ReportReason(r.Text(attrReportReason)), At: r.Time(attrWritten), Note: r.OptionalText(attrReportNote),
	}
	if err := r.Err(); err != nil {
		return id, report, err
	}
	if !isID || !isReport || !strings.HasPrefix(r.Text(AttrSK), ReportSKPrefix) || !comment.IsTime(report.At) || !slices.Contains(comment.ReportReasons(), report.Reason) {
		return id, report, errors.New("it is not a report of a comment")
	}
	return id, report, nil
}

// SameReports returns the condition that a comment's item still has its number of reports, its
// place in the queue and its latest rejected edit. It adds the values of the condition to values.
func SameReports(c comment.Comment, values Item) string {
	return SameAttrs(Encode(c), values, AttrReports, AttrPlace, attrRejected)
}

// SameMark returns the condition that a comment's item still has the mark of the same edit, or
// still has none. It adds the value of the condition to values.
func SameMark(c comment.Comment, values Item) string {
	was := Item{}
	if c.Mark != "" {
		was[AttrMark] = Text(c.Mark)
	}
	return SameAttrs(was, values, AttrMark)
}

// SameTraits returns the condition that a comment's item still has its traits, for a change that
// writes others; empty if the change writes the same. Counting votes changes traits without the
// version, and must not be undone. It adds the value of the condition to values.
func SameTraits(before, after comment.Comment, values Item) string {
	if before.Traits() == after.Traits() {
		return ""
	}
	return " AND " + SameAttrs(Encode(before), values, AttrTraits)
}
