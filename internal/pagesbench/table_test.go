package pagesbench

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/runs"
	"github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
)

// inTable is the index in the comments' own table, which a counter feeds. So the time of applying
// is that of counting, including the index's part.
type inTable struct {
	*table.Index
	counter *counts.Counter
}

// countedChanges is the number of times that a change of the index in the table is measured. Its
// log is merged from time to time, so write units are a mean.
const countedChanges = 2000

func openTable(t *testing.T) subject {
	b, _ := newTable(t)
	return subject{
		Store: tableOf(b), size: b.stored, units: b.written, changes: countedChanges,
		build: func(t *testing.T, entries []pageindex.Entry) time.Duration { return buildTable(t, b, entries) },
	}
}

// buildTable builds an index of comments that were counted without one. It applies another comment,
// which starts the index from the statistics, and runs a merge, which reads the markers of all.
func buildTable(t *testing.T, b *billed, entries []pageindex.Entry) time.Duration {
	before, last := entries[:len(entries)-1], entries[len(entries)-1]
	b.put(t, len(before), func(i int) layout.Item {
		item := layout.ProductKey(before[i].Product, layout.MarkerSKPrefix+before[i].Position.String())
		item[layout.AttrCell], item["p"] = layout.Text(layout.CellText(*before[i].Cell)), layout.Text(string(before[i].Follows))
		return item
	})
	statistics := comment.Stats{}
	for _, e := range before {
		statistics.Add(*e.Cell, 1)
	}
	item := layout.ProductKey(last.Product, layout.StatisticsSK)
	item[layout.AttrChanges], item[layout.AttrGrid] = layout.Number(1), layout.Text(layout.GridText(statistics))
	if split := runs.EncodeSplit(statistics); split != nil {
		item[layout.AttrSplit] = layout.Binary(split)
	}
	b.put(t, 1, func(int) layout.Item { return item })
	return timed(func() {
		must.Do(t, tableOf(b).Apply(t.Context(), []pageindex.Entry{last}))
	})
}

// newTable makes an empty table of comments.
func newTable(t *testing.T) (b *billed, endpoint string) {
	t.Helper()
	endpoint = dynamotest.Dynoxide(t)
	b = &billed{Client: call.NewLocalClient(endpoint), table: dynamotest.TableName(t), large: map[string]float64{}}
	must.Do(t, dynamo.CreateTable(t.Context(), b.Client, b.table))
	return b, endpoint
}

func tableOf(b *billed) inTable {
	index := table.New(b, b.table)
	return inTable{index, counts.NewCounter(b, b.table, counts.CounterOptions{Pages: index, Logger: slog.New(slog.DiscardHandler)})}
}

// Apply counts entries as records of the stream, in order.
func (s inTable) Apply(ctx context.Context, entries []pageindex.Entry) error {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b pageindex.Entry) int {
		return strings.Compare(string(a.Follows), string(b.Follows))
	})
	for batch := range slices.Chunk(sorted, 1000) {
		records := make([]stream.Record, len(batch))
		for i, e := range batch {
			records[i] = record(e)
		}
		if err := s.counter.Handle(ctx, records); err != nil {
			return err
		}
	}
	s.counter.AwaitMerges(ctx)
	return nil
}

// record returns the stream's record of an entry.
func record(e pageindex.Entry) stream.Record {
	image := layout.CommentKey(comment.IDOf(e.Position))
	image[layout.AttrAll] = layout.Text("P#" + e.Product)
	image[layout.AttrLanguage], image[layout.AttrRating] = layout.Text("en"), layout.Number(1)
	if e.Cell == nil {
		return stream.Record{Position: e.Follows, Old: image}
	}
	image[layout.AttrLanguage], image[layout.AttrRating] = layout.Text(string(e.Cell.Language)), layout.Number(int64(e.Cell.Rating))
	if e.Cell.Traits != 0 {
		image[layout.AttrTraits] = layout.Text(e.Cell.Traits.String())
	}
	return stream.Record{Position: e.Follows, New: image}
}

// Build is not needed: buildTable replaces it.
func (s inTable) Build(context.Context) (pageindex.Build, error) { return nil, errors.ErrUnsupported }
