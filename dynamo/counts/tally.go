package counts

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

// maxItemsPerTransaction is DynamoDB's limit.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const maxItemsPerTransaction = 100

// ledger has everything that was read from the table for counting a product.
type ledger struct {
	product string
	statistics
	markers map[comment.ID]marker
	// page is the head of the product's page index; zero if there is none.
	page runs.Head

	// brokenRows has the errors of counts of languages that share a row and cannot be read.
	brokenRows map[comment.Language]error
}

// objection returns why a standing cannot be counted; nil if it can. A standing from a look
// replaces a damaged marker or row, since the rebuild then corrects the counts.
func (l ledger) objection(s standing) error {
	m := l.markers[s.ID]
	if l.damage != nil || s.looked() {
		return l.damage
	}
	if m.damage != nil {
		return m.damage
	}
	for _, cell := range []*comment.Cell{s.Cell, m.cell} {
		if cell != nil && l.brokenRows[cell.Language] != nil {
			return l.brokenRows[cell.Language]
		}
	}
	return nil
}

// sharing returns the languages from or to which standings move comments, as far as they share a
// row of the statistics.
func (l ledger) sharing(standings []standing) []comment.Language {
	var languages []comment.Language
	for _, s := range standings {
		for _, cell := range []*comment.Cell{s.Cell, l.markers[s.ID].cell} {
			if cell != nil {
				languages = append(languages, cell.Language)
			}
		}
	}
	slices.Sort(languages)
	return l.stats.Others(slices.Compact(languages))
}

// tally is a change of a product's statistics, with the changes of markers that cause it.
type tally struct {
	product       string
	before, after statistics
	markers       []markerChange
	// standings is how many standings are done once the tally is written.
	standings int

	// entry is the entry of the page index's log to write; nil for none. mergeDue is whether the
	// log then has to be merged, and emptied is whether the product has no comments left.
	entry             *runs.Entry
	mergeDue, emptied bool
}

// markerChange is a marker before and after a change by a standing.
type markerChange struct {
	standing
	before, after marker
}

// tallyUp applies the first standings to a ledger, as many as fit into room items of a transaction.
// Standings that are counted already, or overtaken, change nothing. So tallying the same standings
// again yields an empty tally.
func tallyUp(l ledger, standings []standing, room int) tally {
	t := tally{
		product:   l.product,
		before:    l.statistics,
		after:     statistics{changes: l.changes + 1, stats: l.stats.Clone(), others: l.others.Clone(), newest: l.newest.Clone()},
		standings: len(standings),
	}
	if len(l.stats) == 0 {
		t.after.newest = &layout.Bounds{} // no existing comment can be newer
	}
	items := 1
	if l.page.Exists() {
		items = 2 // one for the log
	}
	// Languages whose items may have to be written: those that share a row of the statistics, and
	// those whose leaderboard may change.
	languages := map[comment.Language]bool{}
	for i, s := range standings {
		m := l.markers[s.ID]
		if !s.news(m) {
			continue
		}
		after := marker{cell: s.Cell, position: max(m.position, s.position), looked: s.looked()}
		before := len(languages)
		for _, cell := range []*comment.Cell{m.cell, s.Cell} {
			if cell != nil && (cell.Rating == comment.MaxRating || full(t.after.stats)) {
				languages[cell.Language] = true
			}
		}
		if items += 1 + len(languages) - before; after.looked {
			items++ // the condition on the comment
		}
		if items > room {
			t.standings = i
			break
		}
		// It adds before it subtracts, so that an edit of a language's last comment keeps its row.
		if s.Cell != nil {
			t.after.enter(*s.Cell, s.ID.Position())
		}
		if m.cell != nil {
			t.after.leave(*m.cell, s.ID.Position(), s.Cell != nil && s.Cell.Rating == m.cell.Rating)
		}
		t.markers = append(t.markers, markerChange{s, m, after})
	}
	t.index(l.page)
	return t
}

// index applies the changes to the product's page index. A product without comments has none.
func (t *tally) index(head runs.Head) {
	if t.after.stats.Total() == 0 {
		t.emptied = t.before.changes > 0
		return
	}
	var moves []runs.Change // from one cell to another
	for _, c := range t.markers {
		if !sameCell(c.before.cell, c.after.cell) {
			moves = append(moves, runs.Change{Position: c.ID.Position(), From: c.before.cell, To: c.after.cell})
		}
	}
	next, entry := countInHead(head, moves)
	t.after.head, t.entry = next.Encode(), entry
	t.mergeDue = next.MergeDue(head)
}

// writes returns the items of a transaction that writes the tally, on condition that its inputs are
// unchanged.
func (t tally) writes(table string, shards int, now time.Time) []types.TransactWriteItem {
	condition, values := t.before.unchanged()
	// An expired hold is not written again.
	writes := []types.TransactWriteItem{call.PutIf(table, statisticsItem(t.product, t.after, shards), condition, values)}
	for _, language := range languagesOf(t.before.stats, t.after.stats, t.before.others, t.after.others) {
		if place := t.after.place(t.product, language); place != t.before.place(t.product, language) {
			writes = append(writes, leaderWrite(table, place, shards))
		}
	}
	for _, change := range t.markers {
		if change.looked() { // the comment must be as it was read, in all that says where it is to be counted
			condition, values := layout.AsRead(change.comment, layout.AttrAll, layout.AttrLanguage, layout.AttrRating, layout.AttrTraits)
			writes = append(writes, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
				TableName: aws.String(table), Key: layout.CommentKey(change.ID),
				ConditionExpression: aws.String(condition), ExpressionAttributeValues: layout.OrNone(values),
			}})
		}
		condition, values := layout.AsRead(change.before.item, layout.AttrCell, attrPosition, attrSource)
		writes = append(writes, call.PutIf(table, markerItem(t.product, change.ID, change.after, now), condition, values))
	}
	return appendEntry(writes, table, t.product, t.entry)
}
