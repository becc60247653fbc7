package counts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// The item of a product's statistics. It holds the grid of the first languages (see below), so
// nearly every query about a product is one read. Its only indexed attributes are the keys of the
// leaderboard.
//
// It also holds the positions of the product's newest comments (layout.Bounds). Like the counts,
// these follow from the markers, and change in the same transaction: no marker with a cell is above
// them. A writer to which they are unknown writes statistics without them. They stay unknown until
// a rebuild, or until the product has no comments left.
const (
	attrHold   = "h" // S, a hold, while a recount keeps others from changing the item
	attrNewest = "w" // B, the positions of the newest comments; missing if unknown
)

// statistics has a product's counts as stored in the table.
type statistics struct {
	stats comment.Stats
	// others has the counts of languages that share a row of stats, as far as they were read.
	others comment.Stats
	// changes is how often the item was written; 0 if it does not exist. It rises by more after a
	// damaged item.
	changes int64
	// hold keeps others from changing the item, unless it is zero.
	hold hold
	// newest has the positions of the newest comments; nil if unknown.
	newest *layout.Bounds
	// head is the head of the product's page index, encoded; nil without an index (head.go).
	head []byte

	stored
}

// hold keeps all processes but one recount from changing a product's statistics. It expires, in
// case the recount ends early.
type hold struct {
	owner string
	until time.Time
}

// String returns the hold as stored in the table.
func (h hold) String() string { return strconv.FormatInt(h.until.UnixMilli(), 10) + "/" + h.owner }

// statisticsItem returns the item of a product's statistics, with its place on the leaderboard if
// it has one.
func statisticsItem(product string, s statistics, shards int) layout.Item {
	out := layout.ProductKey(product, layout.StatisticsSK)
	addLeaderKeys(out, leaderPlace{product: product, count: bestCount(s.stats, "")}, shards)
	out[layout.AttrChanges] = layout.Number(s.changes)
	out[layout.AttrGrid] = layout.Text(layout.GridText(s.stats))
	addSplit(out, s.stats)
	if s.hold.owner != "" {
		out[attrHold] = layout.Text(s.hold.String())
	}
	if s.head != nil {
		out[layout.AttrHead] = layout.Binary(s.head)
	}
	// The positions of the newest comments of single cells are left out if they would take another
	// write unit.
	room := layout.WriteUnitBytes - layout.SizeOf(out, nil)%layout.WriteUnitBytes
	if encoded := s.newest.Encode(s.stats, room-len(attrNewest)); encoded != nil {
		out[attrNewest] = layout.Binary(encoded)
	}
	return out
}

// decodeStatistics reads the item of a product's statistics. An empty item is that of a product
// which was never counted. Damaged statistics have only their number of changes and the head of the
// page index: a rebuild keeps an index that matches its markers, and ends one that does not.
func decodeStatistics(in layout.Item) statistics {
	s := statistics{stats: comment.Stats{}, stored: stored{item: in}}
	if len(in) == 0 {
		return s
	}
	if err := s.decode(in); err != nil {
		return statistics{stats: comment.Stats{}, stored: stored{in, err}, changes: max(0, layout.NewReader(in).Number(layout.AttrChanges)), head: layout.BytesOf(in, layout.AttrHead)}
	}
	return s
}

func (s *statistics) decode(in layout.Item) (err error) {
	if s.stats, err = decodeGrid(in); err != nil {
		return err
	}
	r := layout.NewReader(in)
	if s.changes = r.Number(layout.AttrChanges); s.changes < 1 {
		return fmt.Errorf("item %s of statistics has no number of changes", r.Text(layout.AttrPK))
	}
	if in[attrHold] != nil {
		until, owner, found := strings.Cut(r.Text(attrHold), "/")
		millis, err := strconv.ParseInt(until, 10, 64)
		if !found || err != nil {
			return fmt.Errorf("%q is no hold of a recount", r.Text(attrHold))
		}
		s.hold = hold{owner: owner, until: time.UnixMilli(millis)}
	}
	s.head = layout.BytesOf(in, layout.AttrHead)
	s.newest, _ = layout.DecodeBounds(layout.BytesOf(in, attrNewest), s.stats) // unreadable ones are unknown
	return err
}

// decodeGrid decodes the counts of the item. Readers of statistics fetch only these.
func decodeGrid(in layout.Item) (comment.Stats, error) {
	r := layout.NewReader(in)
	stats, err := layout.ParseGrid(r.Text(layout.AttrGrid))
	if err = cmp.Or(r.Err(), err); err == nil {
		err = splitIn(in, stats)
	}
	if err != nil {
		return nil, fmt.Errorf("item %s of statistics: %w", r.Text(layout.AttrPK), err)
	}
	return stats, nil
}

// unchanged returns the condition that the statistics are as they were read.
func (s statistics) unchanged() (condition string, values layout.Item) {
	if s.damage != nil { // its number of changes may be lost
		return layout.AsRead(s.item, layout.AttrChanges, layout.AttrGrid, attrHold, layout.AttrSplit)
	}
	return layout.AsRead(s.item, layout.AttrChanges, attrHold)
}

// next returns the number of changes after one more. For a damaged item it is above all earlier
// numbers.
func (s statistics) next() int64 {
	if s.damage == nil {
		return s.changes + 1
	}
	return max(s.changes, time.Now().UnixMilli()) + 1
}

// The maximum size of a product's statistics.
//
// The statistics item holds a row of counts for each language, and an item has at most 400 KB. One
// author can make up many languages. To keep them from filling the item, only
// comment.MaxLanguageRows languages have rows there. All others share one row,
// comment.OtherLanguages. The counts of each are in its own item, beside its place on the
// leaderboard. So each count is exact and each item is small, whatever the languages.
//
// The statistics item alone tells which row a language is counted in: its own row if it has one. A
// new language gets a row while there is room and no language shares one. So all comments of a
// language are counted in one row, and markers need not say in which. A rebuild gives the rows to
// the languages with the most comments.

// rowOf returns the language in whose row of a grid the comments of a language are counted.
func rowOf(stats comment.Stats, language comment.Language) comment.Language {
	if _, own := stats[language]; own {
		return language
	}
	if full(stats) {
		return comment.OtherLanguages
	}
	return language
}

// full reports whether a grid has no row for a further language.
func full(stats comment.Stats) bool {
	_, shared := stats[comment.OtherLanguages]
	return shared || len(stats) >= comment.MaxLanguageRows
}

// add counts n more comments of a cell, fewer if n is negative.
func (s *statistics) add(cell comment.Cell, n int) {
	row := rowOf(s.stats, cell.Language)
	if row == comment.OtherLanguages {
		s.others.Add(cell, n)
	}
	cell.Language = row
	s.stats.Add(cell, n)
}

// enter counts a new comment at a position in a cell.
func (s *statistics) enter(cell comment.Cell, position comment.Position) {
	row := comment.Cell{Language: rowOf(s.stats, cell.Language), Rating: cell.Rating}
	s.newest.Enter(row, s.stats[row.Language].Counts[row.Rating-1], position)
	s.add(cell, 1)
}

// leave stops counting the comment at a position in a cell. stays is whether it is still counted
// with the same rating.
func (s *statistics) leave(cell comment.Cell, position comment.Position, stays bool) {
	s.add(cell, -1)
	if !stays {
		s.newest.Leave(cell.Rating, s.stats.Counts(comment.Filter{})[cell.Rating-1], position)
	}
}

// place returns the content of a language's item.
func (s statistics) place(product string, language comment.Language) leaderPlace {
	if row, other := s.others[language]; other {
		return leaderPlace{product: product, language: language, count: row.Counts[comment.MaxRating-1], row: row}
	}
	return leaderPlace{product: product, language: language, count: s.stats[language].Counts[comment.MaxRating-1]}
}

// grid returns the counts of all languages. It lacks languages in the shared row whose counts were
// not read.
func (s statistics) grid() comment.Stats {
	grid := s.stats.Clone()
	delete(grid, comment.OtherLanguages)
	for language, row := range s.others {
		if grid[language] = grid[language].Plus(row); grid[language] == (comment.Row{}) {
			delete(grid, language)
		}
	}
	return grid
}

// shared returns what the shared row must be: the sum of the counts of its languages.
func (s statistics) shared() (sum comment.Row) {
	for _, row := range s.others {
		sum = sum.Plus(row)
	}
	return sum
}

// arranged makes statistics of the counts of all languages. Rows go to the languages that have one
// in kept if not too many do, or else to the languages with the most comments.
func arranged(grid, kept comment.Stats) statistics {
	byUse := slices.SortedFunc(maps.Keys(grid), func(a, b comment.Language) int {
		return cmp.Or(cmp.Compare(grid[b].Total(), grid[a].Total()), cmp.Compare(a, b))
	})
	owners := byUse[:min(len(byUse), comment.MaxLanguageRows)]
	if _, shares := kept[comment.OtherLanguages]; shares {
		same := slices.DeleteFunc(slices.Clone(byUse), func(language comment.Language) bool { _, own := kept[language]; return !own })
		if len(same) <= comment.MaxLanguageRows {
			owners = same
		}
	}
	s := statistics{stats: comment.Stats{}, others: grid.Clone()}
	for _, language := range owners {
		s.stats[language] = grid[language]
		delete(s.others, language)
	}
	if shared := s.shared(); shared != (comment.Row{}) {
		s.stats[comment.OtherLanguages] = shared
	}
	return s
}
