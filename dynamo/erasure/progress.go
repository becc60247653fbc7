package erasure

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
)

// The item of an erasure that waits, is under way or was interrupted. It holds the author's id, and
// is deleted at the end. The mark has the same attributes for the report.
const (
	jobPK        = "ERASING" // the digest of the author is the sort key
	attrAuthor   = "id"      // S, or B of an imported author, as in comments
	attrUnderWay = "ids"     // L of S, the comments that are being erased
	attrStart    = "st"      // M, the key after which the scan for an imported author continues

	attrRequested    = "rq" // N, milliseconds since 1970
	attrComments     = "co" // N
	attrHeldEdits    = "he" // N
	attrReplies      = "re" // N
	attrDecisions    = "de" // N
	attrReportsAbout = "ra" // N
	attrReports      = "rp" // N
	attrVotes        = "vo" // N
	attrKeys         = "ke" // N
	attrReadUnits    = "ru" // N, may have a fraction
	attrWriteUnits   = "wu" // N, likewise
)

// progress is the progress of an erasure.
type progress struct {
	author comment.Author
	report comment.Erasure
	// underWay has the comments that are being erased. A process that takes the erasure over begins
	// with them: tombstones are not in the index of the author, and items may be left beside them.
	underWay []comment.ID
	// start is where the scan for an imported author continues; nil for the beginning.
	start layout.Item
}

func markKey(author comment.Author) layout.Item { return layout.Key(markPK, digestOf(author)) }
func jobKey(author comment.Author) layout.Item  { return layout.Key(jobPK, digestOf(author)) }

func (p progress) attributes() layout.Item {
	out := reportItem(p.report)
	out[attrAuthor] = layout.Text(p.author.ID)
	if p.author.Imported {
		out[attrAuthor] = layout.Binary([]byte(p.author.ID))
	}
	if len(p.underWay) > 0 {
		ids := &types.AttributeValueMemberL{}
		for _, id := range p.underWay {
			ids.Value = append(ids.Value, layout.Text(string(id)))
		}
		out[attrUnderWay] = ids
	}
	if p.start != nil {
		out[attrStart] = &types.AttributeValueMemberM{Value: p.start}
	}
	return out
}

func readProgress(it layout.Item) (p progress, err error) {
	r := layout.NewReader(it)
	id, imported := r.TextOrBinary(attrAuthor)
	p.author = comment.Author{ID: id}
	if imported != nil {
		p.author = comment.Author{ID: string(imported), Imported: true}
	}
	if p.report = reportOf(it); leases.HolderOf(it).Interrupted {
		p.report.State = comment.ErasureWaiting
	}
	if ids, ok := it[attrUnderWay].(*types.AttributeValueMemberL); ok {
		for _, value := range ids.Value {
			if id, ok := value.(*types.AttributeValueMemberS); ok {
				p.underWay = append(p.underWay, comment.ID(id.Value))
			}
		}
	}
	if start, ok := it[attrStart].(*types.AttributeValueMemberM); ok {
		p.start = start.Value
	}
	return p, r.Err()
}

func reportItem(e comment.Erasure) layout.Item {
	out := layout.Item{attrRequested: layout.Time(e.RequestedAt)}
	for attr, n := range counters(&e) {
		out[attr] = layout.Number(int64(*n))
	}
	for attr, units := range map[string]float64{attrReadUnits: e.ReadUnits, attrWriteUnits: e.WriteUnits} {
		out[attr] = &types.AttributeValueMemberN{Value: strconv.FormatFloat(units, 'f', 1, 64)}
	}
	if e.FinishedAt != nil {
		out[attrUntil] = layout.Time(*e.FinishedAt)
	}
	return out
}

// reportOf decodes a report. Missing attributes count as 0.
func reportOf(it layout.Item) comment.Erasure {
	r := layout.NewReader(it)
	e := comment.Erasure{State: comment.ErasureRunning, RequestedAt: r.OptionalTime(attrRequested)}
	for attr, n := range counters(&e) {
		*n = int(r.OptionalNumber(attr))
	}
	for attr, units := range map[string]*float64{attrReadUnits: &e.ReadUnits, attrWriteUnits: &e.WriteUnits} {
		if number, ok := it[attr].(*types.AttributeValueMemberN); ok {
			*units, _ = strconv.ParseFloat(number.Value, 64) // 0 if it is no number
		}
	}
	if finished := r.OptionalTime(attrUntil); !finished.IsZero() {
		e.State, e.FinishedAt = comment.ErasureDone, &finished
	}
	return e
}

// counters returns pointers to the counts of a report, by attribute.
func counters(e *comment.Erasure) map[string]*int {
	return map[string]*int{
		attrComments: &e.Comments, attrHeldEdits: &e.HeldEdits, attrReplies: &e.Replies, attrDecisions: &e.Decisions,
		attrReportsAbout: &e.ReportsAbout, attrReports: &e.Reports, attrVotes: &e.Votes, attrKeys: &e.Keys,
	}
}

// Outlasts reports whether an item of an erasure stays when an older copy of the table replaces its
// content. The copy may lack the item, or have the mark of an earlier erasure of the author, or of
// the same one before its end. The item of an erasure under way always stays: it alone knows which
// tombstones it has still to clear.
func Outlasts(there, copied layout.Item) bool {
	pk := layout.NewReader(there).OptionalText(layout.AttrPK)
	if pk != markPK || copied == nil {
		return pk == markPK || pk == jobPK
	}
	is, was := reportOf(there), reportOf(copied)
	switch {
	case is.FinishedAt == nil:
		return len(there) > 2
	case was.FinishedAt == nil: // a server may end an erasure before its mark is restored
		return !is.RequestedAt.Before(was.RequestedAt)
	}
	return was.FinishedAt.Before(*is.FinishedAt)
}

// Copied returns an item of a copy as it belongs into another table. An erasure begins its scan
// anew there, since a position means nothing in another order of items.
func Copied(it layout.Item) layout.Item {
	if layout.NewReader(it).OptionalText(layout.AttrPK) == jobPK && it[attrStart] != nil {
		it = maps.Clone(it)
		delete(it, attrStart)
	}
	return it
}

// millisecond returns the time as stored in items.
func millisecond(at time.Time) time.Time { return at.UTC().Truncate(time.Millisecond) }
