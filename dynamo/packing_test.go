package dynamo

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/sample"
)

// Whether to pack what a list shows into one attribute, and what shorter keys would be worth (DESIGN.md, The table):
//
//	go test ./dynamo -run PackingTable -v
//	DATA=reviews.tsv go test ./dynamo -run PackingTable -v
//	go test ./dynamo -run - -bench Packing
//
// The first prints bytes and units of comments that the project makes up, the second also those of a file, the third
// processor time. The program itself writes plain attributes. packing_ways_test.go has the ways, packing_corpus_test.go the
// comments.

// pageItems is how many items a page of 20 reads: one more tells whether there is a next page.
const pageItems = 20 + 1

// pageSizes are those of pages that clients may ask for as well.
var pageSizes = []int{10, 15, 20, 25, 30, 35, 40, 45, 50}

// way is a way to write comments into items.
type way struct {
	name   string
	encode func(comment.Comment) item
	decode func(item, string) (comment.Comment, error)
}

// ways are plain attributes, then those of packing, then those that compress the text alone.
func ways(t testing.TB, c corpus) []way {
	t.Helper()
	packed := func(name string, by compressor) way {
		p := packing{compact, parseCompact, by}
		return way{name, p.encode, p.decode}
	}
	text := func(name string, by compressor) way {
		p := textAlone{by}
		return way{name, p.encode, p.decode}
	}
	wire := packing{protobuf, parseProtobuf, nil}
	return []way{
		{"plain", encode, decode},
		{"packed, protobuf", wire.encode, wire.decode},
		packed("packed", nil),
		packed("packed, zstd", newZstd(t, 0, nil)),
		packed("packed, zstd, 4 KB", newZstd(t, 4<<10, c.training)),
		packed("packed, zstd, 16 KB", newZstd(t, 16<<10, c.training)),
		packed("packed, zstd, 64 KB", newZstd(t, 64<<10, c.training)),
		packed("packed, zstd, 64 KB of such comments", newZstd(t, 64<<10, c.such)),
		packed("packed, DEFLATE", newFlate(t, 0, nil)),
		packed("packed, DEFLATE, 16 KB", newFlate(t, 16<<10, c.training)),
		packed("packed, DEFLATE, 16 KB of such comments", newFlate(t, 16<<10, c.such)),
		text("text alone, zstd", newZstd(t, 0, nil)),
		text("text alone, DEFLATE, 16 KB", newFlate(t, 16<<10, c.training)),
		text("text alone, DEFLATE", newFlate(t, 0, nil)),
	}
}

// What is packed is read back, whatever it is, so that the figures are of ways that work.
func TestPackingReadsBack(t *testing.T) {
	r := commenttest.Rand(t)
	comments := commenttest.Many(r, "kettle", 200)
	comments = append(comments, commenttest.Large(r, "kettle", 2000))
	earlier := comments[0].CreatedAt().Add(-time.Hour)
	comments[0].UpdatedAt, comments[0].Version = &earlier, 1
	comments[1].Text = ""
	for _, w := range ways(t, corpus{training: comments[:100], such: comments[100:]}) {
		for _, want := range comments {
			got, err := w.decode(w.encode(want), want.ProductID)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Fatalf("%s: %v\n%s", w.name, err, diff)
			}
		}
	}
}

// shortening is how many bytes shorter keys would make an entry of an index and the item of the table.
type shortening struct {
	name        string
	entry, item int
}

// shortenings are ways to shorten keys, each by itself, then together. GSISK has four letters to lose.
func shortenings() []shortening {
	const ulidText, ulidBytes = 26, 16
	product, pk := len("PRODUCT#")-len("P#"), len("COMMENT#c_")-len("C#")
	// PK, SK and GSISK of one letter, and the partition keys of the indexes: one in an entry, four in the item.
	names, allNames := 1+1+4+5, 1+1+4+4+3*5
	binary := ulidText - ulidBytes
	binaryPK := len("COMMENT#c_") - len("C") + binary
	noSort := len(attrSort) + ulidText
	return []shortening{
		{"P# for PRODUCT#", product, 4 * product},
		{"C# for COMMENT#c_", pk, pk},
		{"attributes of one letter", names, allNames},
		{"binary ULID in GSISK", binary, binary},
		{"binary ULID in PK, behind one byte", binaryPK, binaryPK},
		{"no GSISK: PK sorts the indexes", noSort, noSort},
		{"all, binary, with GSISK", product + binaryPK + names + binary, 4*product + binaryPK + allNames + binary},
		{"all, binary, no GSISK", product + binaryPK + names - 4 + noSort, 4*product + binaryPK + allNames - 4 + noSort},
		{"all that are text, with GSISK", product + pk + names, 4*product + pk + allNames},
		{"all that are text, no GSISK", product + pk + names - 4 + noSort, 4*product + pk + allNames - 4 + noSort},
	}
}

// figures are what a way of writing comes to, each a mean.
type figures struct {
	payload float64 // bytes of an entry beside its keys
	entry   float64 // bytes of an entry of the index All
	newest  float64 // read units of a page of All
	pages   float64 // the same for pages of other sizes, since a byte more or less can be a unit for one size
	rating  float64 // read units of a page of ByRating, all ratings alike
	write   float64 // write units of a new comment
}

// measure writes comments in a way, under keys that are shorter by some bytes.
func measure(w way, comments []comment.Comment, keys shortening) figures {
	var f figures
	var all []int
	rated := map[int][]int{}
	for _, c := range comments {
		it := w.encode(c)
		entry := billedBytes(it, All) - keys.entry
		f.entry += float64(entry)
		f.payload += float64(bytesOf(it, listedBy(it)))
		f.write += started(bytesOf(it, slices.Collect(maps.Keys(it)))-keys.item, 1<<10)
		for _, index := range indexes {
			f.write += started(billedBytes(it, index.name)-keys.entry, 1<<10)
		}
		all = append(all, entry)
		rated[c.Rating] = append(rated[c.Rating], billedBytes(it, ByRating)-keys.entry)
	}
	count := float64(len(comments))
	f.entry, f.payload, f.write = f.entry/count, f.payload/count, f.write/count
	f.newest = pageUnits(all, pageItems)
	for _, size := range pageSizes {
		f.pages += pageUnits(all, size+1) / float64(len(pageSizes))
	}
	ratings := 0.0
	for _, entries := range rated {
		if len(entries) >= pageItems {
			f.rating += pageUnits(entries, pageItems)
			ratings++
		}
	}
	f.rating /= ratings
	return f
}

// pageUnits is the mean of the read units of all full pages of so many items.
func pageUnits(entries []int, items int) float64 {
	units, pages := 0.0, 0.0
	for page := range slices.Chunk(entries, items) {
		if len(page) < items {
			break
		}
		bytes := 0
		for _, entry := range page {
			bytes += entry
		}
		units += started(bytes, unitBytes) / 2 // indexes are read eventually consistently
		pages++
	}
	return units / pages
}

// started is how many units of a size some bytes have begun.
func started(bytes, unit int) float64 { return float64((bytes + unit - 1) / unit) }

func billedBytes(it item, index Index) int {
	return bytesOf(it, append(listedBy(it), attrPK, attrSK, index.partitionAttr(), attrSort))
}

// listedBy are the attributes that an index projects.
func listedBy(it item) []string {
	if it[attrPacked] != nil {
		return []string{attrLanguage, attrRating, attrPacked}
	}
	return slices.Clone(listAttrs)
}

// bytesOf is sizeOf for items that may have binary attributes.
func bytesOf(it item, names []string) int {
	size := sizeOf(it, names)
	for _, name := range names {
		if value, ok := it[name].(*types.AttributeValueMemberB); ok {
			size += len(name) + len(value.Value)
		}
	}
	return size
}

// What was decided (DESIGN.md, The table) hangs on this: packing alone saves next to nothing, and compressing saves a good
// part, text alone or not, as soon as there is some text.
func TestPackingAlone(t *testing.T) {
	all := slices.Collect(sample.Comments())[:200]
	long := composed(rand.New(rand.NewPCG(1, 1)), all, unheard)
	deflate := newFlate(t, 0, nil)
	plain := measure(way{"", encode, decode}, long, shortening{}).entry
	for _, row := range []struct {
		way
		least, most float64 // of the bytes of plain attributes
	}{
		{way{"packed", packing{compact, parseCompact, nil}.encode, nil}, 0.95, 1},
		{way{"packed, DEFLATE", packing{compact, parseCompact, deflate}.encode, nil}, 0.6, 0.8},
		{way{"text alone, DEFLATE", textAlone{deflate}.encode, nil}, 0.6, 0.8},
	} {
		if share := measure(row.way, long, shortening{}).entry / plain; share < row.least || share > row.most {
			t.Errorf("%s: %.2f of the bytes; it was decided on %.2f to %.2f", row.name, share, row.least, row.most)
		}
	}
}
