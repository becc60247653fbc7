package counts

import (
	"math"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
	"github.com/talkback/talkback/stream"
)

// Move is a comment that is added, removed or changes its cell. A nil cell means that it is not
// counted.
type Move struct{ From, To *comment.Cell }

// Bill returns the write and read units of counting moves of a product in one transaction; stats
// are its counts before. It tallies them as a Counter does. Merges of the page index's log come on
// top.
func Bill(product string, stats comment.Stats, moves []Move, now time.Time) (writes layout.Units, reads float64) {
	// It assumes a half-full head of the page index.
	const half = 32
	total, inHead := max(1, stats.Total()), comment.Stats{}
	for language, row := range stats {
		for i, n := range row.Counts {
			if part := int(math.Round(float64(n) * half / float64(total))); part > 0 {
				inHead.Add(comment.Cell{Language: language, Rating: i + 1}, part)
			}
		}
	}
	before := statistics{stats: stats.Clone(), others: comment.Stats{}, changes: 1}
	before.head = runs.Start(inHead, comment.FirstAt(now), now).Encode()
	head, _ := runs.DecodeHead(before.head) // it was just encoded
	l := ledger{product: product, statistics: before, markers: map[comment.ID]marker{}, page: head}
	standings := make([]standing, len(moves))
	for i, move := range moves {
		var distinct [10]byte
		distinct[0], distinct[1] = byte(i>>8), byte(i)
		id := comment.IDOf(comment.PositionAt(now, distinct))
		standings[i] = standing{ID: id, Cell: move.To, position: stream.PositionOf(now.Format(time.RFC3339), strconv.Itoa(i+1))}
		if move.From != nil {
			l.markers[id] = marker{cell: move.From}
		}
	}
	t := tallyUp(l, standings, maxItemsPerTransaction-1)
	size := layout.SizeOf(statisticsItem(product, before, defaultLeaderShards), nil)
	reads = math.Ceil(float64(size)/layout.UnitBytes) + 1 + float64(len(moves)) // statistics, settings and markers
	return l.bill(t.writes("", defaultLeaderShards, now)), reads
}

// bill returns the write units of a transaction.
func (l ledger) bill(writes []types.TransactWriteItem) layout.Units {
	units := layout.Units{}
	statistics := statisticsItem(l.product, l.statistics, defaultLeaderShards)
	for _, write := range writes {
		var before, after layout.Item
		switch {
		case write.Put != nil:
			after = write.Put.Item
		case write.Delete != nil:
			before = write.Delete.Key
		}
		switch r := layout.NewReader(after); {
		case after[layout.AttrSK] == nil:
		case r.Text(layout.AttrSK) == layout.StatisticsSK:
			before = statistics
		case after[layout.AttrPlace] != nil:
			language := languageOfKey(after).Language
			before = languageItem(leaderPlace{product: l.product, language: language, count: l.stats[language].Counts[comment.MaxRating-1]}, defaultLeaderShards)
		}
		units.Add(layout.WriteUnits(before, after, true), 1)
	}
	return units
}

// LeadersBill returns the read units of the first places of a leaderboard: those of the settings
// and of a read of each shard.
func LeadersBill(first, productBytes int) float64 {
	entry := maxLeaderBytes - 2*comment.MaxIDBytes + 2*productBytes
	return layout.EventualUnits(1) + defaultLeaderShards*layout.EventualUnits(shardLimit(first, defaultLeaderShards)*entry)
}
