package counts

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// lookedAtOnce is how many comments are compared with their marks in one call: both fit into it, and what is counted anew
// then into one transaction, as a rule.
const lookedAtOnce = 48

// looker is the part of the SDK's client that reads statistics and what they are of. It cannot write.
type looker interface {
	call.ScanClient
	call.BatchGetter
}

// examiner compares what is counted of a product with its comments. It reads only.
type examiner struct {
	client looker
	table  string
}

// examined is what one look at a product found.
type examined struct {
	product string
	// before are the statistics before the marks were read, after those after.
	before, after statistics
	// marked are the marks, added up. They and after belong together if the look is steady.
	marked comment.Stats
	// listed are the comments of the index, added up, if they were looked at.
	listed comment.Stats
	// rows are the counts of languages that share a row of the statistics.
	rows comment.Stats
	// improper are items that are not what they should be, of which nothing else tells.
	improper []layout.Improper
	// places are where the product stands on the leaderboards, by language, and of all languages under the empty one. A
	// language whose entry has no place is there, too.
	places map[comment.Language]leaderKeys
}

// steady tells whether nobody counted while the marks were read.
func (e *examined) steady() bool {
	return e.before.changes == e.after.changes && (e.before.damaged == nil) == (e.after.damaged == nil)
}

// counted are the counts of all languages.
func (e *examined) counted() comment.Stats {
	return statistics{stats: e.after.stats, others: e.rows}.grid()
}

// differ is told of comments whose marks seem not to fit, at most lookedAtOnce.
type differ func(ctx context.Context, ids []comment.ID) error

// look reads the statistics and the marks of a product, and with a differ also its comments in the index All, side by side:
// both are in the order of their ids. The index is a moment behind, so a difference may be none. While the statistics cannot
// be read, nothing can be counted, and the comments are not looked at.
func (e examiner) look(ctx context.Context, product string, tell differ) (*examined, error) {
	seen := &examined{product: product, marked: comment.Stats{}, listed: comment.Stats{}, rows: comment.Stats{}, places: map[comment.Language]leaderKeys{}}
	err := call.Retry(ctx, func() (further bool, err error) {
		seen.before, err = e.statistics(ctx, product)
		return false, err
	})
	if err != nil {
		return nil, call.Wrap(err, "statistics of product %q", product)
	}
	side := &sideBySide{
		marks: pager{read: func(ctx context.Context, start layout.Item) ([]placed, layout.Item, error) {
			return e.partition(ctx, seen, start)
		}},
		comments: pager{read: func(ctx context.Context, start layout.Item) ([]placed, layout.Item, error) {
			return e.index(ctx, seen, start)
		}},
		tell: tell,
	}
	if tell == nil || seen.before.damaged != nil {
		return seen, call.Wrap(side.marks.drain(ctx), "marks of product %q", product)
	}
	return seen, call.Wrap(side.compare(ctx), "comments and marks of product %q", product)
}

func (e examiner) statistics(ctx context.Context, product string) (statistics, error) {
	key := layout.ProductKey(product, statisticsSK)
	items, err := fetch(ctx, e.client, e.table, []layout.Item{key})
	if err != nil {
		return statistics{}, err
	}
	found, _ := decodeStatistics(items[keyOf(key)]) // one that cannot be read says so itself
	return found, nil
}

// placed is a comment as a list or a mark has it.
type placed struct {
	id   comment.ID
	cell *comment.Cell // nil for a mark that counts nothing, and for what is improper
	// damaged is whether it is a mark that cannot be read, which is to be looked at whatever the comment is.
	damaged bool
}

// partition reads the next page of all that stands about a product: marks, statistics, places on leaderboards, in the order
// of their sort keys. So the statistics come after the last mark.
func (e examiner) partition(ctx context.Context, seen *examined, start layout.Item) ([]placed, layout.Item, error) {
	key := layout.Partition{Index: layout.All}.Key(seen.product)
	output, err := e.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(e.table),
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String(layout.AttrPK + " = :key"),
		ExpressionAttributeValues: layout.Item{":key": layout.Text(key)},
		ExclusiveStartKey:         start,
	})
	if err != nil {
		return nil, nil, call.Wrap(err, "Query %s", key)
	}
	var page []placed
	for _, it := range output.Items {
		if mark := seen.take(it); mark != nil {
			page = append(page, *mark)
		}
	}
	for _, mark := range page { // not before the whole page could be read: it may be read again
		if mark.cell != nil {
			seen.marked.Add(*mark.cell, 1)
		}
	}
	return page, output.LastEvaluatedKey, nil
}

// take notes an item of a product's partition, and returns it if it is a mark.
func (e *examined) take(it layout.Item) *placed {
	sortKey := layout.NewReader(it).Text(layout.AttrSK)
	language, ofLanguage := strings.CutPrefix(sortKey, languageSK)
	switch {
	case strings.HasPrefix(sortKey, markSKPrefix):
		id, err := idOfMark(sortKey)
		if err != nil {
			e.improper = append(e.improper, layout.NewImproper(it, "a mark's sort key holds the id of a comment"))
			return nil
		}
		m, err := decodeMark(it)
		return &placed{id: id, cell: m.cell, damaged: err != nil}
	case ofLanguage:
		e.takeLanguage(comment.Language(language), it)
	case sortKey == statisticsSK:
		if keys := leaderKeysOf(it); keys != (leaderKeys{}) {
			e.places[""] = keys
		}
		e.after, _ = decodeStatistics(it) // one that cannot be read says so itself
	}
	return nil
}

// takeLanguage notes the item of a language. Counts that cannot be read are none, and so differ from what they should be.
func (e *examined) takeLanguage(language comment.Language, it layout.Item) {
	row, err := rowOfItem(it)
	if err == nil && row != (comment.Counts{}) {
		e.rows[language] = row
	}
	if keys := leaderKeysOf(it); keys != (leaderKeys{}) || row == (comment.Counts{}) {
		e.places[language] = keys
	}
}

// index reads the next page of a product's comments.
func (e examiner) index(ctx context.Context, seen *examined, start layout.Item) ([]placed, layout.Item, error) {
	key := layout.Partition{Index: layout.All}.Key(seen.product)
	output, err := e.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(e.table),
		IndexName:                 aws.String(string(layout.All)),
		KeyConditionExpression:    aws.String(layout.All.PartitionAttr() + " = :key"),
		ExpressionAttributeValues: layout.Item{":key": layout.Text(key)},
		ProjectionExpression:      aws.String(strings.Join([]string{layout.AttrPK, layout.AttrSK, layout.AttrLanguage, layout.AttrRating}, ",")),
		ExclusiveStartKey:         start,
	})
	if err != nil {
		return nil, nil, call.Wrap(err, "Query %s %s", layout.All, key)
	}
	page := make([]placed, len(output.Items))
	for i, it := range output.Items {
		cell, err := cellOf(it)
		if err != nil {
			seen.improper = append(seen.improper, layout.NewImproper(it, err.Error()))
		}
		page[i] = placed{id: layout.IDOfKey(it), cell: cell}
	}
	for _, c := range page {
		if c.cell != nil {
			seen.listed.Add(*c.cell, 1)
		}
	}
	return page, output.LastEvaluatedKey, nil
}

// sideBySide compares two lists that are in one order.
type sideBySide struct {
	marks, comments pager
	tell            differ
	found           []comment.ID // not yet told
}

func (s *sideBySide) compare(ctx context.Context) error {
	for {
		mark, err := s.marks.head(ctx)
		if err != nil {
			return err
		}
		c, err := s.comments.head(ctx)
		if err != nil {
			return err
		}
		if mark == nil && c == nil {
			return s.flush(ctx)
		}
		if err := s.step(ctx, mark, c); err != nil {
			return err
		}
	}
}

// step takes the lower of the two heads, or both if they are of one comment.
func (s *sideBySide) step(ctx context.Context, mark, c *placed) error {
	id, fits := comment.ID(""), false
	switch {
	case mark == nil || c != nil && c.id < mark.id:
		s.comments.drop()
		id, fits = c.id, c.cell == nil
	case c == nil || mark.id < c.id:
		s.marks.drop()
		id, fits = mark.id, mark.cell == nil && !mark.damaged
	default:
		s.comments.drop()
		s.marks.drop()
		id, fits = c.id, sameCell(c.cell, mark.cell) && !mark.damaged
	}
	if fits {
		return nil
	}
	if s.found = append(s.found, id); len(s.found) == lookedAtOnce {
		return s.flush(ctx)
	}
	return nil
}

func (s *sideBySide) flush(ctx context.Context) error {
	if len(s.found) == 0 {
		return nil
	}
	err := s.tell(ctx, s.found)
	s.found = nil
	return err
}

// pager hands out a list one by one that is read page by page.
type pager struct {
	read  func(ctx context.Context, start layout.Item) (page []placed, next layout.Item, err error)
	page  []placed
	next  layout.Item
	ended bool
}

// head is the first of those not dropped yet, nil at the end.
func (p *pager) head(ctx context.Context) (*placed, error) {
	for len(p.page) == 0 && !p.ended {
		err := call.Retry(ctx, func() (further bool, err error) {
			page, next, err := p.read(ctx, p.next)
			if err == nil {
				p.page, p.next, p.ended = page, next, len(next) == 0
			}
			return false, err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(p.page) == 0 {
		return nil, nil
	}
	return &p.page[0], nil
}

func (p *pager) drop() { p.page = p.page[1:] }

// drain reads to the end.
func (p *pager) drain(ctx context.Context) error {
	for {
		head, err := p.head(ctx)
		if err != nil || head == nil {
			return err
		}
		p.page = nil
	}
}

// misfit is a comment that is not counted as what it is.
type misfit struct {
	id comment.ID
	// counted is what the mark says, cell what the comment is, nil when it is not there.
	counted, cell *comment.Cell
	// unreadable is why the mark cannot be read, nil if it can.
	unreadable error
	// improper are the attributes of a comment that is not what it should be, nil of one that is.
	improper layout.Item
}

// misfits are those of at most lookedAtOnce comments whose marks do not fit, by consistent reads of both.
func (e examiner) misfits(ctx context.Context, product string, ids []comment.ID) ([]misfit, error) {
	keys := make([]layout.Item, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, layout.CommentKey(id), markKey(product, id))
	}
	items, err := fetch(ctx, e.client, e.table, keys)
	if err != nil {
		return nil, err
	}
	var out []misfit
	for _, id := range ids {
		m, unreadable := decodeMark(items[keyOf(markKey(product, id))])
		cell, improper := cellIn(items[keyOf(layout.CommentKey(id))], product)
		if unreadable != nil || !sameCell(m.cell, cell) {
			out = append(out, misfit{id: id, counted: m.cell, cell: cell, unreadable: unreadable, improper: improper})
		}
	}
	return out, nil
}

// cellIn is what a comment is to be counted as among those of a product: nil when it is not there, is another's, or is
// improper, in which case its attributes come along.
func cellIn(it layout.Item, product string) (cell *comment.Cell, improper layout.Item) {
	if layout.NoComment(it) {
		return nil, nil
	}
	of, err := layout.ProductOf(it)
	if err != nil || of != product {
		return nil, nil
	}
	if cell, err = cellOf(it); err != nil {
		return nil, it
	}
	return cell, nil
}
