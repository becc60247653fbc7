package dynamo

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/panics"
)

// A scan asks for comments alone, of the other items not even a byte; and of a comment for what it holds, not for the keys
// that follow from that.
var (
	scanProjection = strings.Join([]string{layout.ListProjection(true), layout.All.PartitionAttr(), layout.AttrSK}, ",")
	scanFilter     = "begins_with(" + layout.AttrPK + ",:prefix) AND " + layout.AttrSK + "=:sort AND attribute_not_exists(" + layout.AttrDeleted + ")"
	scanValues     = layout.Item{
		":prefix": layout.Text(layout.CommentPKPrefix),
		":sort":   layout.Text(layout.CommentSK),
	}
)

// Scanner reads every comment of a table, or of a product, however many there are. It holds no more of them than one
// answer for each call under way, of at most 1 MB of items each. It is safe for use by many goroutines.
type Scanner struct {
	// OnImproper is told of items that are no comments, from several goroutines at once; the others are then read. When it is
	// nil, such an item is an error.
	OnImproper func(layout.Improper)

	client call.ScanClient
	table  string
	calls  int
}

// NewScanner makes a scanner of a table, which must be as Definition says. calls is how many calls it may have under way
// at once, 1 or more; 0 stands for DefaultScanCalls.
func NewScanner(client call.ScanClient, table string, calls int) *Scanner {
	if calls < 1 {
		calls = call.DefaultScanCalls
	}
	return &Scanner{client: client, table: table, calls: calls}
}

// All yields every comment of the table, in no order. One that was there before the first call, and still is after the
// last, comes exactly once, whatever is written meanwhile: its place in the scan is its primary key, which no edit
// changes, and the reads are consistent. One that is written or deleted meanwhile may come or not; an edited one comes as
// it was or as it is. The last pair may be an error, after which nothing follows.
//
// Consistent reads cost twice as much as others: one read unit for 4 KB. A copy without the comment of a moment ago would
// be no copy.
func (s *Scanner) All(ctx context.Context) iter.Seq2[comment.Comment, error] {
	segments := s.calls * call.SegmentsPerCall
	reads := make([]pageRead, segments)
	for segment := range reads {
		reads[segment] = func(ctx context.Context, start layout.Item) ([]layout.Compressed, layout.Item, error) {
			return s.scan(ctx, segment, segments, start)
		}
	}
	return s.read(ctx, reads)
}

// OfProduct yields every comment of a product, the oldest first. It reads the product's partition of the index All, as
// lists do, so that it costs what the product has and not what the table has; but such reads are eventually consistent:
// what was written within the last second or so may be missing. Otherwise it is as All: a comment's place in the
// partition is its id.
func (s *Scanner) OfProduct(ctx context.Context, product string) iter.Seq2[comment.Comment, error] {
	return s.read(ctx, []pageRead{func(ctx context.Context, start layout.Item) ([]layout.Compressed, layout.Item, error) {
		return s.query(ctx, product, start)
	}})
}

// Estimate is about how many items the table holds; 0 when nobody knows. DynamoDB counts every six hours or so.
func (s *Scanner) Estimate(ctx context.Context) (int64, error) {
	output, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(s.table)})
	if err != nil {
		return 0, call.Wrap(err, "DescribeTable %s", s.table)
	}
	return aws.ToInt64(output.Table.ItemCount), nil
}

// pageRead makes one call, for the comments from a place on. It returns the place where the next one goes on, nil at the
// end.
type pageRead func(ctx context.Context, start layout.Item) ([]layout.Compressed, layout.Item, error)

// read runs reads in parallel, each to its end, and yields what they bring. The first failure stops all.
func (s *Scanner) read(ctx context.Context, reads []pageRead) iter.Seq2[comment.Comment, error] {
	return func(yield func(comment.Comment, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages, failed := make(chan []layout.Compressed), make(chan error, 1)
		go func() {
			defer close(pages)
			failed <- s.readAll(ctx, reads, pages)
		}()
		defer func() { // no reader outlives the loop
			cancel()
			for range pages {
			}
		}()
		for page := range pages {
			for _, l := range page { // expanded one by one: 1 MB of them may expand to hundreds
				c, err := l.Decompress()
				if err != nil {
					if err = s.passOver(layout.NewImproper(layout.CommentKey(l.ID), err.Error())); err == nil {
						continue
					}
				}
				if !yield(c, err) || err != nil {
					return
				}
			}
		}
		if err := <-failed; err != nil {
			yield(comment.Comment{}, err)
		}
	}
}

// readAll sends the pages of all reads, of as many at once as calls are allowed.
func (s *Scanner) readAll(ctx context.Context, reads []pageRead, pages chan<- []layout.Compressed) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.calls)
	for _, read := range reads {
		group.Go(panics.Guarded(func() error { return readToEnd(ctx, read, pages) }))
	}
	return group.Wait()
}

func readToEnd(ctx context.Context, read pageRead, pages chan<- []layout.Compressed) error {
	for start := (layout.Item)(nil); ; {
		var page []layout.Compressed
		var next layout.Item
		err := call.Retry(ctx, func() (further bool, err error) {
			page, next, err = read(ctx, start)
			return false, err
		})
		if err != nil {
			return err
		}
		select {
		case pages <- page:
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(next) == 0 {
			return nil
		}
		start = next
	}
}

// scan reads the next page of a segment of the table.
func (s *Scanner) scan(ctx context.Context, segment, segments int, start layout.Item) ([]layout.Compressed, layout.Item, error) {
	output, err := s.client.Scan(ctx, &dynamodb.ScanInput{
		TableName:                 aws.String(s.table),
		Segment:                   aws.Int32(int32(segment)),
		TotalSegments:             aws.Int32(int32(segments)),
		ConsistentRead:            aws.Bool(true),
		FilterExpression:          aws.String(scanFilter),
		ExpressionAttributeValues: scanValues,
		ProjectionExpression:      aws.String(scanProjection),
		ExclusiveStartKey:         start,
	})
	if err != nil {
		return nil, nil, call.Wrap(err, "Scan segment %d of %d", segment, segments)
	}
	page, err := s.decode(output.Items, layout.ProductOf)
	return page, output.LastEvaluatedKey, err
}

// passOver tells of items that are no comments, or returns an error where nobody wants to know.
func (s *Scanner) passOver(items ...layout.Improper) error {
	for _, item := range items {
		if s.OnImproper == nil {
			return errors.New(item.String())
		}
		s.OnImproper(item)
	}
	return nil
}

// query reads the next page of a product's partition of the index All.
func (s *Scanner) query(ctx context.Context, product string, start layout.Item) ([]layout.Compressed, layout.Item, error) {
	key := layout.Partition{Index: layout.All}.Key(product)
	output, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		IndexName:                 aws.String(string(layout.All)),
		KeyConditionExpression:    aws.String(layout.All.PartitionAttr() + "=:key"),
		ExpressionAttributeValues: layout.Item{":key": layout.Text(key)},
		ProjectionExpression:      aws.String(layout.ListProjection(true)),
		ExclusiveStartKey:         start,
	})
	if err != nil {
		return nil, nil, call.Wrap(err, "Query %s %s", layout.All, key)
	}
	page, err := s.decode(output.Items, func(layout.Item) (string, error) { return product, nil })
	return page, output.LastEvaluatedKey, err
}

// decode decodes items, each of the product that is told of it.
func (s *Scanner) decode(items []layout.Item, productOf func(layout.Item) (string, error)) ([]layout.Compressed, error) {
	out := make([]layout.Compressed, 0, len(items))
	for _, it := range items {
		product, err := productOf(it)
		if err == nil {
			var l layout.Compressed
			if l, err = layout.DecodeCompressed(it, product, true); err == nil {
				out = append(out, l)
				continue
			}
		}
		if err := s.passOver(layout.NewImproper(it, err.Error())); err != nil {
			return nil, err
		}
	}
	return out, nil
}
