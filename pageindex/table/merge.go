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

// mergeClient is the part of the SDK's client that a merge works with, beside reads.
type mergeClient interface {
	call.BatchWriter
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	TransactGetItems(context.Context, *dynamodb.TransactGetItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error)
}

// merging is one call of Merge. Its steps are those of runs.Merge.
type merging struct {
	*reading
	client mergeClient
}

// merge makes one try.
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
	if err := m.load(ctx, merge); err != nil {
		return err
	}
	if err := m.split(ctx, merge, head.Last); err != nil {
		return err
	}
	if err := m.tidy(ctx, merge, stored.directory.Version); err != nil {
		return err
	}
	return m.write(ctx, stored, merge.Result(rand.Uint32()))
}

// tidy deletes chunks that earlier merges replaced or left.
func (m *merging) tidy(ctx context.Context, merge *runs.Merge, version uint64) error {
	items, err := m.keys(ctx, chunkPrefix+runs.Key{Version: version}.String()[:16])
	if err != nil {
		return err
	}
	var made []runs.Key
	for _, it := range items {
		if key, ok := runs.ParseKey(layout.NewReader(it).Text(layout.AttrSK)[len(chunkPrefix):]); ok {
			made = append(made, key)
		}
	}
	return call.DeleteAll(ctx, m.client, m.table, chunkKeys(m.product, merge.Leftover(made)))
}

func (m *merging) load(ctx context.Context, merge *runs.Merge) error {
	for keys := range slices.Chunk(merge.Chunks(), call.MaxKeysPerGet) {
		chunks, err := m.chunks(ctx, keys)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if err := merge.Load(key, chunks[key]); err != nil {
				return err
			}
		}
	}
	return nil
}

// split reads the markers of runs that are too large, and after that the head and the entries that
// were added meanwhile.
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
// that has not reached the statistics yet. This read is refused then, or waits, so that the head
// names the entries of all changes that were seen.
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
		head, err = runs.DecodeHead(content(output.Responses[0].Item, layout.AttrHead))
		return false, err
	})
	return head, err
}

// write writes the result of a merge, unless another merge was first.
func (m *merging) write(ctx context.Context, before stored, result runs.Result) error {
	var chunks []types.WriteRequest
	for key, chunk := range result.Chunks {
		chunks = append(chunks, types.WriteRequest{PutRequest: &types.PutRequest{Item: chunkItem(m.product, key, chunk)}})
	}
	if err := call.WriteAll(ctx, m.client, m.table, chunks); err != nil {
		return err
	}
	replaced, err := m.replace(ctx, before.directory.Version, result.Directory)
	if err != nil {
		return err
	}
	if !replaced {
		return call.DeleteAll(ctx, m.client, m.table, chunkKeys(m.product, slices.Collect(maps.Keys(result.Chunks))))
	}
	var merged []layout.Item
	for _, entry := range before.log {
		if entry.Number <= result.Directory.Merged {
			merged = append(merged, layout.PagesKey(m.product, layout.LogEntrySK(entry.Number)))
		}
	}
	return call.DeleteAll(ctx, m.client, m.table, merged)
}

// replace puts a directory in place of that of a version, and reports whether it was still there.
func (m *merging) replace(ctx context.Context, version uint64, d runs.Directory) (bool, error) {
	input := &dynamodb.PutItemInput{
		TableName:           aws.String(m.table),
		Item:                directoryItem(m.product, d),
		ConditionExpression: aws.String(layout.IfAbsent),
	}
	if version > 0 {
		input.ConditionExpression = aws.String(attrVersion + " = :version")
		input.ExpressionAttributeValues = layout.Item{":version": layout.Number(int64(version))}
	}
	_, err := m.client.PutItem(ctx, input)
	if call.Refused(err) {
		return false, nil
	}
	return err == nil, call.Wrap(err, "PutItem of the directory")
}

// keys returns the keys of the items of the product's index whose sort keys have a prefix, with the
// version if one is the directory.
func (m *merging) keys(ctx context.Context, prefix string) (keys []layout.Item, err error) {
	condition, values := "begins_with("+layout.AttrSK+",:prefix)", layout.Item{
		":key": layout.PagesKey(m.product, "")[layout.AttrPK], ":prefix": layout.Text(prefix),
	}
	err = m.query(ctx, "keys of the page index", condition, values, layout.AttrPK+","+layout.AttrSK+","+attrVersion, 0, func(page []layout.Item) error {
		keys = append(keys, page...)
		return nil
	})
	return keys, err
}

// sweep deletes all that is left of the index of a product that has none.
func (m *merging) sweep(ctx context.Context) error {
	var keys []layout.Item
	for _, prefix := range []string{chunkPrefix, layout.DirectorySK} {
		some, err := m.keys(ctx, prefix)
		if err != nil {
			return err
		}
		keys = append(keys, some...)
	}
	// An index that started meanwhile may have written some of them.
	if head, err := m.headAfterwards(ctx); err != nil || head.Exists() {
		return err
	}
	for i, key := range keys {
		if key[attrVersion] != nil {
			keys = slices.Delete(keys, i, i+1)
			if err := m.deleteDirectory(ctx, key); err != nil {
				return err
			}
			break
		}
	}
	return call.DeleteAll(ctx, m.client, m.table, keys)
}

// deleteDirectory deletes a directory, unless it was replaced since its key and version were read.
func (m *merging) deleteDirectory(ctx context.Context, read layout.Item) error {
	_, err := m.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 aws.String(m.table),
		Key:                       layout.PagesKey(m.product, layout.DirectorySK),
		ConditionExpression:       aws.String(attrVersion + " = :version"),
		ExpressionAttributeValues: layout.Item{":version": read[attrVersion]},
	})
	if call.Refused(err) {
		return nil
	}
	return call.Wrap(err, "DeleteItem of the directory")
}
