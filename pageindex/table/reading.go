package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unique"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/runs"
)

// client is the part of the SDK's client that an Index calls.
type client interface {
	call.Querier
	call.BatchGetter
	call.BatchWriter
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactGetItems(context.Context, *dynamodb.TransactGetItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error)
}

// reading reads parts of one product's index, and adds up the cost. It is safe for concurrent use.
type reading struct {
	client     client
	table      string
	product    string
	consistent bool
	// sharp means that markers are always read consistently.
	sharp bool

	mu   sync.Mutex
	cost pageindex.Cost
}

// wave makes reads in parallel.
func (r *reading) wave(ctx context.Context, reads ...func(context.Context) error) error {
	r.mu.Lock()
	r.cost.Waves++
	r.mu.Unlock()
	ctx, span := usage.From(ctx).Wave(ctx, "page number", len(reads))
	defer span.End()
	return call.Parallel(ctx, len(reads), func(ctx context.Context, i int) error { return reads[i](ctx) })
}

func (r *reading) add(calls int, units float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cost.Calls += calls
	r.cost.ReadUnits += units
}

// get fetches items by their keys. It leaves out items that do not exist.
func (r *reading) get(ctx context.Context, what string, want types.KeysAndAttributes) ([]layout.Item, error) {
	want.ConsistentRead = aws.Bool(r.consistent)
	got, err := call.GetItems(ctx, r.client, r.table, want)
	r.add(got.Calls, got.Units)
	if err == nil && len(got.Left) > 0 {
		err = call.ErrBusy
	}
	return got.Items, call.Wrap(err, "BatchGetItem of %s of product %q", what, r.product)
}

// fits is about how many markers fit into a page of a Query, which has up to 1 MB. The local engine
// reads everything that a Query may return before it checks how much fits.
const fits = 10_000

// query reads all pages of a query, and calls page with the items of each. limit is the maximum
// number of items in a page, 0 for as many as fit.
func (r *reading) query(ctx context.Context, what, condition string, values layout.Item, attrs string, limit int, page func([]layout.Item) error) error {
	consistent := r.consistent || r.sharp && attrs == markerAttrs
	input := &dynamodb.QueryInput{
		TableName:                 aws.String(r.table),
		KeyConditionExpression:    aws.String(layout.AttrPK + " = :key AND " + condition),
		ExpressionAttributeValues: values,
		ProjectionExpression:      aws.String(attrs),
		ConsistentRead:            aws.Bool(consistent),
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
		Limit:                     aws.Int32(int32(cmp.Or(limit, fits))),
	}
	for {
		output, err := r.client.Query(ctx, input)
		if err != nil {
			return call.Wrap(err, "Query of %s of product %q", what, r.product)
		}
		units := call.UnitsOf(output.ConsumedCapacity)
		r.add(1, units)
		usage.From(ctx).Consume(1, units)
		if err := page(output.Items); err != nil || output.LastEvaluatedKey == nil {
			return err
		}
		input.ExclusiveStartKey = output.LastEvaluatedKey
	}
}

// statistics reads the head of the index, which is the zero Head if the product has none, and a
// number that rises with each change of the statistics.
func (r *reading) statistics(ctx context.Context) (head runs.Head, changes int64, err error) {
	items, err := r.get(ctx, "the statistics", types.KeysAndAttributes{
		Keys:                 []layout.Item{layout.ProductKey(r.product, layout.StatisticsSK)},
		ProjectionExpression: aws.String(layout.AttrHead + "," + layout.AttrChanges),
	})
	if err != nil || len(items) == 0 {
		return runs.Head{}, 0, err
	}
	head, err = runs.DecodeHead(layout.BytesOf(items[0], layout.AttrHead))
	return head, layout.NewReader(items[0]).Number(layout.AttrChanges), err
}

// stored reads the directory and the log.
func (r *reading) stored(ctx context.Context) (stored, error) {
	return r.from(ctx, "the page index", "begins_with("+layout.AttrSK+",:from)", layout.DirectorySK)
}

func (r *reading) logAfter(ctx context.Context, number uint64) ([]runs.Entry, error) {
	s, err := r.from(ctx, "the log", layout.AttrSK+" > :from", layout.LogEntrySK(number))
	return s.log, err
}

// from reads items of the product's index by their sort keys, in ascending order.
func (r *reading) from(ctx context.Context, what, condition, sortKey string) (s stored, err error) {
	values := layout.Item{":key": layout.PagesKey(r.product, "")[layout.AttrPK], ":from": layout.Text(sortKey)}
	err = r.query(ctx, what, condition, values, layout.AttrSK+","+layout.AttrPages, 0, func(page []layout.Item) (err error) {
		for _, it := range page {
			sortKey := layout.NewReader(it).Text(layout.AttrSK)
			if sortKey == layout.DirectorySK {
				s.directory, err = runs.DecodeDirectory(layout.BytesOf(it, layout.AttrPages))
			} else if number, ok := layout.LogEntryOfSK(sortKey); ok {
				var entry runs.Entry
				entry, err = runs.DecodeEntry(number, layout.BytesOf(it, layout.AttrPages))
				s.log = append(s.log, entry)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return s, err
}

// load reads chunks, and passes each to into. The error wraps ErrTorn if one does not exist.
func (r *reading) load(ctx context.Context, all []runs.Key, into func(runs.Key, runs.Chunk) error) error {
	for keys := range slices.Chunk(all, call.MaxKeysPerGet) {
		items, err := r.get(ctx, "chunks of the page index", types.KeysAndAttributes{
			Keys:                 chunkKeys(r.product, keys),
			ProjectionExpression: aws.String(layout.AttrSK + "," + layout.AttrPages),
		})
		if err != nil {
			return err
		}
		for _, key := range keys {
			sortKey := chunkSK(key)
			at := slices.IndexFunc(items, func(it layout.Item) bool { return layout.NewReader(it).Text(layout.AttrSK) == sortKey })
			if at < 0 {
				return fmt.Errorf("chunk %s does not exist: %w", key, runs.ErrTorn)
			}
			chunk, err := runs.DecodeChunk(layout.BytesOf(items[at], layout.AttrPages))
			if err == nil {
				err = into(key, chunk)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// markerAttrs are the attributes read of a marker.
const markerAttrs = layout.AttrSK + "," + layout.AttrCell

// markers reads the markers of counted comments, in order. It stops with errTooMany at more than
// most; 0 means no limit.
func (r *reading) markers(ctx context.Context, between runs.Range, most int) ([]runs.Marker, error) {
	key := layout.ProductKey(r.product, "")
	values := layout.Item{
		":key":  key[layout.AttrPK],
		":from": layout.Text(layout.MarkerSKPrefix + between.From.String()),
		":to":   layout.Text(layout.MarkerSKPrefix + between.Last.String()),
	}
	var out []runs.Marker
	limit := 0
	if most > 0 {
		limit = most + 1
	}
	err := r.query(ctx, "markers", layout.AttrSK+" BETWEEN :from AND :to", values, markerAttrs, limit, func(page []layout.Item) error {
		for _, it := range page {
			r := layout.NewReader(it)
			text := r.OptionalText(layout.AttrCell)
			if text == "" {
				continue // the comment is not counted
			}
			cell, err := layout.ParseCell(text)
			if err != nil {
				return fmt.Errorf("marker %s: attribute %q is %w", r.Text(layout.AttrSK), layout.AttrCell, err)
			}
			position, err := comment.ParsePosition(r.Text(layout.AttrSK)[len(layout.MarkerSKPrefix):])
			if err != nil {
				return err
			}
			cell.Language = unique.Make(cell.Language).Value() // a substring would keep the whole answer in memory
			out = append(out, runs.Marker{Position: position, Cell: cell})
		}
		if most > 0 && len(out) > most {
			return errTooMany
		}
		return nil
	})
	return out, err
}

// errTooMany stops a query with too many results.
var errTooMany = errors.New("too many comments")

const (
	chunkPrefix = "K#"
	// attrVersion is the directory's version, N, for conditional writes.
	attrVersion = "n"
)

func chunkSK(key runs.Key) string { return chunkPrefix + key.String() }

func chunkKeys(product string, keys []runs.Key) []layout.Item {
	out := make([]layout.Item, len(keys))
	for i, key := range keys {
		out[i] = layout.PagesKey(product, chunkSK(key))
	}
	return out
}

// stored is the directory and the log of a product, as read.
type stored struct {
	directory runs.Directory
	log       []runs.Entry
}
