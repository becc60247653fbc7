package markers

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// deleteProduct deletes everything of a product in a generation, its header last: until then, the
// header lists the cells.
func (s *Store) deleteProduct(ctx context.Context, p generationProduct) error {
	h, err := s.header(ctx, p, nil)
	if err != nil {
		return err
	}
	partitions := []string{p.pk()}
	for _, cell := range h.names() {
		partitions = append([]string{p.cellPK(cell)}, partitions...)
	}
	for _, pk := range partitions {
		// A header goes last: it sorts behind the other items of its partition.
		if err := s.eachKey(ctx, pk, func(keys []layout.Item) error { return call.DeleteAll(ctx, s.client, s.table, keys) }); err != nil {
			return err
		}
	}
	return call.DeleteAll(ctx, s.client, s.table, []layout.Item{p.productKey()})
}

// eachKey passes on the keys of a partition, page by page.
func (s *Store) eachKey(ctx context.Context, pk string, do func(keys []layout.Item) error) error {
	for output, err := range call.Answers(ctx, s.client, &dynamodb.QueryInput{
		TableName: aws.String(s.table), ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String(layout.AttrPK + " = :pk"),
		ExpressionAttributeValues: layout.Item{":pk": layout.Text(pk)},
		ProjectionExpression:      aws.String(layout.AttrPK + "," + layout.AttrSK),
	}, "old page markers") {
		if err == nil {
			err = do(output.Items)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
