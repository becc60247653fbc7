package counts

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// readerClient is the part of the SDK's client that a Reader works with.
type readerClient interface {
	call.Querier
	call.BatchGetter
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Reader reads statistics and leaderboards. It is safe for use by many goroutines once it is set up.
type Reader struct {
	client readerClient
	table  string
	// first says whether there are statistics at all; nil for yes.
	first    *firstCount
	improper *layout.Reporter
	onRead   func(product string, stats comment.Stats)
}

// NewReader makes a reader of the counts of a table.
func NewReader(client readerClient, table string) *Reader {
	return &Reader{client: client, table: table, onRead: func(string, comment.Stats) {}}
}

// OnRead has a function told of all statistics that StatsOf reads, from many goroutines. It is to be called before the
// first read.
func (r *Reader) OnRead(told func(product string, stats comment.Stats)) { r.onRead = told }

// OnImproper has each item that a leaderboard passes over told of once, while they are not too many. It is to be called
// before the first read.
func (r *Reader) OnImproper(tell func(layout.Improper)) { r.improper = layout.NewReporter(tell) }

// Latest are the statistics of a product as they are now, consistently. They are read once, without retries: who asks can
// do without.
func (r *Reader) Latest(ctx context.Context, product string) (comment.Stats, error) {
	output, err := r.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(r.table),
		Key:            layout.ProductKey(product, statisticsSK),
		ConsistentRead: aws.Bool(true),
	}, call.NoRetries)
	if err != nil {
		return nil, call.Wrap(err, "GetItem of the statistics of product %q", product)
	}
	found, err := decodeStatistics(output.Item)
	return found.stats, err
}
