package counts

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// feed is an index of ranks outside the table, which a Counter or a Rebuilder keeps up to date.
type feed interface {
	// Apply stores entries. The same entries may come several times, and in any order. An error is
	// never the fault of a record, so every error counts as temporary.
	Apply(ctx context.Context, entries []pageindex.Entry) error
}

// apply passes entries to a feed, unless that is nil. Its error is of a temporary kind.
func apply(ctx context.Context, to feed, entries []pageindex.Entry) error {
	if to == nil || len(entries) == 0 {
		return nil
	}
	err := to.Apply(ctx, entries)
	if err != nil && comment.KindOf(err) == comment.Internal {
		return &comment.Error{Kind: comment.Unavailable, Message: "the index behind page numbers cannot be kept up to date; ask again in a moment", Cause: err}
	}
	return err
}

// Positions of entries that come from a look at a comment instead of a record. The look is later
// than the marker's last record, and earlier than the next. Positions of records begin with a
// digit.
const (
	beforeRecords = "!" // sorts before all records
	afterRecord   = "~" // sorts between a record and the next
)

// entryPosition returns the position of an entry that comes from a look at the marker's comment.
func (m marker) entryPosition() stream.Position {
	if m.position == "" {
		return beforeRecords
	}
	return m.position + afterRecord
}

// Entries reads from the markers how each comment is counted, which suffices to build an index of
// ranks outside the table. It cannot write. It leaves out unreadable markers; a Verifier reports
// them.
type Entries struct {
	client call.ScanClient
	table  string
}

// NewEntries makes a reader of the markers of a table.
func NewEntries(client call.ScanClient, table string) Entries {
	return Entries{client: client, table: table}
}

// markerNames are the attributes that an entry is made of.
const markerNames = layout.AttrPK + "," + layout.AttrSK + "," + layout.AttrCell + "," + attrPosition + "," + attrSource

// All calls do with the entries of all comments of the table, page by page in no order, from
// several goroutines. It stops at the first error. Changes that are counted during the call may be
// included or not.
func (e Entries) All(ctx context.Context, do func(ctx context.Context, entries []pageindex.Entry) error) error {
	const segments = call.DefaultScanCalls * call.SegmentsPerCall
	return call.ParallelUpTo(ctx, call.DefaultScanCalls, segments, func(ctx context.Context, segment int) error {
		for output, err := range call.ScanAnswers(ctx, e.client, &dynamodb.ScanInput{
			TableName:                 aws.String(e.table),
			Segment:                   aws.Int32(int32(segment)),
			TotalSegments:             aws.Int32(int32(segments)),
			ConsistentRead:            aws.Bool(true),
			FilterExpression:          aws.String("begins_with(" + layout.AttrPK + ",:products) AND begins_with(" + layout.AttrSK + ",:markers)"),
			ExpressionAttributeValues: layout.Item{":products": layout.Text(layout.ProductPKPrefix), ":markers": layout.Text(layout.MarkerSKPrefix)},
			ProjectionExpression:      aws.String(markerNames),
		}, "Scan segment %d of %d", segment, segments) {
			if err != nil {
				return err
			}
			if err := give(ctx, output.Items, do); err != nil {
				return err
			}
		}
		return nil
	})
}

// Of calls do with the entries of a product's comments, in the order of their positions.
func (e Entries) Of(ctx context.Context, product string, do func(ctx context.Context, entries []pageindex.Entry) error) error {
	key := layout.ProductPKPrefix + product
	input := call.PartitionInput(e.table, layout.Text(key), layout.MarkerSKPrefix)
	input.ProjectionExpression = aws.String(markerNames)
	for output, err := range call.Answers(ctx, e.client, input, key) {
		if err != nil {
			return err
		}
		if err := give(ctx, output.Items, do); err != nil {
			return err
		}
	}
	return nil
}

// give calls do with the entries of markers, if there are any. It leaves out unreadable ones.
func give(ctx context.Context, markers []layout.Item, do func(ctx context.Context, entries []pageindex.Entry) error) error {
	entries := make([]pageindex.Entry, 0, len(markers))
	for _, it := range markers {
		id, err := idOfMarker(keyOf(it).sort)
		m := decodeMarker(it)
		if err != nil || m.damage != nil {
			continue
		}
		entry := pageindex.Entry{Product: layout.ProductOfKey(it), Position: id.Position(), Cell: m.cell, Follows: m.position}
		if m.looked {
			entry.Follows = m.entryPosition()
		}
		entries = append(entries, entry)
	}
	if len(entries) == 0 {
		return nil
	}
	return do(ctx, entries)
}
