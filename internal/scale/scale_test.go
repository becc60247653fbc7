// Package scale reckons what becomes of a table with 10^9 comments, 10^5 views a second and a
// product with a hundredth of all. Its tests draw the views and comments of seconds, spread them
// over partitions as DynamoDB does, and count what is throttled. Units and sizes are those of
// package cost, ceilings those of a partition. docs/scale.md says what follows; its figures are in
// docs/scale.csv.
//
//	go test ./internal/scale -v            # prints the figures, and holds the documents against them
//	go test ./internal/scale -update       # writes docs/scale.csv
package scale_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/cost"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/pageindex/runs"
	"github.com/talkback/talkback/stream"
)

// The shop: 10^9 comments, 10^5 views a second, and a product with a hundredth of all.
const (
	comments   = 1e9
	products   = 5e7
	views      = 1e5 // a second
	newOnes    = 100 // comments a second
	hottest    = .01
	servers    = 40
	monthHours = cost.Hours * 3600.0
)

func shop() cost.Workload {
	w := cost.Typical()
	w.Products, w.Comments, w.Hottest = products, comments, hottest
	w.Views, w.NewComments, w.Votes = views*monthHours, newOnes*monthHours, 2*newOnes*monthHours
	w.Peak, w.Servers, w.ServerHour, w.Backups = 1, servers, .0725, true
	return w
}

// figures are what is reckoned, by name.
type figures struct{ rows [][2]string }

func (f *figures) add(name string, n float64) {
	f.rows = append(f.rows, [2]string{name, strconv.FormatFloat(cost.Round(n), 'f', -1, 64)})
}

// reckon makes all figures, the same ones each time.
func reckon() *figures {
	f := &figures{}
	f.partitions()
	f.hotReads()
	f.hotWrites()
	f.stream()
	f.pageIndex()
	bill := cost.Of(shop(), prices)
	f.add("bill: dollars a month", bill.Dollars)
	f.add("bill: dollars a month, provisioned", bill.Provisioned.Dollars)
	return f
}

var prices = cost.Prices{Reads: .125, Writes: .625, ReadCapacity: .00013, WriteCapacity: .00065, Storage: .25, Backup: .20, StreamReads: .20, FunctionRequests: .20, FunctionTime: 13.3334, Transfer: .09}

// partitions tells how many partitions storage takes.
func (f *figures) partitions() {
	each, _ := shop().Stored()
	for _, index := range append([]layout.Index{layout.InTable}, layout.ListIndexes()...) {
		f.add("partitions: "+string(index), float64(partitionsOf(comments*each[index])))
	}
	f.add("stored: TB", comments*each.Total()/(1<<40))
	f.add("partitions: all, of the hottest product", comments*hottest*each[layout.All]/(10<<30))
}

// hotReads tells what is throttled of first pages and statistics, at once and after partitions were
// split.
func (f *figures) hotReads() {
	w := shop()
	ceilings, each := w.CeilingsOf(), layout.Units{}
	stored, _ := w.Stored()
	each.Add(stored, 1)
	for _, row := range []struct {
		name          string
		first, bounds float64
	}{{"a hundredth", hottest, 0}, {"a tenth", .1, 0}, {"a tenth, first pages kept 2 s", .1, servers / 2}} {
		crowd := newCrowd(products, row.first)
		pages := demand{views, cost.PartitionReads / ceilings.Pages, cost.PartitionReads, row.bounds}
		statistics := demand{views, cost.PartitionReads / ceilings.Statistics, cost.PartitionReads, 0}
		for _, of := range []struct {
			name  string
			bytes float64
			demand
		}{{"pages", comments * each[layout.All], pages}, {"statistics", comments * each[layout.InTable], statistics}} {
			r := rand.New(rand.NewPCG(1, 1))
			all := crowd.spread(r, partitionsOf(of.bytes))
			f.add(fmt.Sprintf("%s of %s: throttled at once, %%", of.name, row.name), 100*crowd.throttled(r, all, of.demand))
			all = crowd.split(r, all, of.demand)
			f.add(fmt.Sprintf("%s of %s: throttled after splits, %%", of.name, row.name), 100*crowd.throttled(r, all, of.demand))
		}
	}
	f.add("ceiling: first pages of a product a second", ceilings.Pages)
	f.add("ceiling: statistics of a product a second", ceilings.Statistics)
}

// counted is how many comments of a product one process counts a second at most:
// docs/design/counting.md.
const counted = 440

// hotWrites tells what becomes of ten minutes in which one product gets many comments.
func (f *figures) hotWrites() {
	ceilings := shop().CeilingsOf()
	f.add("ceiling: comments of a product a second, index", ceilings.Comments)
	f.add("ceiling: comments of a product a second, counting without loss", ceilings.Counts)
	for _, rate := range []float64{1, 100, 400, 600, 1000, 2000} {
		r := rand.New(rand.NewPCG(2, uint64(rate)))
		backlog, throttled, late := 0.0, 0.0, 0.0
		for second := 1.0; second <= 600; second++ {
			came := poisson(r, rate)
			taken := min(came, ceilings.Comments)
			throttled += came - taken
			if backlog = max(0, backlog+taken-counted); backlog/counted > 30 && late == 0 {
				late = second
			}
		}
		name := fmt.Sprintf("%v comments a second on one product: ", rate)
		f.add(name+"refused, %", 100*throttled/(600*rate))
		f.add(name+"counts late after 10 minutes, s", backlog/counted)
		if late > 0 {
			f.add(name+"page numbers are unavailable after s", late)
		}
	}
}

// stream tells what the shards of the stream take.
func (f *figures) stream() {
	each, _ := shop().Stored()
	shards := float64(partitionsOf(comments * each[layout.InTable]))
	second := stream.DefaultHeartbeat.Seconds()
	f.add("stream: shards", shards)
	f.add("stream: reads a second", shards/stream.DefaultPoll.Seconds())
	f.add("stream: writes of leases a second, to one partition", shards/second)
	const lease = 300 // bytes, with names and overhead
	f.add("stream: reads of leases a second, from one partition", servers*(1+shards*lease/layout.UnitBytes)/second)
	f.add("stream: shards at which writes of leases meet the limit", cost.PartitionWrites*second)
	f.add("stream: servers at which reads of leases meet the limit", cost.PartitionReads*second/(1+shards*lease/layout.UnitBytes))
	f.add("stream: records of a shard a second", 3*newOnes/shards)
}

// pageIndex tells how large the directory of a product's page index becomes, and what a jump reads.
func (f *figures) pageIndex() {
	for _, n := range []float64{1e5, 1e6, 1e7, 1e8} {
		bytes := float64(directoryBytes(n))
		name := fmt.Sprintf("page index of %.0e comments: ", n)
		f.add(name+"directory, KB", bytes/1024)
		f.add(name+"read units of a jump", 0.5+layout.EventualUnits(int(bytes))+layout.EventualUnits(chunkBytes)+layout.EventualUnits(96*markerBytes))
		f.add(name+"write units of a merge for each comment", bytes/1024/(mergedRuns*runComments))
	}
	most := 1e5
	for directoryBytes(most) < 400<<10 {
		most *= 1.05
	}
	f.add("page index: millions of comments at which the directory meets 400 KB", most/1e6)
}

// Sizes of the page index: docs/design/page-index-table.md.
const (
	runComments = 64
	chunkRuns   = 180
	chunkBytes  = 16 * chunkRuns
	markerBytes = 105
	mergedRuns  = 60 // 4 KB of log
)

// directoryBytes encodes the directory of a product with so many comments, in full chunks.
func directoryBytes(n float64) int {
	begins, d := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), runs.Directory{Version: uint64(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()) << 16}
	chunks := int(n / (runComments * chunkRuns))
	at := func(i int) comment.Position { return comment.FirstAt(begins.Add(time.Duration(i) * 3 * time.Hour)) }
	for i := range chunks {
		counts := comment.Stats{}
		for l, language := range []comment.Language{"en", "de", "fr"} {
			for rating, share := range []float64{.09, .05, .08, .17, .61} {
				n := int(runComments*chunkRuns*share/float64(uint(2)<<l)) + i%7
				counts.Add(comment.Cell{Language: language, Rating: rating + 1}, n)
			}
		}
		d.References = append(d.References, runs.Reference{Key: runs.Key{Version: d.Version + uint64(i)}, Run: runs.Run{From: at(i), End: at(i + 1), Counts: counts}, Bytes: chunkBytes})
	}
	return len(d.Encode())
}

// The figures are those of docs/scale.csv, and docs/scale.md names no others: each number in one of
// its tables that has a row of the csv behind it is that number.
func TestScale(t *testing.T) {
	var out bytes.Buffer
	writer := csv.NewWriter(&out)
	_ = writer.Write([]string{"figure", "value"}) // a buffer takes all
	known := map[string]string{}
	for _, row := range reckon().rows {
		t.Logf("%-70s %s", row[0], row[1])
		_ = writer.Write(row[:])
		known[row[0]] = row[1]
	}
	writer.Flush()
	goldentest.Compare(t, "../../docs/scale.csv", out.Bytes())
	used := 0
	for _, row := range doctest.Read(t, "docs/scale.md").Table("figure") {
		want, is := known[row["figure"]]
		if got := strings.ReplaceAll(regexp.MustCompile(`^[\d,.]+`).FindString(row["value"]), ",", ""); !is || got != want {
			t.Errorf("docs/scale.md: %s is %s there, and %s by the simulation", row["figure"], got, want)
		}
		used++
	}
	if used < 20 {
		t.Errorf("docs/scale.md has %d figures: this test does not read it any more", used)
	}
}
