// Package dynamo reads and writes the comments of one DynamoDB table. Its [Store] answers queries.
// It is made of the packages below: layout (what is stored, and what reads cost), call (calls of
// DynamoDB), planner (which partitions a query reads), merge (sorted reads to one list), counts
// (statistics and leaderboards) and leases (readers of the stream).
//
// To follow a query, read comments.go, then listing.go, which plans and executes one page,
// reading.go, which reads the links of a list, run.go, which executes one plan wave by wave, and
// explain.go. lookup.go looks places up in the index of page numbers, and byrank.go fetches the
// comments that it names. input.go turns a read of a plan into a call of the SDK.
//
// A Store remembers hints for its plans: memory.go has statistics; hints.go has sizes of comments,
// contents of pages, and plans that were given up. cache.go shares a page among concurrent callers,
// and caches it. changes.go and knowledge.go know when a page is too old for either, and which
// comments moved while it was read.
//
// write.go changes single comments, and once.go makes a repeated add write only one comment.
// load.go changes many comments, get.go fetches by id, and export.go reads all of them.
// moderation.go has the queue of moderators, their decisions and the reports of customers. own.go
// lists the comments of a customer, and author.go all records about an author. setup.go creates and
// checks the table.
package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
)

// client is the part of the SDK's client that a Store works with.
type client interface {
	call.Querier
	call.BatchGetter
	call.ItemGetter
	call.Transactor
	dynamodb.DescribeTableAPIClient
	call.Putter
	call.Updater
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Options are the settings of a Store. The zero value plans by what was read, caches no page,
// bounds nothing and has no page numbers.
type Options struct {
	// Watermark knows up to when statistics are complete. With it, the planner uses statistics. If
	// it is nil, no statistics are read for plans.
	Watermark Watermark
	// StatisticsAge is the maximum age of statistics that are trusted to skip empty partitions. It
	// compares the clocks of this server and of the one that counts. 0 reads all partitions.
	StatisticsAge time.Duration
	// Journal says whether all comments of the table were counted once. Until then, reads of
	// statistics and leaderboards fail as Unavailable. Nil refuses nothing.
	Journal counts.Journal
	// KeepAudit is how long decisions about comments are kept. 0 keeps them for ever.
	KeepAudit time.Duration
	// OnePerCustomer lets each customer have one comment about a product. All servers of a table need
	// the same.
	OnePerCustomer bool
	// PageAge is how long first pages are cached. 0 caches none.
	PageAge time.Duration
	// Following reports whether this process reads the whole stream, since when, and up to when. If
	// it does, cached pages are shown longer, as long as they are proven unchanged. Optional.
	Following func() (since, upTo time.Time, ok bool)
	// ProductCalls bounds how many operations read pages of one product at a time, and how many
	// batches fetch its statistics. Further ones fail with an Overloaded error, so a product with
	// slow partitions leaves room for others. 0 bounds none.
	ProductCalls int
	// PageNumbers is the index that finds pages by their number. Without it, queries for them fail
	// with a BadInput error.
	PageNumbers pageindex.Index
	// Writes notes which spans write comments, by the keys of their items.
	Writes *usage.Writes
	// Observer observes pages.
	Observer Observer
	// Improper is called once for each malformed item that a list or a leaderboard leaves out, up
	// to a bound.
	Improper func(layout.Improper)
	// Knowledge returns the knowledge of a query's product, in place of the statistics and sizes
	// that the Store remembers. It is for callers that know their products better, and to measure
	// what knowledge is worth. Wrong hints cost reads; only Trusted counts can hide comments. It is
	// called by many goroutines, and again to plan a second wave.
	Knowledge func(comment.Query) planner.Knowledge
}

// Observer observes pages. Its methods are called by many goroutines, so they must be quick.
type Observer interface {
	// PageRead is called when a page was read from the table. warm reports that counts of its
	// product were known. estimated and consumed are the read units of its comments; both are 0 if
	// there was only one plan, which is not estimated. waves includes the probes beyond the page.
	PageRead(warm bool, estimated, consumed float64, waves int)
	// CacheLookup is called after a lookup in a cache: pages or statistics.
	CacheLookup(cache string, hit bool)
}

// Store reads and writes the comments of one table. It is safe for use by many goroutines.
//
// A Store remembers statistics of products, sizes of comments and contents of pages, so that later
// pages cost less. Where these are wrong, a page costs more reads but shows the same comments.
type Store struct {
	// Reader reads statistics and leaderboards of the same table.
	*counts.Reader

	client  client
	table   string
	now     func() time.Time
	options Options

	// Hints for plans.
	memory       *memory       // statistics of products; nil without a Watermark
	sizes        sizes         // sizes of the comments of products
	recent       recent        // what pages held when they were last read
	attempts     attempts      // attempts that were given up lately
	lookupPrices *lookupPrices // the cost of finding pages by number

	// What keeps pages fresh.
	changes *changes // changes of products, by this Store or heard from the stream
	moves   *moves   // comments that edits moved between partitions

	flights   flights          // pages that are being read
	cache     *pageCache       // caches first pages; nil caches none
	named     *namedComments   // caches comments that were fetched beside first pages; nil caches none
	malformed *layout.Reporter // reports items that lists leave out; nil reports nothing

	bulkhead *bulkhead // bounds the operations that read pages of each product; nil bounds none
	batches  *bulkhead // bounds the batches that read statistics of each product; nil bounds none
}

// NewStore makes a store of a table, which must be as layout.Definition says.
func NewStore(client client, table string, options Options) *Store {
	s := &Store{
		client: call.For(client, call.ForComments), table: table, now: time.Now, options: options,
		sizes: newSizes(), recent: newRecent(), attempts: attempts{newLRU[attemptKey, time.Time](remembered, nil)}, lookupPrices: &lookupPrices{price: planner.RankPrice{Lookup: TypicalLookup(), Place: assumedPlace}}, changes: newChanges(), moves: newMoves(),
	}
	if options.Improper != nil {
		s.malformed = layout.NewReporter(options.Improper)
	}
	s.Reader = counts.NewReader(client, table, counts.ReaderOptions{
		Journal: options.Journal, Improper: s.malformed,
		Read: func(product string, stats comment.Stats) { s.memory.learnFromAnswer(product, stats) },
	})
	if options.Watermark != nil {
		s.memory = newMemory(options.Watermark, options.StatisticsAge, s.changes, s.Latest)
	}
	if options.PageAge > 0 {
		p := proof(options.Following)
		s.cache = newPageCache(options.PageAge, p)
		s.named = &namedComments{proof: p, changes: s.changes, kept: newLRU[namedKey, namedComment](pagesKept, nil)}
		if s.memory != nil {
			s.memory.proof = p
		}
	}
	if options.ProductCalls > 0 {
		s.bulkhead, s.batches = newBulkhead(options.ProductCalls), newBulkhead(options.ProductCalls)
	}
	return s
}

// Ready returns an error when the table cannot be used right now. A table without a stream can be:
// it is not counted meanwhile.
func (s *Store) Ready(ctx context.Context) error {
	err := CheckTable(ctx, s.client, s.table)
	if errors.As(err, new(uncountedError)) {
		return nil
	}
	return err
}

// query makes one Query call, and accounts for it in the operation of the context.
func (s *Store) query(ctx context.Context, input *dynamodb.QueryInput, of string, args ...any) (*dynamodb.QueryOutput, error) {
	input.TableName, input.ReturnConsumedCapacity = aws.String(s.table), types.ReturnConsumedCapacityTotal
	output, err := s.client.Query(ctx, input)
	if err != nil {
		return nil, call.Wrap(err, "Query "+of, args...)
	}
	usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity))
	return output, nil
}

// get reads the item with the primary key in it by a consistent read, and accounts for it in the
// operation of the context.
func (s *Store) get(ctx context.Context, it layout.Item, options ...func(*dynamodb.Options)) (layout.Item, error) {
	output, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(s.table), Key: layout.KeyOf(it),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}, options...)
	if err != nil {
		return nil, err
	}
	usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity))
	return output.Item, nil
}

// proper reports whether an item could be decoded, and reports one that could not.
func (s *Store) proper(it layout.Item, err error) bool {
	if err != nil {
		s.malformed.Report(layout.NewImproper(it, err.Error()))
	}
	return err == nil
}
