package counts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

// comparedAtOnce is how many comments are compared with their markers in one call: all of them fit
// into one read, and repairs usually fit into one transaction.
const comparedAtOnce = 48

// examinerClient is the part of the SDK's client that reads statistics, markers and comments. It
// cannot write.
type examinerClient interface {
	call.ScanClient
	call.BatchGetter
}

// examiner compares the counts of a product with its comments. It only reads.
type examiner struct {
	client examinerClient
	table  string
	// runs reads the page indexes that are compared with the markers; nil compares none.
	runs runsReader
}

// examination is the result of examining a product once.
type examination struct {
	product string
	// before has the statistics as read before the markers, and after as read after them.
	before, after statistics
	// marked is the sum of the markers. It corresponds to after if the look is steady.
	marked comment.Stats
	// listed is the sum of the comments in the index, if they were read.
	listed comment.Stats
	// rows has the counts of languages that share a row of the statistics.
	rows comment.Stats
	// improper lists improper items that are reported nowhere else.
	improper []layout.Improper
	// places has the product's places on the leaderboards by language; the empty language means
	// all. It includes languages whose entry has no place.
	places map[comment.Language]leaderKeys
	// runs compares the page index with the markers; nil if there is none, or none is compared.
	runs *runsCheck
	// newest is the position of the newest marker.
	newest comment.Position
	// bounds has the positions of the newest markers with a cell.
	bounds layout.Bounds
	// checked is whether the page index was to be compared.
	checked bool
}

// steady reports whether the product was not counted while the markers were read.
func (e *examination) steady() bool {
	return e.before.changes == e.after.changes && (e.before.damage == nil) == (e.after.damage == nil)
}

// counts returns the counts of all languages.
func (e *examination) counts() comment.Stats {
	return statistics{stats: e.after.stats, others: e.rows}.grid()
}

// differ is called with at most comparedAtOnce comments whose markers seem not to match.
type differ func(ctx context.Context, ids []comment.ID) error

// examine reads the statistics and the markers of a product. With a differ it also reads the
// product's comments in the index All, and compares the two side by side: both are in the order of
// their ids. The index lags a moment behind, so a difference may be false. If the statistics are
// unreadable, nothing can be counted, and the comments are not read.
func (e examiner) examine(ctx context.Context, product string, tell differ) (*examination, error) {
	seen := &examination{product: product, marked: comment.Stats{}, listed: comment.Stats{}, rows: comment.Stats{}, places: map[comment.Language]leaderKeys{}, checked: e.runs != nil}
	var err error
	seen.before, err = call.Retried(ctx, func() (statistics, error) { return e.statistics(ctx, product) })
	if err == nil && e.runs != nil && seen.before.head != nil {
		seen.runs, err = checkRuns(ctx, e.runs, product, seen.before.head)
	}
	if err != nil {
		return nil, call.Wrap(err, "statistics of product %q", product)
	}
	if tell == nil || seen.before.damage != nil {
		for _, err = range e.markers(ctx, seen) { // an error comes last
		}
		return seen, call.Wrap(err, "markers of product %q", product)
	}
	return seen, call.Wrap(e.compare(ctx, seen, tell), "comments and markers of product %q", product)
}

func (e examiner) statistics(ctx context.Context, product string) (statistics, error) {
	key := layout.ProductKey(product, layout.StatisticsSK)
	items, err := fetch(ctx, e.client, e.table, []layout.Item{key})
	return decodeStatistics(items[keyOf(key)]), err
}

// cellEntry is the cell of a comment, from the index or from a marker.
type cellEntry struct {
	id   comment.ID
	cell *comment.Cell // nil for a marker that counts nothing, and for an improper comment
	// damaged marks an unreadable marker, whose comment is always checked.
	damaged bool
}

// markers reads all items about a product: markers, statistics and places on leaderboards, in the
// order of their sort keys. So the statistics come after the last marker. It notes them, and yields
// the markers.
func (e examiner) markers(ctx context.Context, seen *examination) iter.Seq2[*cellEntry, error] {
	key := layout.Partition{Index: layout.All}.Key(seen.product)
	return func(yield func(*cellEntry, error) bool) {
		for it, err := range call.Items(ctx, e.client, call.PartitionInput(e.table, layout.Text(key), ""), key) {
			if marker := seen.take(it); (marker != nil || err != nil) && !yield(marker, err) {
				return
			}
		}
	}
}

// take notes an item of a product's partition, and returns it if it is a marker.
func (e *examination) take(it layout.Item) *cellEntry {
	sortKey := layout.NewReader(it).Text(layout.AttrSK)
	language, ofLanguage := strings.CutPrefix(sortKey, languageSK)
	switch {
	case strings.HasPrefix(sortKey, layout.MarkerSKPrefix):
		id, err := idOfMarker(sortKey)
		if err != nil {
			e.improper = append(e.improper, layout.NewImproper(it, "a marker's sort key holds the id of a comment"))
			return nil
		}
		m := decodeMarker(it)
		e.newest = id.Position()
		if m.cell != nil {
			e.bounds.Enter(*m.cell, e.marked[m.cell.Language].Counts[m.cell.Rating-1], e.newest)
			e.marked.Add(*m.cell, 1)
			e.runs.add(e.newest, *m.cell)
		}
		return &cellEntry{id: id, cell: m.cell, damaged: m.damage != nil}
	case ofLanguage:
		language := comment.Language(language)
		row, err := rowOfItem(it) // zero if unreadable, which differs from the right row
		if err == nil && row != (comment.Row{}) {
			e.rows[language] = row
		}
		if keys := leaderKeysOf(it); keys != (leaderKeys{}) || row == (comment.Row{}) {
			e.places[language] = keys
		}
	case sortKey == layout.StatisticsSK:
		if keys := leaderKeysOf(it); keys != (leaderKeys{}) {
			e.places[""] = keys
		}
		e.after = decodeStatistics(it)
	}
	return nil
}

// comments notes and yields a product's comments in the index.
func (e examiner) comments(ctx context.Context, seen *examination) iter.Seq2[*cellEntry, error] {
	key := layout.Partition{Index: layout.All}.Key(seen.product)
	return func(yield func(*cellEntry, error) bool) {
		for it, err := range call.Items(ctx, e.client, &dynamodb.QueryInput{
			TableName:                 aws.String(e.table),
			IndexName:                 aws.String(string(layout.All)),
			KeyConditionExpression:    aws.String(layout.All.PartitionAttr() + " = :key"),
			ExpressionAttributeValues: layout.Item{":key": layout.Text(key)},
			ProjectionExpression:      aws.String(strings.Join([]string{layout.AttrPK, layout.AttrSK, layout.AttrLanguage, layout.AttrRating, layout.AttrTraits}, ",")),
		}, string(layout.All)+" "+key) {
			if err != nil {
				yield(nil, err)
				return
			}
			id, badKey := layout.CommentOfKey(it)
			cell, badCell := cellOf(it)
			if err := cmp.Or(badKey, badCell); err != nil {
				seen.improper = append(seen.improper, layout.NewImproper(it, err.Error()))
			}
			if badKey != nil {
				continue // no marker is possible, so there is nothing to compare
			}
			if cell != nil {
				seen.listed.Add(*cell, 1)
			}
			if !yield(&cellEntry{id: id, cell: cell}, nil) {
				return
			}
		}
	}
}

// compare reports the comments that differ from their markers to tell. Both have the same order.
func (e examiner) compare(ctx context.Context, seen *examination, tell differ) error {
	nextMarker, stop := iter.Pull2(e.markers(ctx, seen))
	defer stop()
	nextComment, stop := iter.Pull2(e.comments(ctx, seen))
	defer stop()
	marker, markerErr, _ := nextMarker()
	c, commentErr, _ := nextComment()
	var found []comment.ID // not yet reported
	for {
		err, ended := cmp.Or(markerErr, commentErr), marker == nil && c == nil
		if err == nil && (len(found) == comparedAtOnce || ended && len(found) > 0) {
			err, found = tell(ctx, found), nil
		}
		if err != nil || ended {
			return err
		}
		id, fits := comment.ID(""), false
		switch { // take the lower of the two heads, or both if they have the same id
		case marker == nil || c != nil && c.id < marker.id:
			id, fits = c.id, c.cell == nil
			c, commentErr, _ = nextComment()
		case c == nil || marker.id < c.id:
			id, fits = marker.id, marker.cell == nil && !marker.damaged
			marker, markerErr, _ = nextMarker()
		default:
			id, fits = c.id, sameCell(c.cell, marker.cell) && !marker.damaged
			c, commentErr, _ = nextComment()
			marker, markerErr, _ = nextMarker()
		}
		if !fits {
			found = append(found, id)
		}
	}
}

// misfit is a comment that is not counted in its cell: its standing, by a look at the comment, and
// its marker.
type misfit struct {
	standing
	marker marker
}

// misfits returns the comments whose markers do not match, by consistent reads of both. It takes at
// most comparedAtOnce ids.
func (e examiner) misfits(ctx context.Context, product string, ids []comment.ID) ([]misfit, error) {
	keys := make([]layout.Item, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, layout.CommentKey(id), markerKey(product, id))
	}
	items, err := fetch(ctx, e.client, e.table, keys)
	if err != nil {
		return nil, err
	}
	var out []misfit
	for _, id := range ids {
		m := decodeMarker(items[keyOf(markerKey(product, id))])
		it := items[keyOf(layout.CommentKey(id))]
		var cell *comment.Cell // nil if the comment does not exist, is in no list, is another product's, or is improper
		if of, err := layout.ProductOf(it); err == nil && of == product && layout.Listed(it) {
			cell, _ = cellOf(it)
		}
		if m.damage != nil || !sameCell(m.cell, cell) {
			out = append(out, misfit{standing{ID: id, Cell: cell, comment: it}, m})
		}
	}
	return out, nil
}

// runsReader reads the page index in the table.
type runsReader interface {
	// Runs returns a snapshot of all runs of a product's index in ascending order, the head last.
	// An error that wraps runs.ErrTorn means that parts of the index are missing, unreadable or
	// inconsistent.
	Runs(ctx context.Context, product string) ([]runs.Run, error)
}

// runsCheck compares the runs of a product with its markers. The nil runsCheck compares nothing.
type runsCheck struct {
	// damage is the error of an unreadable index, else nil.
	damage error
	runs   []runs.Run
	// marked has the sum of the markers in each run. at is the index of the last marker's run.
	marked []comment.Stats
	at     int
}

// checkRuns prepares the comparison for a product with an encoded head, which may be unreadable.
func checkRuns(ctx context.Context, from runsReader, product string, head []byte) (*runsCheck, error) {
	h, err := runs.DecodeHead(head)
	switch {
	case err != nil:
		return &runsCheck{damage: err}, nil
	case h.Last == h.First: // the index has only a head
		alone := runs.Run{From: h.Bound, End: comment.MaxPosition, Counts: h.Counts}
		return &runsCheck{runs: []runs.Run{alone}, marked: []comment.Stats{{}}}, nil
	}
	var c runsCheck
	c.runs, err = call.Retried(ctx, func() ([]runs.Run, error) { return from.Runs(ctx, product) })
	if errors.Is(err, runs.ErrTorn) {
		return &runsCheck{damage: err}, nil
	}
	for range c.runs {
		c.marked = append(c.marked, comment.Stats{})
	}
	return &c, err
}

// add notes a marker. Markers come in ascending order.
func (c *runsCheck) add(p comment.Position, cell comment.Cell) {
	if c == nil || len(c.runs) == 0 {
		return
	}
	for c.at < len(c.runs)-1 && p.Compare(c.runs[c.at].End) >= 0 {
		c.at++
	}
	c.marked[c.at].Add(cell, 1)
}

// wrong describes what is wrong with the index; empty if nothing is.
func (c *runsCheck) wrong() string {
	if c == nil {
		return ""
	}
	if c.damage != nil {
		return c.damage.Error()
	}
	end := comment.Position{}
	for i, run := range c.runs {
		if run.From != end {
			return fmt.Sprintf("a run begins at %s, but the run before it ends at %s", run.From, end)
		}
		end = run.End
		if !maps.Equal(run.Counts, c.marked[i]) {
			return fmt.Sprintf("from %s on: counted as %d, but the markers add up to %d",
				run.From, run.Counts.Total(), c.marked[i].Total())
		}
	}
	return ""
}

// unsplit reports whether a run below the head is too large to be read, so that a merge has to
// split it.
func (c *runsCheck) unsplit() bool {
	return c != nil && len(c.runs) > 0 && slices.ContainsFunc(c.runs[:len(c.runs)-1], func(run runs.Run) bool {
		return run.Counts.Total() > runs.MaxReadable
	})
}
