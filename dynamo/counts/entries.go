package counts

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
)

// Entries reads as what comments are counted, from their markers: everything that an index of ranks
// outside the table is built from. It cannot write. Markers that cannot be read are left out; a
// Verifier names them.
type Entries struct {
	client entriesClient
	table  string
	calls  int
}

// entriesClient is the part of the SDK's client that Entries work with.
type entriesClient interface {
	call.Querier
	dynamodb.ScanAPIClient
}

// NewEntries makes a reader of the markers of a table. calls is how many calls it makes at once, 1
// or more; 0 stands for DefaultScanCalls.
func NewEntries(client entriesClient, table string, calls int) Entries {
	if calls < 1 {
		calls = call.DefaultScanCalls
	}
	return Entries{client: client, table: table, calls: calls}
}

// markerNames are the attributes that an entry is made of.
const markerNames = layout.AttrPK + "," + layout.AttrSK + "," + attrCell + "," + attrPosition + "," + attrSource

// All calls do with the entries of all comments of the table, page by page and in no order. It does
// so from several goroutines, until all are done or one of them returns an error. What is counted
// after the call began may be included or not.
func (e Entries) All(ctx context.Context, do func(ctx context.Context, entries []pageindex.Entry) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e.calls)
	segments := e.calls * call.SegmentsPerCall
	for segment := range segments {
		group.Go(task.Guarded(func() error {
			read := func(start layout.Item) (markerPage, error) { return e.scan(ctx, segment, segments, start) }
			return eachEntries(ctx, read, do)
		}))
	}
	return group.Wait()
}

// Of calls do with the entries of a product's comments, in the order of their positions.
func (e Entries) Of(ctx context.Context, product string, do func(ctx context.Context, entries []pageindex.Entry) error) error {
	read := func(start layout.Item) (markerPage, error) { return e.query(ctx, product, start) }
	return eachEntries(ctx, read, do)
}

// scan reads the next page of the markers of a segment of the table, consistently.
func (e Entries) scan(ctx context.Context, segment, segments int, start layout.Item) (markerPage, error) {
	output, err := e.client.Scan(ctx, &dynamodb.ScanInput{
		TableName:                 aws.String(e.table),
		Segment:                   aws.Int32(int32(segment)),
		TotalSegments:             aws.Int32(int32(segments)),
		ConsistentRead:            aws.Bool(true),
		FilterExpression:          aws.String("begins_with(" + layout.AttrPK + ",:products) AND begins_with(" + layout.AttrSK + ",:markers)"),
		ExpressionAttributeValues: layout.Item{":products": layout.Text(layout.ProductPKPrefix), ":markers": layout.Text(markerSKPrefix)},
		ProjectionExpression:      aws.String(markerNames),
		ExclusiveStartKey:         start,
	})
	if err != nil {
		return markerPage{}, call.Wrap(err, "Scan segment %d of %d", segment, segments)
	}
	return markerPage{output.Items, output.LastEvaluatedKey}, nil
}

// query reads the next page of the markers of a product, consistently.
func (e Entries) query(ctx context.Context, product string, start layout.Item) (markerPage, error) {
	key := layout.ProductPKPrefix + product
	output, err := e.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(e.table),
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String(layout.AttrPK + " = :key AND begins_with(" + layout.AttrSK + ",:markers)"),
		ExpressionAttributeValues: layout.Item{":key": layout.Text(key), ":markers": layout.Text(markerSKPrefix)},
		ProjectionExpression:      aws.String(markerNames),
		ExclusiveStartKey:         start,
	})
	if err != nil {
		return markerPage{}, call.Wrap(err, "Query %s", key)
	}
	return markerPage{output.Items, output.LastEvaluatedKey}, nil
}

// markerPage is a page of a list of markers, and the key after which the next one starts; empty at
// the end.
type markerPage struct {
	items []layout.Item
	next  layout.Item
}

// eachEntries calls do with the entries of each page of a list of markers.
func eachEntries(ctx context.Context, read func(start layout.Item) (markerPage, error), do func(ctx context.Context, entries []pageindex.Entry) error) error {
	for start, more := layout.Item(nil), true; more; more = len(start) > 0 {
		page, err := call.Retried(ctx, func() (markerPage, error) { return read(start) })
		if err != nil {
			return err
		}
		if entries := entriesOfMarkers(page.items); len(entries) > 0 {
			if err := do(ctx, entries); err != nil {
				return err
			}
		}
		start = page.next
	}
	return nil
}

// entriesOfMarkers returns the entries of markers, without those that cannot be read.
func entriesOfMarkers(items []layout.Item) []pageindex.Entry {
	out := make([]pageindex.Entry, 0, len(items))
	for _, it := range items {
		id, err := idOfMarker(keyOf(it).sort)
		m, unreadable := decodeMarker(it)
		if err != nil || unreadable != nil {
			continue
		}
		entry := pageindex.Entry{Product: layout.ProductOfKey(it), Position: id.Position(), Cell: m.cell, Follows: m.position}
		if m.looked {
			entry.Follows = m.entryPosition()
		}
		out = append(out, entry)
	}
	return out
}
