package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// LayoutVersion is the number of the layout that this program reads and writes. A table says which one
// its items have, so that a program of an earlier release does not take them for damaged.
const LayoutVersion = 2

const (
	layoutPK    = "SETTINGS"
	layoutSK    = "LAYOUT"
	attrVersion = "v" // N
)

// layoutReader is the part of the SDK's client that reads the number.
type layoutReader interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// layoutWriter is the part of the SDK's client that notes the number.
type layoutWriter interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// CheckLayout returns an error in one sentence if the items of a table have the layout of another
// release. A table that does not say which is new.
func CheckLayout(ctx context.Context, client layoutReader, table string) error {
	output, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(table), Key: layout.StreamKey(layoutPK, layoutSK), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return call.Wrap(err, "GetItem %s/%s", layoutPK, layoutSK)
	}
	if len(output.Item) == 0 {
		return nil
	}
	r := layout.NewReader(output.Item)
	switch version := r.Number(attrVersion); {
	case r.Err() != nil:
		return fmt.Errorf("item %s/%s of table %q does not say which layout the table has: set its attribute %q to %d, if Talkback of this release made the table", layoutPK, layoutSK, table, attrVersion, LayoutVersion)
	case version > LayoutVersion:
		return fmt.Errorf("table %q has layout %d, which a newer release made; this one knows layout %d: use the newer release", table, version, LayoutVersion)
	case version < LayoutVersion:
		return fmt.Errorf("table %q has layout %d, which an earlier release made; this one knows layout %d: export its comments with the earlier release, and import them into a new table", table, version, LayoutVersion)
	}
	return nil
}

// NoteLayout notes in a table which layout its items have, unless it says so already.
func NoteLayout(ctx context.Context, client layoutWriter, table string) error {
	it := layout.StreamKey(layoutPK, layoutSK)
	it[attrVersion] = layout.Number(LayoutVersion)
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(table), Item: it, ConditionExpression: aws.String("attribute_not_exists(" + layout.AttrPK + ")"),
	})
	var there *types.ConditionalCheckFailedException
	if errors.As(err, &there) {
		return nil
	}
	return call.Wrap(err, "PutItem %s/%s", layoutPK, layoutSK)
}
