package counts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// The item of a product's statistics. It holds the grid of the first languages (rows.go), so nearly
// every query about a product is one read. Its only indexed attributes are the keys of the
// leaderboard.
//
// It also holds the positions of the product's newest comments (layout.Bounds). Like the counts,
// these follow from the markers, and change in the same transaction: no marker with a cell is above
// them. A writer to which they are unknown writes statistics without them. They stay unknown until a
// rebuild, or until the product has no comments left.
const (
	statisticsSK = layout.StatisticsSK
	attrGrid     = layout.AttrGrid
	attrChanges  = layout.AttrChanges
	attrHold     = "h" // S, a hold, while a recount keeps others from changing the item
	attrNewest   = "w" // B, the positions of the newest comments; missing if unknown
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
	// damaged holds the attributes of an item that cannot be read, else nil.
	damaged layout.Item
}

// hold keeps all processes but one recount from changing a product's statistics. It expires, in
// case the recount ends early.
type hold struct {
	owner string
	until time.Time
}

// String returns the hold as stored in the table.
func (h hold) String() string { return strconv.FormatInt(h.until.UnixMilli(), 10) + "/" + h.owner }

func parseHold(text string) (hold, error) {
	until, owner, found := strings.Cut(text, "/")
	millis, err := strconv.ParseInt(until, 10, 64)
	if !found || err != nil {
		return hold{}, fmt.Errorf("%q is no hold of a recount", text)
	}
	return hold{owner: owner, until: time.UnixMilli(millis)}, nil
}

// statisticsItem returns the item of a product's statistics, with its place on the leaderboard if
// it has one.
func statisticsItem(product string, s statistics, shards int) layout.Item {
	out := layout.ProductKey(product, statisticsSK)
	addLeaderKeys(out, leaderPlace{product: product, count: bestCount(s.stats, "")}, shards)
	out[attrChanges] = layout.Number(s.changes)
	out[attrGrid] = layout.Text(layout.GridText(s.stats))
	addSplit(out, s.stats)
	if s.hold.owner != "" {
		out[attrHold] = layout.Text(s.hold.String())
	}
	if s.head != nil {
		out[layout.AttrHead] = layout.Binary(s.head)
	}
	// The positions of the newest comments of single cells are left out if they would take another write unit.
	room := layout.WriteUnitBytes - layout.SizeOf(out, slices.Collect(maps.Keys(out)))%layout.WriteUnitBytes
	if encoded := s.newest.Encode(s.stats, room-len(attrNewest)); encoded != nil {
		out[attrNewest] = layout.Binary(encoded)
	}
	return out
}

// decodeStatistics reads the item of a product's statistics. An empty item is that of a product
// which was never counted. With an error it returns statistics whose condition lets a write replace
// the damaged item.
func decodeStatistics(in layout.Item) (statistics, error) {
	s := statistics{stats: comment.Stats{}}
	if len(in) == 0 {
		return s, nil
	}
	err := s.decode(in)
	if err != nil {
		s = statistics{stats: comment.Stats{}, damaged: in, changes: max(0, layout.NewReader(in).Number(attrChanges))}
	}
	return s, err
}

func (s *statistics) decode(in layout.Item) (err error) {
	if s.stats, err = decodeGrid(in); err != nil {
		return err
	}
	r := layout.NewReader(in)
	if s.changes = r.Number(attrChanges); s.changes < 1 {
		return fmt.Errorf("item %s of statistics has no number of changes", r.Text(layout.AttrPK))
	}
	if in[attrHold] != nil {
		s.hold, err = parseHold(r.Text(attrHold))
	}
	if head, ok := in[layout.AttrHead].(*types.AttributeValueMemberB); ok {
		s.head = head.Value
	}
	if stored, ok := in[attrNewest].(*types.AttributeValueMemberB); ok {
		s.newest, _ = layout.DecodeBounds(stored.Value, s.stats) // unreadable ones are unknown
	}
	return err
}

// decodeGrid decodes the counts of the item. Readers of statistics fetch only these.
func decodeGrid(in layout.Item) (comment.Stats, error) {
	r := layout.NewReader(in)
	stats, err := layout.ParseGrid(r.Text(attrGrid))
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
	if s.damaged != nil {
		return sameAttributes(s.damaged, attrChanges, attrGrid, attrHold, layout.AttrSplit)
	}
	if s.changes == 0 {
		return layout.IfAbsent, nil
	}
	values = layout.Item{":n": layout.Number(s.changes)}
	held := ""
	if s.hold.owner != "" {
		held = s.hold.String()
	}
	return attrChanges + " = :n" + andEqual(attrHold, held, values), values
}

// next returns the number of changes after one more. For a damaged item it is above all earlier
// numbers.
func (s statistics) next() int64 {
	if s.damaged == nil {
		return s.changes + 1
	}
	return max(s.changes, time.Now().UnixMilli()) + 1
}
