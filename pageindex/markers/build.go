package markers

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex"
)

// building is a build that is under way.
type building struct {
	store      *Store
	generation string
}

// Build implements pageindex.Store. It deletes what an earlier build left behind.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	name, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	return &building{store: s, generation: name}, s.sweep(ctx)
}

// Add implements pageindex.Build.
func (b *building) Add(ctx context.Context, entries []pageindex.Entry) error {
	g, err := b.store.generations(ctx)
	if err != nil {
		return err
	}
	if g.building != b.generation {
		return overtaken()
	}
	return b.store.write(ctx, b.generation, byProduct(entries))
}

// Finish implements pageindex.Build. It deletes what the store held before. An error of that is not
// reported: the next build tries again.
func (b *building) Finish(ctx context.Context, covers string) error {
	if err := b.store.finish(ctx, b.generation, covers); err != nil {
		return err
	}
	_ = b.store.sweep(ctx)
	return nil
}

// sweep deletes old generations.
func (s *Store) sweep(ctx context.Context) error {
	g, err := s.generations(ctx)
	if err != nil {
		return err
	}
	for _, generation := range g.old {
		if err := s.deleteGeneration(ctx, generation); err != nil {
			return err
		}
		if err := s.swap(ctx, "DELETE #o :old", "", map[string]string{"#o": attrOld}, layout.Item{":old": setOf(generation)}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) deleteGeneration(ctx context.Context, generation string) error {
	return s.eachKey(ctx, pkPrefix+generation, func(keys []layout.Item) error {
		return call.Parallel(ctx, len(keys), func(ctx context.Context, i int) error {
			return s.deletePart(ctx, part{generation, layout.NewReader(keys[i]).Text(layout.AttrSK)})
		})
	})
}

// deletePartition deletes all items with a partition key. A header goes last: it sorts behind the
// other items of its partition.
func (s *Store) deletePartition(ctx context.Context, pk string) error {
	return s.eachKey(ctx, pk, func(keys []layout.Item) error { return s.delete(ctx, keys) })
}

// eachKey hands on the keys of a partition, page by page.
func (s *Store) eachKey(ctx context.Context, pk string, do func(keys []layout.Item) error) error {
	for start := layout.Item(nil); ; {
		output, err := s.client.Query(ctx, &dynamodb.QueryInput{
			TableName: aws.String(s.table), ConsistentRead: aws.Bool(true), ExclusiveStartKey: start,
			KeyConditionExpression:    aws.String(layout.AttrPK + " = :pk"),
			ExpressionAttributeValues: layout.Item{":pk": layout.Text(pk)},
			ProjectionExpression:      aws.String(layout.AttrPK + "," + layout.AttrSK),
		})
		if err != nil {
			return call.Wrap(err, "Query of old page markers")
		}
		if err := do(output.Items); err != nil || output.LastEvaluatedKey == nil {
			return err
		}
		start = output.LastEvaluatedKey
	}
}

// deletesAtOnce is how many items one BatchWriteItem deletes.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
const deletesAtOnce = 25

// delete deletes items by key.
func (s *Store) delete(ctx context.Context, keys []layout.Item) error {
	for chunk := range slices.Chunk(keys, deletesAtOnce) {
		left := make([]types.WriteRequest, len(chunk))
		for i, key := range chunk {
			left[i] = types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}}
		}
		err := call.Retry(ctx, func() (progress bool, err error) {
			output, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{s.table: left}})
			if err != nil {
				return false, call.Wrap(err, "BatchWriteItem of %d deletions", len(left))
			}
			progress = len(output.UnprocessedItems[s.table]) < len(left)
			if left = output.UnprocessedItems[s.table]; len(left) > 0 {
				err = call.ErrBusy
			}
			return progress, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
