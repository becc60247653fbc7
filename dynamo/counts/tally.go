package counts

import (
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// maxItemsPerTransaction is DynamoDB's own bound.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const maxItemsPerTransaction = 100

// standing is what a comment is to be counted as from now on.
type standing struct {
	ID comment.ID
	// Cell is nil for a comment that is not there.
	Cell *comment.Cell
	// position is that of the record which says so. It is empty when the comment itself was looked at: the standing then
	// holds only as long as the comment is like that, which the transaction makes sure of.
	position stream.Position
	// moved is whether an earlier record, which this standing stands for as well, said otherwise.
	moved bool
	// improper are the attributes of a comment that was looked at and is not what it should be: it counts as none.
	improper layout.Item
}

// news tells whether a standing changes a mark. Even one that leaves the comment where it is counted must be noted when an
// earlier record, which it stands for as well, would move it: a late reader that replays the earlier record is rejected. So must
// the first record after a look, which may have told what that record says, or what a later one will say.
func (s standing) news(m mark) bool {
	return !s.overtaken(m) && (s.moved || m.damaged != nil || m.looked && !s.looked() || !sameCell(m.cell, s.Cell))
}

// looked tells whether the comment itself was looked at.
func (s standing) looked() bool { return s.position == "" }

// overtaken tells whether a mark follows a later record, or that of the standing itself.
func (s standing) overtaken(m mark) bool { return !s.looked() && s.position <= m.position }

// ledger is all that the table holds of the counting of a product, as far as it was read.
type ledger struct {
	product string
	statistics
	marks map[comment.ID]mark

	// What cannot be read: the statistics, nil if they can; marks; counts of languages that share a row.
	broken      error
	brokenMarks map[comment.ID]error
	brokenRows  map[comment.Language]error
}

// objection is why a standing cannot be counted, nil if it can. One that was looked at replaces a mark or a row that cannot
// be read, for a rebuild then puts right what follows from them.
func (l ledger) objection(s standing) error {
	if l.broken != nil || s.looked() {
		return l.broken
	}
	if err := l.brokenMarks[s.ID]; err != nil {
		return err
	}
	for _, cell := range []*comment.Cell{s.Cell, l.marks[s.ID].cell} {
		if cell != nil && l.brokenRows[cell.Language] != nil {
			return l.brokenRows[cell.Language]
		}
	}
	return nil
}

// sharing are the languages that standings are about, or were counted in, and that share a row of the statistics.
func (l ledger) sharing(standings []standing) []comment.Language {
	var languages []comment.Language
	for _, s := range standings {
		for _, cell := range []*comment.Cell{s.Cell, l.marks[s.ID].cell} {
			if cell != nil {
				languages = append(languages, cell.Language)
			}
		}
	}
	slices.Sort(languages)
	return l.stats.Others(slices.Compact(languages))
}

// tally is a change of a product's statistics together with the marks that it follows from.
type tally struct {
	product       string
	before, after statistics
	marks         []markChange
	// standings is how many standings are done when the tally is true.
	standings int
}

// markChange is what becomes of a mark. If after is looked, the comment itself has to be still as it says.
type markChange struct {
	id            comment.ID
	before, after mark
	improper      layout.Item // as in the standing
}

// tallyUp decides what the first standings make of a ledger, as many of them as a transaction has room for. What is
// counted already, or was overtaken, changes nothing; so the same standings again are an empty tally.
func tallyUp(l ledger, standings []standing, room int) tally {
	t := tally{
		product:   l.product,
		before:    l.statistics,
		after:     statistics{changes: l.changes + 1, stats: l.stats.Clone(), others: l.others.Clone()},
		standings: len(standings),
	}
	items := 1
	languages := map[comment.Language]bool{} // whose item may have to be written
	for i, s := range standings {
		m := l.marks[s.ID]
		if !s.news(m) {
			continue
		}
		after := mark{cell: s.Cell, position: max(m.position, s.position), looked: s.looked()}
		change := markChange{id: s.ID, before: m, after: after, improper: s.improper}
		if items += change.items() + t.addLanguages(languages, m.cell, s.Cell); items > room {
			t.standings = i
			return t
		}
		t.count(change)
	}
	return t
}

func (c markChange) items() int {
	if c.after.looked {
		return 2
	}
	return 1
}

// addLanguages notes the languages whose item a change may touch, and returns how many are new: those that share a row of
// the statistics, and those whose leaderboard may change.
func (t *tally) addLanguages(languages map[comment.Language]bool, cells ...*comment.Cell) int {
	before := len(languages)
	for _, cell := range cells {
		if cell != nil && (cell.Rating == comment.MaxRating || full(t.after.stats)) {
			languages[cell.Language] = true
		}
	}
	return len(languages) - before
}

// count changes the counts. What is added comes first, so that the last comment of a language keeps its row when edited.
func (t *tally) count(change markChange) {
	if change.after.cell != nil {
		t.after.add(*change.after.cell, 1)
	}
	if change.before.cell != nil {
		t.after.add(*change.before.cell, -1)
	}
	t.marks = append(t.marks, change)
}

func (t tally) empty() bool { return len(t.marks) == 0 }

// creates tells whether the product was never counted before.
func (t tally) creates() bool { return t.before.changes == 0 }

// writes are the items of a transaction that makes the tally true, if nothing of what it was made from has changed.
func (t tally) writes(table string, shards int, now time.Time) []types.TransactWriteItem {
	writes := []types.TransactWriteItem{t.statisticsWrite(table, shards)}
	for _, language := range languagesOf(t.before.stats, t.after.stats, t.before.others, t.after.others) {
		if place := t.after.place(t.product, language); place != t.before.place(t.product, language) {
			writes = append(writes, leaderWrite(table, place, shards))
		}
	}
	for _, change := range t.marks {
		if change.after.looked {
			writes = append(writes, change.stillSo(table, t.product))
		}
		condition, values := change.before.unchanged()
		writes = append(writes, call.PutIf(table, markItem(t.product, change.id, change.after, now), condition, values))
	}
	return writes
}

// statisticsWrite puts the statistics in the place of those that were read. A hold that ended by itself goes.
func (t tally) statisticsWrite(table string, shards int) types.TransactWriteItem {
	condition, values := t.before.unchanged()
	return call.PutIf(table, statisticsItem(t.product, t.after, shards), condition, values)
}

// stillSo is the condition that a comment is as it was when it was looked at: of the product and in the cell, or not there,
// or improper in the same way.
func (c markChange) stillSo(table, product string) types.TransactWriteItem {
	check := &types.ConditionCheck{
		TableName:           aws.String(table),
		Key:                 layout.CommentKey(c.id),
		ConditionExpression: aws.String("attribute_not_exists(" + layout.All.PartitionAttr() + ") OR " + layout.All.PartitionAttr() + " <> :p"),
		ExpressionAttributeValues: layout.Item{
			":p": layout.Text(layout.Partition{Index: layout.All}.Key(product)),
		},
	}
	if c.improper != nil {
		condition, values := sameAttributes(c.improper, layout.All.PartitionAttr(), layout.AttrLanguage, layout.AttrRating)
		check.ConditionExpression, check.ExpressionAttributeValues = aws.String(condition), values
	}
	if cell := c.after.cell; cell != nil {
		check.ConditionExpression = aws.String(layout.All.PartitionAttr() + " = :p AND " + layout.AttrLanguage + " = :l AND " + layout.AttrRating + " = :r")
		check.ExpressionAttributeValues[":l"] = layout.Text(string(cell.Language))
		check.ExpressionAttributeValues[":r"] = layout.Number(int64(cell.Rating))
	}
	return types.TransactWriteItem{ConditionCheck: check}
}
