package table

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

// merging is one call of Merge. It performs the steps of runs.Merge.
type merging struct{ *reading }

// merge makes one attempt.
func (m *merging) merge(ctx context.Context) error {
	head, _, err := m.statistics(ctx)
	if err != nil {
		return err
	}
	if !head.Exists() {
		return m.sweep(ctx)
	}
	stored, err := m.stored(ctx)
	if err != nil {
		return err
	}
	merge, err := runs.NewMerge(head, stored.directory, stored.log)
	if err != nil || merge.Empty() || merge.Postponed() {
		return err
	}
	if err := m.load(ctx, merge.Chunks(), merge.Load); err != nil {
		return err
	}
	if err := m.split(ctx, merge, head.Last); err != nil {
		return err
	}
	// Delete chunks that earlier merges replaced or left behind.
	ofVersion := chunkPrefix + runs.Key{Version: stored.directory.Version}.String()[:16]
	items, err := m.keys(ctx, ofVersion, ofVersion)
	if err != nil {
		return err
	}
	var made []runs.Key
	for _, it := range items {
		if key, ok := runs.ParseKey(layout.NewReader(it).Text(layout.AttrSK)[len(chunkPrefix):]); ok {
			made = append(made, key)
		}
	}
	if err := call.DeleteAll(ctx, m.client, m.table, chunkKeys(m.product, merge.Leftover(made))); err != nil {
		return err
	}
	return m.write(ctx, stored, merge.Result(rand.Uint32()))
}

// split reads the markers of runs that are too large, and after that the head and the entries added
// meanwhile.
func (m *merging) split(ctx context.Context, merge *runs.Merge, last uint64) error {
	unsplit := merge.Unsplit()
	if len(unsplit) == 0 {
		return nil
	}
	read := make([][]runs.Marker, len(unsplit))
	err := call.Parallel(ctx, len(unsplit), func(ctx context.Context, i int) (err error) {
		read[i], err = m.markers(ctx, unsplit[i], 0)
		return err
	})
	if err != nil {
		return err
	}
	head, err := m.headAfterwards(ctx)
	if err != nil {
		return err
	}
	log, err := m.logAfter(ctx, last)
	if err != nil {
		return err
	}
	for i, between := range unsplit {
		if err := merge.Split(between, read[i], head, log); err != nil {
			return err
		}
	}
	return nil
}

// headAfterwards reads the head in a transaction. A query may have seen markers of a transaction
// that has not reached the statistics yet. In that case this read fails and is retried, so that the
// head's log includes all changes seen.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-isolation
func (m *merging) headAfterwards(ctx context.Context) (head runs.Head, err error) {
	err = call.Retry(ctx, func() (progress bool, err error) {
		output, err := m.client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{
			TableName:            aws.String(m.table),
			Key:                  layout.ProductKey(m.product, layout.StatisticsSK),
			ProjectionExpression: aws.String(layout.AttrHead),
		}}}})
		if err != nil {
			return false, call.Wrap(err, "TransactGetItems of the statistics")
		}
		head, err = runs.DecodeHead(layout.BytesOf(output.Responses[0].Item, layout.AttrHead))
		return false, err
	})
	return head, err
}

// write writes the result of a merge, unless another merge was faster.
func (m *merging) write(ctx context.Context, before stored, result runs.Result) error {
	var chunks []types.WriteRequest
	for key, chunk := range result.Chunks {
		item := layout.PagesKey(m.product, chunkSK(key))
		item[layout.AttrPages] = layout.Binary(chunk.Encode())
		chunks = append(chunks, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
	}
	if err := call.WriteAll(ctx, m.client, m.table, chunks); err != nil {
		return err
	}
	directory := layout.PagesKey(m.product, layout.DirectorySK)
	directory[layout.AttrPages] = layout.Binary(result.Directory.Encode())
	directory[attrVersion] = layout.Number(int64(result.Directory.Version))
	input := &dynamodb.PutItemInput{
		TableName:           aws.String(m.table),
		Item:                directory,
		ConditionExpression: aws.String(layout.IfAbsent),

		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if version := before.directory.Version; version > 0 {
		input.ConditionExpression = aws.String(attrVersion + " = :version")
		input.ExpressionAttributeValues = layout.Item{":version": layout.Number(int64(version))}
	}
	_, err := m.client.PutItem(ctx, input)
	if there, refused := call.FoundInstead(err); refused {
		// Another merge was faster, or an earlier try of the SDK wrote the result and its answer was
		// lost. Delete the chunks of the result that the directory in its place does not need.
		directory, err := runs.DecodeDirectory(layout.BytesOf(there, layout.AttrPages))
		if err != nil {
			return err
		}
		unused := slices.DeleteFunc(slices.Collect(maps.Keys(result.Chunks)), func(key runs.Key) bool {
			refers := func(ref runs.Reference) bool { return ref.Key == key }
			return slices.Contains(directory.Replaced, key) || slices.ContainsFunc(directory.References, refers)
		})
		return call.DeleteAll(ctx, m.client, m.table, chunkKeys(m.product, unused))
	}
	if err != nil {
		return call.Wrap(err, "PutItem of the directory")
	}
	var merged []layout.Item
	for _, entry := range before.log {
		if entry.Number <= result.Directory.Merged {
			merged = append(merged, layout.PagesKey(m.product, layout.LogEntrySK(entry.Number)))
		}
	}
	return call.DeleteAll(ctx, m.client, m.table, merged)
}

// keys returns the keys of the index's items whose sort keys are between two prefixes, or begin
// with one of them. The directory's key comes with its version.
func (m *merging) keys(ctx context.Context, from, last string) (keys []layout.Item, err error) {
	values := layout.Item{
		":key": layout.PagesKey(m.product, "")[layout.AttrPK], ":from": layout.Text(from), ":to": layout.Text(last + "~"),
	}
	err = m.query(ctx, "keys of the page index", layout.AttrSK+" BETWEEN :from AND :to", values, layout.AttrPK+","+layout.AttrSK+","+attrVersion, 0, func(page []layout.Item) error {
		keys = append(keys, page...)
		return nil
	})
	return keys, err
}

// sweep deletes the remains of the index of a product that has none.
func (m *merging) sweep(ctx context.Context) error {
	keys, err := m.keys(ctx, chunkPrefix, layout.DirectorySK)
	if err != nil {
		return err
	}
	// An index that started meanwhile may have written some of them.
	if head, err := m.headAfterwards(ctx); err != nil || head.Exists() {
		return err
	}
	if i := slices.IndexFunc(keys, func(key layout.Item) bool { return key[attrVersion] != nil }); i >= 0 {
		_, err := m.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:                 aws.String(m.table),
			Key:                       layout.PagesKey(m.product, layout.DirectorySK),
			ConditionExpression:       aws.String(attrVersion + " = :version"),
			ExpressionAttributeValues: layout.Item{":version": keys[i][attrVersion]},
		})
		if err != nil && !call.Refused(err) { // if refused, it was replaced meanwhile
			return call.Wrap(err, "DeleteItem of the directory")
		}
		keys = slices.Delete(keys, i, i+1)
	}
	return call.DeleteAll(ctx, m.client, m.table, keys)
}
