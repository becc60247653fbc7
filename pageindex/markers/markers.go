// Package markers keeps a page index in DynamoDB with page markers, as published: in each cell,
// every n-th comment is stamped, from the oldest on. The stamps form a sparse index, and a header
// has their number and the number of comments. docs/design/page-index-markers.md gives the cost,
// and the reasons why --pages table is the default.
//
// Start with items.go: what is stored. apply.go writes entries, and stamps.go stamps again what
// they moved; generations.go replaces the content, and find.go answers lookups.
package markers

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// Client is the part of the SDK's client that a Store calls.
type Client interface {
	call.Transactor
	call.BatchGetter
	call.BatchWriter
	call.Querier
	call.ItemGetter
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Sizes of the index. With a stamp for each 64 comments, a lookup reads at most 5 KB behind a
// stamp. 200 stamps are an item of 3.2 KB.
const (
	commentsPerStamp = 64
	stampsPerChunk   = 200
)

// Store is a page index in a table. Any number of processes may share it.
type Store struct {
	client Client
	table  string
	// perStamp is the number of comments per stamp, perChunk the number of stamps in an item.
	perStamp, perChunk int
	seed               maphash.Seed
	// turns serialize this process's writes to one product, which would conflict in the table.
	turns [64]sync.Mutex
}

// Open returns the store in a table.
func Open(client Client, table string) *Store {
	return &Store{client: client, table: table, perStamp: commentsPerStamp, perChunk: stampsPerChunk, seed: maphash.MakeSeed()}
}

// Close does nothing: the caller owns the client.
func (s *Store) Close() error { return nil }

// get reads an item consistently, and returns nil if there is none.
func (s *Store) get(ctx context.Context, key layout.Item) (layout.Item, error) {
	return call.Item(ctx, s.client, s.table, key, "GetItem of page markers")
}

func (s *Store) header(ctx context.Context, p generationProduct) (header, error) {
	in, err := s.get(ctx, p.headerKey())
	if err != nil {
		return header{}, err
	}
	return decodeHeader(in)
}

// stamps reads a chunk of stamps.
func (s *Store) stamps(ctx context.Context, p generationProduct, cell string, chunk int) ([]comment.Position, error) {
	in, err := s.get(ctx, p.chunkKey(cell, chunk))
	return decodeStamps(in), err
}

// chunksFor returns how many chunks a number of stamps takes.
func (s *Store) chunksFor(stamps int) int { return (stamps + s.perChunk - 1) / s.perChunk }

// stampsBelow returns how many valid stamps of a cell are below a position, and the last of them.
// read reads a chunk of stamps.
func (s *Store) stampsBelow(c state, at comment.Position, read func(chunk int) ([]comment.Position, error)) (int, comment.Position, error) {
	if c.stamped == 0 || c.last.Compare(at) < 0 {
		return c.stamped, c.last, nil
	}
	// All stamps of the chunks before low are below the position, none of those from high on are.
	low, high, last := 0, s.chunksFor(c.stamped), comment.Position{}
	for low < high {
		middle := (low + high) / 2
		stamps, err := read(middle)
		if err != nil {
			return 0, last, err
		}
		stamps = stamps[:min(len(stamps), c.stamped-middle*s.perChunk)]
		n, _ := slices.BinarySearchFunc(stamps, at, comment.Position.Compare)
		if n > 0 {
			last = stamps[n-1]
		}
		switch {
		case n == 0:
			high = middle
		case n < len(stamps):
			return middle*s.perChunk + n, last, nil
		default:
			low = middle + 1
		}
	}
	return low * s.perChunk, last, nil
}

// members returns comments of a cell from one position to another, both inclusive. It returns the
// oldest first, at most the given number.
func (s *Store) members(ctx context.Context, p generationProduct, cell string, from, to comment.Position, most int) ([]comment.Position, error) {
	var out []comment.Position
	if from.Compare(to) > 0 || most == 0 {
		return nil, nil
	}
	for start := layout.Item(nil); ; {
		output, err := s.client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String(s.table), ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			KeyConditionExpression: aws.String(layout.AttrPK + " = :cell AND " + layout.AttrSK + " BETWEEN :from AND :to"),
			ExpressionAttributeValues: layout.Item{
				":cell": layout.Text(p.cellPK(cell)),
				":from": layout.Text(memberPrefix + from.String()), ":to": layout.Text(memberPrefix + to.String()),
			},
			ProjectionExpression: aws.String(layout.AttrSK), Limit: aws.Int32(int32(most - len(out))), ExclusiveStartKey: start,
		})
		if err != nil {
			return nil, call.Wrap(err, "Query of a cell's comments")
		}
		usage.From(ctx).Consume(1, call.UnitsOf(output.ConsumedCapacity))
		for _, in := range output.Items {
			at, err := positionOf(in)
			if err != nil {
				return nil, err
			}
			out = append(out, at)
		}
		if start = output.LastEvaluatedKey; start == nil || len(out) >= most {
			return out, nil
		}
	}
}
