package cost

import (
	"cmp"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
)

// The throughput of a partition of the table or an index per second, and of a whole table unless
// its quota is raised.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
const (
	PartitionReads  = 3000
	PartitionWrites = 1000
	tableUnits      = 40_000
)

// Limit is a limit of DynamoDB, and the workload's distance from it.
type Limit struct {
	What string `json:"what"`
	// Now is the load at the busiest second, Most the limit, and Times how far it may grow.
	Now   float64 `json:"now"`
	Most  float64 `json:"most"`
	Times float64 `json:"times"`
}

// Ceilings are the limits of one product per second, since its items share partitions. Index
// entries of a product whose sort keys only rise are not spread over partitions.
type Ceilings struct {
	// Pages are reads of a product's newest page from the index of all comments, Statistics reads
	// of its counts.
	Pages, Statistics float64
	// Comments are new comments by the index of all comments: faster ones throttle writes of the
	// table. Counts are new comments in bursts, by the partition of the statistics.
	Comments, Counts float64
}

// CeilingsOf returns the ceilings for the most popular product.
func (w Workload) CeilingsOf() Ceilings {
	most := max(1, w.Comments*w.hottest())
	page := w.expected(comment.Query{Order: comment.NewestFirst, Slice: comment.Slice{Size: int(w.PageSize)}}, most)
	entry := layout.WriteUnits(nil, layout.Encode(w.example()), false)[layout.All]
	return Ceilings{
		Pages: PartitionReads / page[layout.All], Statistics: PartitionReads / dynamo.StatsUnits(),
		Comments: PartitionWrites / entry, Counts: PartitionWrites / w.burst(most),
	}
}

// burst returns the write units per comment for the statistics' partition, if one transaction
// counts as many comments as it can.
func (w Workload) burst(comments float64) float64 {
	stats := w.statsOf(comments)
	moves := make([]counts.Move, counts.MostTogether)
	for i := range moves {
		moves[i].To = &comment.Cell{Language: languages(1)[0], Rating: 1 + i%(comment.MaxRating-1)} // not 5 stars, so without leaderboards
	}
	writes, _ := counts.Bill(productName, stats, moves, moment)
	return writes[layout.InTable] / float64(len(moves))
}

// limits returns the workload's distance from each limit, the nearest first.
func (w Workload) limits() []Limit {
	most, hottest := w.CeilingsOf(), w.hottest()
	views, comments := w.Views*(1-w.Cached)/seconds*w.Peak, w.NewComments/seconds*w.Peak
	entry := layout.StoredBytes(layout.Encode(w.example()))[layout.All]
	reads, writes := layout.Units{}, layout.Units{}
	_, read := w.reads()
	reads.Add(read, w.Peak/seconds)
	for _, d := range w.deeds() {
		reads.Add(layout.Units{layout.InTable: d.reads + d.countingReads}, d.number*w.Peak/seconds)
		writes.Add(d.writes, d.number*w.Peak/seconds)
		writes.Add(d.counting, d.number*w.Peak/seconds)
	}
	all := []Limit{
		{What: "newest pages of the hottest product, a second", Now: views * w.Kinds.Product * hottest, Most: most.Pages},
		{What: "its statistics, a second", Now: views * (w.Kinds.Product + w.Kinds.Numbered + w.Kinds.Filtered) * hottest, Most: most.Statistics},
		{What: "its new comments, a second, by the index of all comments", Now: comments * hottest, Most: most.Comments},
		{What: "its new comments, a second, by counting", Now: comments * hottest, Most: most.Counts},
		{What: "its entries in the index of all comments, GB", Now: w.Comments * hottest * entry / gb, Most: partitionBytes / gb},
		{What: "read units of the table a second, until the quota is raised", Now: reads.Total(), Most: tableUnits},
		{What: "write units of the table a second, until the quota is raised", Now: writes.Total(), Most: tableUnits},
	}
	all = slices.DeleteFunc(all, func(l Limit) bool { return l.Now == 0 })
	for i := range all {
		all[i].Times = all[i].Most / all[i].Now
	}
	slices.SortStableFunc(all, func(a, b Limit) int { return cmp.Compare(a.Times, b.Times) })
	return all
}

// Round rounds a number to three digits, the most that an estimate justifies.
func Round(n float64) float64 {
	if n == 0 || math.IsInf(n, 0) {
		return n
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(n))))
	return math.Round(n*scale) / scale
}
