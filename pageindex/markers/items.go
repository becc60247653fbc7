package markers

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// What is stored, for a product "4711", in partitions that hold nothing else:
//
//	K#                 GENERATIONS   which generations there are, see generations.go
//	K#GEN              4711          the products of a generation
//	K#GEN#/4711        H             header: of each cell how many comments, how far it is stamped
//	K#GEN#/4711        E#ULID        entry: the cell of a comment, and the position that it follows
//	K#GEN#de/5/4711    C#ULID        a comment of the cell; K#GEN#de/5/mv/4711 for traits
//	K#GEN#de/5/4711    N#00000000    the first stamps of the cell: the positions of its n-th comment
//	                                 from the oldest, its 2n-th and so on
const (
	pkPrefix      = "K#"
	generationsSK = "GENERATIONS"
	headerSK      = "H"
	entryPrefix   = "E#"
	memberPrefix  = "C#"
	chunkPrefix   = "N#"

	attrVersion = "v" // S, changes with each write of the product
	attrCells   = "c" // M, of a header: by cell, its state as text
	attrCell    = "s" // S, of an entry; missing for a deleted comment
	attrFollows = "p" // S, of an entry; missing for none
	attrStamps  = "b" // B, of a chunk: positions, 16 bytes each

	positionBytes = len(comment.Position{})
)

// generationProduct is a product in a generation.
type generationProduct struct{ table, generation, product string }

func (p generationProduct) pk() string { return pkPrefix + p.generation + "#/" + p.product }

// cellPK returns the partition of a cell. The text of a cell may end with letters of traits. So a
// product id that begins with such letters and a slash, or with a slash, gets one more slash before
// it: otherwise "de/5" of "m/4711" would be the partition of "de/5/m" of "4711".
func (p generationProduct) cellPK(cell string) string {
	product := p.product
	if first, _, found := strings.Cut(product, "/"); found && comment.ParseTraits(first).String() == first {
		product = "/" + product
	}
	return pkPrefix + p.generation + "#" + cell + "/" + product
}
func (p generationProduct) headerKey() layout.Item { return layout.Key(p.pk(), headerSK) }
func (p generationProduct) productKey() layout.Item {
	return layout.Key(pkPrefix+p.generation, p.product)
}
func (p generationProduct) entryKey(at comment.Position) layout.Item {
	return layout.Key(p.pk(), entryPrefix+at.String())
}
func (p generationProduct) memberKey(cell string, at comment.Position) layout.Item {
	return layout.Key(p.cellPK(cell), memberPrefix+at.String())
}
func (p generationProduct) chunkKey(cell string, chunk int) layout.Item {
	return layout.Key(p.cellPK(cell), fmt.Sprintf("%s%08d", chunkPrefix, chunk))
}

// state is the state of a cell, in the header.
type state struct {
	// count is how many comments the cell has.
	count int
	// stamped is how many stamps are valid: those of the first comments.
	stamped int
	// last is the position of the last valid stamp.
	last comment.Position
	// chunks is how many items of stamps exist, valid or not.
	chunks int
}

// behind returns the first position after a number of stamps, the last of which is last.
func behind(stamps int, last comment.Position) comment.Position {
	if stamps == 0 {
		return comment.Position{}
	}
	return last.Next()
}

// header describes a product.
type header struct {
	version string // empty without a header
	cells   map[string]state
}

func encodeHeader(p generationProduct, h header) layout.Item {
	cells := layout.Item{}
	for cell, s := range h.cells {
		cells[cell] = layout.Text(fmt.Sprintf("%d %d %d %s", s.count, s.stamped, s.chunks, s.last))
	}
	out := p.headerKey()
	out[attrVersion], out[attrCells] = layout.Text(h.version), &types.AttributeValueMemberM{Value: cells}
	return out
}

func decodeHeader(in layout.Item) (header, error) {
	h := header{cells: map[string]state{}}
	if len(in) == 0 {
		return h, nil
	}
	r := layout.NewReader(in)
	h.version = r.Text(attrVersion)
	if err := r.Err(); err != nil {
		return h, err
	}
	cells, ok := in[attrCells].(*types.AttributeValueMemberM)
	if !ok {
		return h, nil
	}
	for cell, value := range cells.Value {
		text := layout.NewReader(layout.Item{cell: value}).Text(cell)
		s, err := parseState(text)
		if err != nil {
			return h, fmt.Errorf("cell %q of a header: %w", cell, err)
		}
		h.cells[cell] = s
	}
	return h, nil
}

func parseState(text string) (s state, err error) {
	words := strings.Fields(text)
	if len(words) != 4 {
		return s, fmt.Errorf("%q is not the state of a cell", text)
	}
	for i, to := range []*int{&s.count, &s.stamped, &s.chunks} {
		if *to, err = strconv.Atoi(words[i]); err != nil {
			return s, err
		}
	}
	s.last, err = comment.ParsePosition(words[3])
	return s, err
}

// clone returns a copy whose cells can be changed.
func (h header) clone() header { return header{version: h.version, cells: maps.Clone(h.cells)} }

// names returns the cells in order.
func (h header) names() []string { return slices.Sorted(maps.Keys(h.cells)) }

func encodeStamps(key layout.Item, stamps []comment.Position) layout.Item {
	var raw []byte
	for _, p := range stamps {
		raw = append(raw, p[:]...)
	}
	key[attrStamps] = layout.Binary(raw)
	return key
}

func decodeStamps(in layout.Item) (out []comment.Position) {
	_, raw := layout.NewReader(in).TextOrBinary(attrStamps)
	for len(raw) >= positionBytes {
		out = append(out, comment.Position(raw[:positionBytes]))
		raw = raw[positionBytes:]
	}
	return out
}

// positionOf returns the position at the end of a sort key.
func positionOf(key layout.Item) (comment.Position, error) {
	_, text, _ := strings.Cut(layout.NewReader(key).Text(layout.AttrSK), "#")
	return comment.ParsePosition(text)
}

// headerWrites replaces a header on condition that its version is the one read. It drops empty
// cells, and with the last of them the header.
func headerWrites(p generationProduct, before, after header) []types.TransactWriteItem {
	maps.DeleteFunc(after.cells, func(_ string, s state) bool { return s.count == 0 && s.chunks == 0 })
	condition, values := layout.IfAbsent, layout.Item(nil)
	if before.version != "" {
		condition, values = attrVersion+" = :version", layout.Item{":version": layout.Text(before.version)}
	}
	var out []types.TransactWriteItem
	switch {
	case len(after.cells) > 0:
		after.version = rand.Text()
		out = append(out, call.PutIf(p.table, encodeHeader(p, after), condition, values))
		if before.version == "" {
			out = append(out, p.put(p.productKey()))
		}
	case before.version != "":
		gone := p.remove(p.headerKey())
		gone.Delete.ConditionExpression, gone.Delete.ExpressionAttributeValues = aws.String(condition), values
		out = append(out, gone, p.remove(p.productKey()))
	default:
		write := types.ConditionCheck{TableName: aws.String(p.table), Key: p.headerKey(), ConditionExpression: aws.String(condition)}
		out = append(out, types.TransactWriteItem{ConditionCheck: &write})
	}
	return out
}

func (p generationProduct) put(item layout.Item) types.TransactWriteItem {
	return call.PutIf(p.table, item, "", nil)
}

func (p generationProduct) remove(key layout.Item) types.TransactWriteItem {
	return types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(p.table), Key: key}}
}
