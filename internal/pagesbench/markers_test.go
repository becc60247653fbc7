package pagesbench

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/markers"
)

// markedChanges is the number of times that a change of the page markers is measured.
const markedChanges = 64

func openMarkers(t *testing.T) subject {
	b, _ := newTable(t)
	return subject{Store: markers.Open(b, b.table), size: b.stored, units: b.written, changes: markedChanges}
}

// openWrittenMarkers opens page markers whose content is not built, but written as a build leaves
// it. docs/design/page-index-markers.md describes the items. A build of a million comments takes
// too long on the local engine. Items that only changes read exist only for the comments that will
// be changed. The size is that of all items.
func openWrittenMarkers(t *testing.T) subject {
	b, _ := newTable(t)
	var size int64
	return subject{
		Store: markers.Open(b, b.table), size: func(*testing.T) int64 { return size }, units: b.written, changes: markedChanges,
		build: func(t *testing.T, entries []pageindex.Entry) time.Duration {
			size = writeMarkers(t, b, entries)
			return 0
		},
	}
}

const (
	generation       = "WRITTENWRITTENWRITTENWRITT" // as long as others
	commentsPerStamp = 64
	stampsPerItem    = 200
)

// writeMarkers writes the page markers of the comments of one product, the oldest first, and
// returns the number of bytes that a build leaves.
func writeMarkers(t *testing.T, b *billed, entries []pageindex.Entry) (size int64) {
	product := entries[0].Product
	cells := map[string][]comment.Position{}
	for _, e := range entries {
		cell := layout.CellText(*e.Cell)
		cells[cell] = append(cells[cell], e.Position)
	}
	rest, states := []layout.Item{layout.Key("K#"+generation, product)}, layout.Item{}
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		items, state := stampsOf(cellPK(cell, product), cells[cell])
		rest, states[cell] = append(rest, items...), layout.Text(state)
	}
	header, generations := layout.Key(productPK(product), "H"), layout.Key("K#", "GENERATIONS")
	header["v"], header["c"] = layout.Text("1"), &types.AttributeValueMemberM{Value: states}
	generations["current"] = layout.Text(generation)
	rest = append(rest, header, generations)
	b.put(t, len(rest), func(i int) layout.Item { return rest[i] })
	member := func(i int) layout.Item {
		return layout.Key(cellPK(layout.CellText(*entries[i].Cell), product), "C#"+entries[i].Position.String())
	}
	entry := func(i int) layout.Item {
		item := layout.Key(productPK(product), "E#"+entries[i].Position.String())
		item["s"], item["p"] = layout.Text(layout.CellText(*entries[i].Cell)), layout.Text(string(entries[i].Follows))
		return item
	}
	b.put(t, len(entries), member)
	changed := orderOfChanges(len(entries))[:min(3*markedChanges, len(entries))]
	b.put(t, len(changed), func(i int) layout.Item { return entry(changed[i]) })
	for _, item := range rest {
		size += int64(bytesOf(item)) + overhead
	}
	for i := range entries {
		size += int64(bytesOf(member(i))+bytesOf(entry(i))) + 2*overhead
	}
	return size
}

func productPK(product string) string    { return "K#" + generation + "#/" + product }
func cellPK(cell, product string) string { return "K#" + generation + "#" + cell + "/" + product }

// stampsOf returns the items with the stamps of a cell, and its entry in the header.
func stampsOf(pk string, positions []comment.Position) (items []layout.Item, state string) {
	var stamps []byte
	last := comment.Position{}
	for n := commentsPerStamp; n <= len(positions); n += commentsPerStamp {
		last = positions[n-1]
		stamps = append(stamps, last[:]...)
	}
	for some := range slices.Chunk(stamps, stampsPerItem*len(last)) {
		item := layout.Key(pk, fmt.Sprintf("N#%08d", len(items)))
		item["b"] = layout.Binary(some)
		items = append(items, item)
	}
	return items, fmt.Sprintf("%d %d %d %s", len(positions), len(positions)/commentsPerStamp, len(items), last)
}
