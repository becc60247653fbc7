package runs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// purse is a world that counts reads and writes in capacity units, by AWS's rules. Writes are in
// units of 1 KB, twice that in a transaction. A delete costs as much as the write did. Consistent
// reads are in units of 4 KB.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
type purse struct {
	*world
	next          int // number of the next comment at the head
	written, read float64
	largest       int // size of the largest directory and log, in bytes
}

// Sizes in bytes, including attribute names.
const (
	entryKey, chunkKey, directoryKey = 35, 44, 26 // for a product ID of ten characters
	markerBytes                      = 105        // "P#" and such an ID, a position, a cell, and the position of a record
)

func writeUnits(bytes int) float64 { return float64((bytes + 1023) / 1024) }

func readUnits(bytes int) float64 { return float64((bytes + 4095) / 4096) }

var costBegins = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)

const costSpan = 3 * 365 * 24 * time.Hour

// newPurse builds the index of a product with a number of comments over three years. Each of eight
// languages has half as many as the one before, and most ratings are 4 or 5.
func newPurse(number int) *purse {
	w := &world{r: rand.New(rand.NewPCG(1, 1)), markers: markers{}, log: map[uint64][]byte{}, chunks: map[Key][]byte{}}
	p := &purse{world: w}
	grid, highest := comment.Stats{}, comment.Position{}
	for range number {
		at, cell := p.anywhere(), p.cell()
		w.markers[at] = cell
		grid.Add(cell, 1)
		highest = slices.MaxFunc([]comment.Position{highest, at}, comment.Position.Compare)
	}
	w.head = Start(grid, highest, begun)
	p.commit([]Change{p.insert()})
	return p
}

func (p *purse) anywhere() comment.Position {
	var distinct [10]byte
	for i := range distinct {
		distinct[i] = byte(p.r.Uint32())
	}
	return comment.PositionAt(costBegins.Add(time.Duration(p.r.Int64N(int64(costSpan)))), distinct)
}

var costLanguages = []comment.Language{"en", "de", "fr", "es", "it", "nl", "pl", "pt-BR"}

func (p *purse) cell() comment.Cell {
	i := 0
	for i < len(costLanguages)-1 && p.r.IntN(2) == 0 {
		i++
	}
	return comment.Cell{Language: costLanguages[i], Rating: []int{5, 5, 5, 5, 4, 4, 3, 2, 1, 1}[p.r.IntN(10)]}
}

// insert returns a comment above all others, a minute after the one before.
func (p *purse) insert() Change {
	p.next++
	cell := p.cell()
	return Change{Position: comment.PositionAt(costBegins.Add(costSpan+time.Duration(p.next)*time.Minute), [10]byte{byte(p.r.Uint32()), byte(p.r.Uint32())}), To: &cell}
}

// commit counts changes, and merges if a merge falls due.
func (p *purse) commit(changes []Change) {
	for _, c := range changes {
		if delete(p.markers, c.Position); c.To != nil {
			p.markers[c.Position] = *c.To
		}
	}
	before := p.head
	var entry *Entry
	if p.head, entry = p.head.Apply(changes); entry != nil {
		p.log[entry.Number] = entry.Encode()
		p.written += 2 * writeUnits(len(p.log[entry.Number])+entryKey)
	}
	p.largest = max(p.largest, p.directoryAndLog())
	if p.head.MergeDue(before) {
		p.merge()
	}
}

func (p *purse) merge() {
	head, directory, log := p.world.read()
	m, err := NewMerge(head, directory, log)
	if err != nil {
		panic(err)
	}
	p.read += readUnits(200) + readUnits(p.directoryAndLog())
	if m.Postponed() {
		return
	}
	for _, key := range m.Chunks() {
		chunk, _ := DecodeChunk(p.chunks[key])
		if err := m.Load(key, chunk); err != nil {
			panic(err)
		}
		p.read++
	}
	for _, r := range m.Unsplit() {
		read := p.markersIn(r)
		p.read += readUnits(len(read) * markerBytes)
		if err := m.Split(r, read, head, nil); err != nil {
			panic(err)
		}
	}
	for _, key := range m.Leftover(nil) {
		p.written += writeUnits(len(p.chunks[key]) + chunkKey)
		delete(p.chunks, key)
	}
	result := m.Result(p.r.Uint32())
	for key, chunk := range result.Chunks {
		p.chunks[key] = chunk.Encode()
		p.written += writeUnits(len(p.chunks[key]) + chunkKey)
	}
	p.directory = result.Directory.Encode()
	p.written += writeUnits(len(p.directory) + directoryKey)
	for number, entry := range p.log {
		p.written += writeUnits(len(entry) + entryKey)
		delete(p.log, number)
	}
}

func (p *purse) directoryAndLog() int {
	bytes := len(p.directory) + directoryKey
	for _, entry := range p.log {
		bytes += len(entry) + entryKey
	}
	return bytes
}

// stored returns the size of the index in bytes.
func (p *purse) stored() int {
	bytes := p.directoryAndLog()
	for _, ref := range p.directoryNow().References {
		bytes += ref.Bytes + chunkKey
	}
	return bytes
}

func (p *purse) directoryNow() Directory {
	_, d, _ := p.world.read()
	return d
}

// lookup returns the cost of a jump in eventually consistent read units, and the number of comments
// left to skip.
func (p *purse) lookup(list pageindex.List, share float64) (units float64, skip int) {
	view, err := NewView(p.world.read())
	if err != nil {
		panic(err)
	}
	units = readUnits(200) + readUnits(p.directoryAndLog())
	count, _ := p.locate(view, list, nil, &units)
	rank := int(share * float64(count.Counts.Total()))
	found, _ := p.locate(view, list, []pageindex.Target{{Rank: rank}}, &units)
	return units / 2, rank - found.Boundaries[0].Rank
}

func (p *purse) locate(view *View, list pageindex.List, targets []pageindex.Target, units *float64) (pageindex.Found, Needs) {
	for {
		found, needs := view.Locate(list, targets)
		if needs.None() {
			return found, needs
		}
		for _, key := range needs.Chunks {
			chunk, _ := DecodeChunk(p.chunks[key])
			if err := view.Load(key, chunk); err != nil {
				panic(err)
			}
			*units++
		}
		for _, r := range needs.Markers {
			read := p.markersIn(r)
			if err := view.Reveal(r, read); err != nil {
				panic(err)
			}
			*units += readUnits(len(read) * markerBytes)
		}
	}
}

// costOf returns the write units of a change beyond counting, in bursts of a size.
func (p *purse) costOf(number, burst int, change func() Change) float64 {
	p.written = 0
	for range number / burst {
		var changes []Change
		for range burst {
			changes = append(changes, change())
		}
		slices.SortFunc(changes, func(a, b Change) int { return a.Position.Compare(b.Position) })
		p.commit(slices.CompactFunc(changes, func(a, b Change) bool { return a.Position == b.Position }))
	}
	return p.written / float64(number)
}

// remove returns the removal of a random comment.
func (p *purse) remove() Change {
	at := p.sorted[p.r.IntN(len(p.sorted))]
	for p.markers[at].Rating == 0 { // removed before
		at = p.sorted[p.r.IntN(len(p.sorted))]
	}
	return Change{Position: at, From: new(p.markers[at])}
}

// BenchmarkCosts reports the cost of a product's index, in capacity units and bytes:
//
//	go test ./pageindex/runs -run - -bench Costs -benchtime 1x
func BenchmarkCosts(b *testing.B) {
	for _, number := range []int{1e3, 1e4, 1e5, 1e6} {
		b.Run(fmt.Sprintf("comments=%d", number), func(b *testing.B) {
			for b.Loop() {
				p := newPurse(number)
				metric := func(value float64, name string) { b.ReportMetric(value, name) }
				metric(p.read/float64(number), "RU-to-build/comment")
				metric(p.written/float64(number), "WU-to-build/comment")
				metric(float64(p.stored())/float64(number), "bytes/comment")
				for _, l := range []struct {
					name string
					list pageindex.List
				}{
					{"all", pageindex.List{Order: comment.NewestFirst}},
					{"1+5", pageindex.List{Order: comment.NewestFirst, Filter: comment.Filter{Ratings: []int{1, 5}}}},
					{"de-4+5", pageindex.List{Order: comment.OldestFirst, Filter: comment.Filter{Languages: []comment.Language{"de"}, Ratings: []int{4, 5}}}},
					{"dates", pageindex.List{Order: comment.NewestFirst, Filter: comment.Filter{CreatedAfter: costDate(70), CreatedBefore: costDate(900)}}},
				} {
					units, most, skip := 0.0, 0.0, 0
					for i := range 50 {
						u, s := p.lookup(l.list, float64(2*i+1)/100)
						units, most, skip = units+u/50, max(most, u), skip+s
					}
					metric(units, "RU/jump-"+l.name)
					metric(most, "RU-most/jump-"+l.name)
					metric(float64(skip)/50, "skipped/jump-"+l.name)
				}
				metric(p.costOf(3000, 1, p.insert), "WU/insert-alone")
				metric(p.costOf(5000, 25, p.insert), "WU/insert-of-25")
				metric(p.costOf(10000, 100, p.insert), "WU/insert-of-100")
				p.sorted = p.markers.all()
				metric(p.costOf(min(2000, number/5), 25, p.remove), "WU/delete-of-25")
				metric(p.costOf(min(500, number/5), 1, p.remove), "WU/delete-alone")
				backDated := func() Change {
					cell := p.cell()
					return Change{Position: p.anywhere(), To: &cell}
				}
				metric(p.costOf(2500, 25, backDated), "WU/back-dated-of-25")
				metric((readUnits(200)+readUnits(p.largest)+1)/2, "RU/jump-with-longest-log")
			}
		})
	}
}

func costDate(day int) *time.Time {
	return new(costBegins.AddDate(0, 0, day).Add(5 * time.Hour))
}
