package dynamo

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
)

// A scan filters out all items but comments.
var (
	scanFilter = "begins_with(" + layout.AttrPK + ",:prefix) AND " + layout.AttrSK + "=:sort AND attribute_not_exists(" + layout.AttrDeleted + ")"
	scanValues = layout.Item{
		":prefix": layout.Text(layout.CommentPKPrefix),
		":sort":   layout.Text(layout.CommentSK),
	}
	authorFilter   = scanFilter + " AND " + layout.AttrAuthorID + " = :author"
	productsFilter = scanFilter + " AND :product IN (" + layout.ProductAttrs + ")"
)

// Scanner reads every comment of a table or of a product. In memory it holds one answer for each
// parallel call, of at most 1 MB of items. It is safe for concurrent use.
type Scanner struct {
	// OnImproper, unless nil, is called for each item that cannot be read as a comment, on several
	// goroutines at once. The scan then goes on. When OnImproper is nil, such an item ends the scan
	// with an error.
	OnImproper func(layout.Improper)
	// Everything also yields comments that are not approved, and the fields that lists do not show.
	// OfProduct then reads the whole table: such comments are in no index of a product.
	Everything bool
	// Bare yields comments without their texts, which need not be valid then.
	Bare bool

	hidden  atomic.Int64
	scanned atomic.Int64
	client  call.ScanClient
	table   string
	calls   int
}

// NewScanner returns a Scanner of a table, which must be as layout.Definition says. calls is the
// number of parallel calls, 1 or more; 0 means call.DefaultScanCalls.
func NewScanner(client call.ScanClient, table string, calls int) *Scanner {
	if calls < 1 {
		calls = call.DefaultScanCalls
	}
	return &Scanner{client: client, table: table, calls: calls}
}

// All yields every comment of the table, in no order. A comment that exists throughout the scan
// comes exactly once, whatever else is written: no edit changes its primary key, and the reads are
// consistent. A comment that is added or deleted during the scan may come or not. One that is
// edited comes in its old or its new version. The last pair may be an error.
//
// Consistent reads cost twice as much as others: one read unit for 4 KB. An eventually consistent
// scan could miss a comment written just before, and would be no complete copy.
func (s *Scanner) All(ctx context.Context) iter.Seq2[comment.Comment, error] {
	return s.read(ctx, s.scans(scanFilter, layout.Item{}))
}

// scans returns the reads of a whole table. values are the filter's beyond those of scanFilter.
func (s *Scanner) scans(filter string, values layout.Item) []listRead {
	maps.Copy(values, scanValues)
	reads := make([]listRead, s.calls*call.SegmentsPerCall)
	for segment := range reads {
		input := dynamodb.ScanInput{
			TableName:                 aws.String(s.table),
			Segment:                   aws.Int32(int32(segment)),
			TotalSegments:             aws.Int32(int32(len(reads))),
			ConsistentRead:            aws.Bool(true),
			FilterExpression:          aws.String(filter),
			ExpressionAttributeValues: values,
			ProjectionExpression:      aws.String(layout.ListProjection(!s.Bare) + "," + layout.ProductAttrs + "," + layout.AttrState),
		}
		if s.Everything {
			input.ProjectionExpression = aws.String(layout.TableProjection(!s.Bare))
		}
		reads[segment] = func(ctx context.Context, take func([]layout.Compressed) error) error {
			for output, err := range call.ScanAnswers(ctx, s.client, &input, "Scan segment %d of %d", segment, len(reads)) {
				if err != nil {
					return err
				}
				s.scanned.Add(int64(output.ScannedCount))
				items := output.Items
				if !s.Everything {
					items = slices.DeleteFunc(items, func(it layout.Item) bool { return it[layout.AttrState] != nil })
				}
				s.hidden.Add(int64(len(output.Items) - len(items)))
				if err := s.decode(items, layout.ProductOf, take); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return reads
}

// Hidden returns how many comments All left out because they are not approved.
func (s *Scanner) Hidden() int { return int(s.hidden.Load()) }

// Scanned returns how many items of the table All has read, comments or not. Estimate is about as
// many.
func (s *Scanner) Scanned() int64 { return s.scanned.Load() }

// OfProduct yields every comment of a product, oldest first. It reads the product's partition of
// the index All, as lists do, so its cost depends on the size of the product and not of the table.
// These reads are eventually consistent: comments written within about the last second may be
// missing. Otherwise it is like All, because no edit changes a comment's sort key there.
//
// With Everything it scans the table as All does, and yields the comments in no order.
func (s *Scanner) OfProduct(ctx context.Context, product string) iter.Seq2[comment.Comment, error] {
	if s.Everything {
		return s.read(ctx, s.scans(productsFilter, layout.Item{":product": layout.Text(layout.Partition{Index: layout.All}.Key(product))}))
	}
	key := layout.Partition{Index: layout.All}.Key(product)
	return s.read(ctx, []listRead{func(ctx context.Context, take func([]layout.Compressed) error) error {
		for output, err := range call.Answers(ctx, s.client, &dynamodb.QueryInput{
			TableName:                 aws.String(s.table),
			IndexName:                 aws.String(string(layout.All)),
			KeyConditionExpression:    aws.String(layout.All.PartitionAttr() + "=:key"),
			ExpressionAttributeValues: layout.Item{":key": layout.Text(key)},
			ProjectionExpression:      aws.String(layout.ListProjection(!s.Bare)),
		}, string(layout.All)+" "+key) {
			if err != nil {
				return err
			}
			if err := s.decode(output.Items, func(layout.Item) (string, error) { return product, nil }, take); err != nil {
				return err
			}
		}
		return nil
	}})
}

// OfAuthor yields the comments of an imported author, in no order: with Everything, those of every
// state. It reads the whole table as All does, since imported authors are in no index.
func (s *Scanner) OfAuthor(ctx context.Context, author string) iter.Seq2[comment.Comment, error] {
	return s.read(ctx, s.scans(authorFilter, layout.Item{":author": layout.Binary([]byte(author))}))
}

// Estimate returns about how many items the table holds and what a scan costs in read units. Both
// are 0 if DynamoDB does not know. DynamoDB updates the numbers about every six hours.
func (s *Scanner) Estimate(ctx context.Context) (items int64, units float64, err error) {
	output, err := s.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(s.table)})
	if err != nil {
		return 0, 0, call.Wrap(err, "DescribeTable %s", s.table)
	}
	return aws.ToInt64(output.Table.ItemCount), math.Ceil(float64(aws.ToInt64(output.Table.TableSizeBytes)) / layout.UnitBytes), nil
}

// listRead reads a list to its end, and calls take with each page.
type listRead func(ctx context.Context, take func([]layout.Compressed) error) error

// read runs reads, at most s.calls at a time, and yields their comments. The first error stops all
// reads.
func (s *Scanner) read(ctx context.Context, reads []listRead) iter.Seq2[comment.Comment, error] {
	return func(yield func(comment.Comment, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages, failed := make(chan []layout.Compressed), make(chan error, 1)
		go func() {
			defer close(pages)
			group, ctx := errgroup.WithContext(ctx)
			group.SetLimit(s.calls)
			send := func(page []layout.Compressed) error {
				select {
				case pages <- page:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			for _, read := range reads {
				group.Go(task.Guarded(func() error { return read(ctx, send) }))
			}
			failed <- group.Wait()
		}()
		defer func() { // no reader outlives the loop
			cancel()
			for range pages {
			}
		}()
		for page := range pages {
			for _, l := range page { // decompressed one by one: 1 MB may expand to hundreds
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

// passOver reports an item that is not a comment to OnImproper. If that is nil, it returns an
// error.
func (s *Scanner) passOver(item layout.Improper) error {
	if s.OnImproper == nil {
		return errors.New(item.String())
	}
	s.OnImproper(item)
	return nil
}

// decode decodes items, each as a comment of the product that productOf returns, and hands them to
// take.
func (s *Scanner) decode(items []layout.Item, productOf func(layout.Item) (string, error), take func([]layout.Compressed) error) error {
	out := make([]layout.Compressed, 0, len(items))
	for _, it := range items {
		product, err := productOf(it)
		if err == nil {
			var l layout.Compressed
			if l, err = layout.DecodeCompressed(it, product, !s.Bare); err == nil {
				out = append(out, l)
				continue
			}
		}
		if err := s.passOver(layout.NewImproper(it, err.Error())); err != nil {
			return err
		}
	}
	return take(out)
}
