package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/bulkhead"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/telemetry/spans"
)

// client is the part of the SDK's client that a Store works with.
type client interface {
	call.Querier
	call.BatchGetter
	dynamodb.DescribeTableAPIClient
	writer
}

// writer is the part of the SDK's client that changes single comments.
type writer interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Store reads and writes the comments of one table. It is safe for use by many goroutines once it
// is set up.
//
// A Store remembers what it saw, so that pages cost less: statistics of products, sizes of
// comments, what pages held. When that is wrong, a page costs more reads, and shows the same
// comments.
type Store struct {
	// Reader reads statistics and leaderboards of the same table.
	*counts.Reader

	client client
	table  string
	now    func() time.Time

	// Hints for plans.
	given    func(comment.Query) planner.Known // in the place of statistics and sizes; nil before UseKnown
	memory   *memory                           // statistics of products; nil before UseStatistics
	sizes    *sizes                            // of the comments of products
	recent   *recent                           // what pages held when they were last read
	attempts *attempts                         // that were given up lately
	lookups  *lookupPrices                     // what finding pages by their numbers took

	// What keeps pages fresh.
	changes *changes // of products, by this Store or heard from the stream
	moves   *moves   // comments that edits moved between partitions

	index     pageindex.Index  // finds pages by their number; nil for none
	flights   flights          // pages that are being read
	pages     *pages           // the page cache; nil for none
	writes    *spans.Writes    // which spans wrote comments; nil for none
	observer  Observer         // nil if nobody asks
	malformed *layout.Reporter // of items that lists pass over; nil reports nothing

	bulkhead *bulkhead.Bulkhead // bounds the calls for each product; nil bounds none
	batches  *bulkhead.Batches  // the same of batches of statistics
}

// NewStore makes a store of a table, which must be as layout.Definition says.
func NewStore(client client, table string) *Store {
	s := &Store{
		Reader: counts.NewReader(client, table), client: call.For(client, call.ForComments), table: table, now: time.Now,
		sizes: newSizes(), recent: newRecent(), attempts: newAttempts(), lookups: newLookupPrices(), changes: newChanges(), moves: newMoves(),
	}
	s.Reader.OnRead(func(product string, stats comment.Stats) { s.memory.shown(product, stats) })
	return s
}

// UseStatistics lets statistics choose the plans of pages. Partitions that the statistics say are
// empty are not read, as long as the statistics are at most maxAge old by the clocks of this server
// and of the one that counts. With a maxAge of 0, all partitions are read. Call it before the first
// query.
func (s *Store) UseStatistics(source Watermark, maxAge time.Duration) {
	s.memory = newMemory(source, maxAge, s.Latest)
}

// UseKnown plans pages with what known returns for a query, instead of what the Store remembers of
// statistics and sizes. It is for callers that know their products better, and to measure what
// knowledge is worth. Wrong hints cost reads; only counts that are Trusted can hide comments. known
// is called by many goroutines, and again for what a second wave is planned by. Call UseKnown before
// the first query.
func (s *Store) UseKnown(known func(comment.Query) planner.Known) { s.given = known }

// BoundProducts bounds how many operations read pages of one product at a time, and how many batches
// fetch its statistics. Beyond it, reading fails with an Overloaded error. So a product whose
// partitions are slow leaves room for others. Call it before the first query.
func (s *Store) BoundProducts(operations int) {
	s.bulkhead, s.batches = bulkhead.New(operations), bulkhead.NewBatches(operations)
}

// KeepPages turns the page cache on: first pages are kept for maxAge. 0 keeps none. Call it before
// the first query.
func (s *Store) KeepPages(maxAge time.Duration) {
	if maxAge > 0 {
		s.pages = newPages(maxAge)
	}
}

// NumberPages lets an index find pages by their number. Without one, nil, page numbers are off: what
// asks for them fails as Unavailable. Call it before the first query.
func (s *Store) NumberPages(index pageindex.Index) { s.index = index }

// TraceWrites notes which spans write comments, by the keys of their items. Call it before the first
// write.
func (s *Store) TraceWrites(writes *spans.Writes) { s.writes = writes }

// OnImproper reports each item that a list or a leaderboard passes over, once, up to a bound. Call
// it before the first query.
func (s *Store) OnImproper(report func(layout.Improper)) {
	s.malformed = layout.NewReporter(report)
	s.Reader.OnImproper(report)
}

// Ready returns an error when the table cannot be used right now.
func (s *Store) Ready(ctx context.Context) error { return CheckTable(ctx, s.client, s.table) }
