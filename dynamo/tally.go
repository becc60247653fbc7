package dynamo

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// maxItemsPerTransaction is DynamoDB's own bound.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
const maxItemsPerTransaction = 100

// standing is what a comment is to be counted as from now on.
type standing struct {
	id comment.ID
	// cell is nil for a comment that is not there.
	cell *comment.Cell
	// position is that of the record which says so. It is empty when the comment itself was looked at: the standing then
	// holds only as long as the comment is like that, which the transaction makes sure of.
	position stream.Position
	// moved is whether an earlier record, which this standing stands for as well, said otherwise.
	moved bool
}

// news tells whether a standing changes a mark. Even one that leaves the comment where it is counted must be noted when an
// earlier record, which it stands for as well, would move it: whoever has only that one in hand is to be refused. So must
// the first record after a look, which may have told what that record says, or what a later one will say.
func (s standing) news(m mark) bool {
	return !s.overtaken(m) && (s.moved || m.looked && !s.looked() || !sameCell(m.cell, s.cell))
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
}

// tallyUp decides what the first standings make of a ledger, as many of them as a transaction has room for. What is
// counted already, or was overtaken, changes nothing; so the same standings again are an empty tally.
func tallyUp(l ledger, standings []standing, room int) tally {
	t := tally{
		product:   l.product,
		before:    l.statistics,
		after:     statistics{stats: l.stats.Clone(), changes: l.changes + 1},
		standings: len(standings),
	}
	items := 1
	leaders := map[comment.Language]bool{} // whose entry may have to be written
	for i, s := range standings {
		m := l.marks[s.id]
		if !s.news(m) {
			continue
		}
		after := mark{cell: s.cell, position: max(m.position, s.position), looked: s.looked()}
		change := markChange{id: s.id, before: m, after: after}
		if items += change.items() + addLeaders(leaders, m.cell, s.cell); items > room {
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

// addLeaders notes the languages whose leaderboard a change may touch, and returns how many are new.
func addLeaders(leaders map[comment.Language]bool, cells ...*comment.Cell) int {
	before := len(leaders)
	for _, cell := range cells {
		if cell != nil && cell.Rating == comment.MaxRating {
			leaders[cell.Language] = true
		}
	}
	return len(leaders) - before
}

func (t *tally) count(change markChange) {
	if change.before.cell != nil {
		t.after.stats.Add(*change.before.cell, -1)
	}
	if change.after.cell != nil {
		t.after.stats.Add(*change.after.cell, 1)
	}
	t.marks = append(t.marks, change)
}

func (t tally) empty() bool { return len(t.marks) == 0 }

// creates tells whether the product was never counted before.
func (t tally) creates() bool { return t.before.changes == 0 }

func sameCell(a, b *comment.Cell) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// writes are the items of a transaction that makes the tally true, if nothing of what it was made from has changed.
func (t tally) writes(table string, shards int, now time.Time) []types.TransactWriteItem {
	writes := []types.TransactWriteItem{t.statisticsWrite(table, shards)}
	for _, language := range languagesOf(t.before.stats, t.after.stats) {
		if count := bestCount(t.after.stats, language); count != bestCount(t.before.stats, language) {
			writes = append(writes, leaderWrite(table, leaderPlace{t.product, language, count}, shards))
		}
	}
	for _, change := range t.marks {
		if change.after.looked {
			writes = append(writes, change.stillSo(table, t.product))
		}
		condition, values := change.before.unchanged()
		writes = append(writes, putIf(table, markItem(t.product, change.id, change.after, now), condition, values))
	}
	return writes
}

// statisticsWrite puts the statistics in the place of those that were read. A hold that ended by itself goes.
func (t tally) statisticsWrite(table string, shards int) types.TransactWriteItem {
	condition, values := t.before.unchanged()
	return putIf(table, statisticsItem(t.product, t.after, shards), condition, values)
}

// unchanged is the condition that the statistics are as they were read.
func (s statistics) unchanged() (condition string, values item) {
	if s.changes == 0 {
		return "attribute_not_exists(" + attrPK + ")", nil
	}
	values = item{":n": number(s.changes)}
	held := ""
	if s.hold.owner != "" {
		held = s.hold.String()
	}
	return attrChanges + " = :n" + andEqual(attrHold, held, values), values
}

// stillSo is the condition that a comment is as it was when it was looked at: of the product and in the cell, or not there.
func (c markChange) stillSo(table, product string) types.TransactWriteItem {
	check := &types.ConditionCheck{
		TableName:           aws.String(table),
		Key:                 commentKey(c.id),
		ConditionExpression: aws.String("attribute_not_exists(" + All.partitionAttr() + ") OR " + All.partitionAttr() + " <> :p"),
		ExpressionAttributeValues: item{
			":p": &types.AttributeValueMemberS{Value: Partition{Index: All}.Key(product)},
		},
	}
	if cell := c.after.cell; cell != nil {
		check.ConditionExpression = aws.String(All.partitionAttr() + " = :p AND " + attrLanguage + " = :l AND " + attrRating + " = :r")
		check.ExpressionAttributeValues[":l"] = &types.AttributeValueMemberS{Value: string(cell.Language)}
		check.ExpressionAttributeValues[":r"] = number(int64(cell.Rating))
	}
	return types.TransactWriteItem{ConditionCheck: check}
}

func leaderWrite(table string, place leaderPlace, shards int) types.TransactWriteItem {
	if place.count > 0 {
		return putIf(table, languageItem(place, shards), "", nil)
	}
	return types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(table), Key: languageKey(place.product, place.language)}}
}

// putIf puts an item under a condition, or under none if that is empty.
func putIf(table string, it item, condition string, values item) types.TransactWriteItem {
	put := &types.Put{TableName: aws.String(table), Item: it}
	if condition != "" {
		put.ConditionExpression = aws.String(condition)
	}
	if len(values) > 0 {
		put.ExpressionAttributeValues = values
	}
	return types.TransactWriteItem{Put: put}
}
