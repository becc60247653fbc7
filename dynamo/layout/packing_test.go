package layout

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/capacity"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/sample"
)

// Comparison of ways to write an item (docs/design/item-size.md): with the former keys or the
// current ones, with the text compressed or not, or with everything that a list shows packed into
// one attribute.
//
//	go test ./dynamo/layout -run - -bench Figures -benchtime 1x
//	DATA=reviews.tsv go test ./dynamo/layout -run - -bench Figures -benchtime 1x
//	go test ./dynamo/layout -run - -bench Packing
//
// The first prints bytes and units for sample comments of the project, the second also for those of
// a file, the third processor time. packing_ways_test.go has the ways, packing_corpus_test.go the
// comments.

// pageItems is how many items a page of 20 reads: one more shows whether there is a next page.
const pageItems = 20 + 1

// pageSizes are other page sizes that clients may ask for.
var pageSizes = []int{10, 15, 20, 25, 30, 35, 40, 45, 50}

// way is a way to write comments into items.
type way struct {
	name   string
	encode func(comment.Comment) Item
	decode func(Item, string) (comment.Comment, error)
	// longer returns how much longer keys and attribute names are than the current ones; nil if
	// they are the same.
	longer func(comment.Comment) longer
}

// longer is how many bytes longer an index entry and the item of the table are.
type longer struct{ entry, item int }

// keysOfBefore returns the difference of the former layout: keys COMMENT#c_<ulid> and PRODUCT#<p>,
// a sort key of the indexes beside PK, key attributes like GSI4PK, and other attributes of two
// letters.
func keysOfBefore(c comment.Comment) longer {
	const product, pk, sort = len("PRODUCT#") - len("P#"), len("COMMENT#c_") - len("C#"), len("GSISK") + 26
	names := len("txaian") - len("tan")
	if c.Title != nil {
		names += len("ti") - len("h")
	}
	return longer{
		entry: product + pk + sort + names + len("GSI4PK") - len("A"),
		item:  4*product + pk + sort + names + len("GSIPKGSI2PKGSI3PKGSI4PK") - len("BLRA"),
	}
}

// The ways that the others are compared with.
const (
	before = "keys of before, plain"
	now    = "text compressed (what the program does)"
)

// decodeEntry decodes an entry of a list index, with its text.
func decodeEntry(in Item, product string) (comment.Comment, error) {
	c, err := DecodeCompressed(in, product, true)
	if err != nil {
		return comment.Comment{}, err
	}
	return c.Decompress()
}

// ways returns the former way, the current one, and alternatives.
func ways(t testing.TB, c corpus) []way {
	t.Helper()
	packed := func(name string, by compressor) way {
		p := packing{compact, parseCompact, by}
		return way{name, p.encode, p.decode, nil}
	}
	wire := packing{protobuf, parseProtobuf, nil}
	return []way{
		{before, encodePlain, decodeEntry, keysOfBefore},
		{"plain", encodePlain, decodeEntry, nil},
		{now, Encode, decodeEntry, nil},
		{"packed, protobuf", wire.encode, wire.decode, nil},
		packed("packed", nil),
		packed("packed, zstd", newZstd(t, 0, nil)),
		packed("packed, zstd, 16 KB", newZstd(t, 16<<10, c.training)),
		packed("packed, DEFLATE", newFlate(t, 0, nil)),
		packed("packed, DEFLATE, 16 KB", newFlate(t, 16<<10, c.training)),
		packed("packed, DEFLATE, 16 KB of such comments", newFlate(t, 16<<10, c.such)),
	}
}

// Every way decodes what it encoded, so the figures are those of ways that work.
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

// figures are the results of a way of writing, each a mean.
type figures struct {
	entry  float64 // bytes of an entry of the index All
	newest float64 // read units of a page of All
	pages  float64 // the same for other page sizes: for one size, a single byte can cost a unit
	rating float64 // read units of a page of ByRating, each rating with the same weight
	write  float64 // write units of a new comment
}

// measure encodes comments in a way and returns the figures.
func measure(w way, comments []comment.Comment) figures {
	var f figures
	var all []int
	rated := map[int][]int{}
	for _, c := range comments {
		it := w.encode(c)
		var more longer
		if w.longer != nil {
			more = w.longer(c)
		}
		entry := billedBytes(it, All) + more.entry
		f.entry += float64(entry)
		f.write += started(SizeOf(it, slices.Collect(maps.Keys(it)))+more.item, 1<<10)
		for _, index := range ListIndexes() {
			f.write += started(billedBytes(it, index)+more.entry, 1<<10)
		}
		all = append(all, entry)
		rated[c.Rating] = append(rated[c.Rating], billedBytes(it, ByRating)+more.entry)
	}
	count := float64(len(comments))
	f.entry, f.write = f.entry/count, f.write/count
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

// pageUnits returns the mean read units of the full pages of so many items.
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
		units += started(bytes, capacity.UnitBytes) / 2 // indexes are read eventually consistently
		pages++
	}
	return units / pages
}

// started returns how many units of a size the bytes begin.
func started(bytes, unit int) float64 { return float64((bytes + unit - 1) / unit) }

func billedBytes(it Item, index Index) int {
	return SizeOf(it, append(listedBy(it), AttrPK, AttrSK, index.PartitionAttr()))
}

// listedBy returns the attributes that an index projects.
func listedBy(it Item) []string {
	if it[attrPacked] != nil {
		return []string{AttrLanguage, AttrRating, attrPacked}
	}
	return ListAttrs()
}

// The decision in docs/design/item-size.md depends on these figures. For a long comment, shorter
// keys and a compressed text save a third of the bytes. Packing saves next to nothing, and with
// DEFLATE less than preset codes for the text alone.
func TestPackingAlone(t *testing.T) {
	all := slices.Collect(sample.Comments())[:200]
	long := composed(rand.New(rand.NewPCG(1, 1)), all, unheard)
	packed := packing{compact, parseCompact, nil}
	deflated := packing{compact, parseCompact, newFlate(t, 0, nil)}
	plain := way{"plain", encodePlain, nil, nil}
	for _, row := range []struct {
		way, than   way
		least, most float64
	}{
		{way{"text compressed", Encode, nil, nil}, way{before, encodePlain, nil, keysOfBefore}, 0.55, 0.7},
		{plain, way{before, encodePlain, nil, keysOfBefore}, 0.85, 0.95},
		{way{"packed", packed.encode, nil, nil}, plain, 0.95, 1.01},
		{way{"packed, DEFLATE", deflated.encode, nil, nil}, way{"text compressed", Encode, nil, nil}, 1, 1.1},
	} {
		if share := measure(row.way, long).entry / measure(row.than, long).entry; share < row.least || share > row.most {
			t.Errorf("%s has %.2f of the bytes of %s; it was decided on %.2f to %.2f", row.way.name, share, row.than.name, row.least, row.most)
		}
	}
}
