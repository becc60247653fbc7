package command

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// examiner checks a table.
type examiner struct {
	Client *dynamodb.Client
	Source stream.Source // of the table; only ofStream needs it
	Table  string
	Words  func(error) string // explains why a call failed
}

// permissionProbe calls an action in a way that changes nothing. action is its name in IAM, on the
// part of the table that the permission is for. counting means that only counting processes need
// it.
type permissionProbe struct {
	action, on string
	counting   bool
	call       func(ctx context.Context, client *dynamodb.Client, table string) error
}

// never is a condition that no item meets, so a write with it changes nothing.
var (
	never = aws.String("attribute_exists(#pk) AND attribute_not_exists(#pk)")
	names = map[string]string{"#pk": layout.AttrPK}
)

// keyOfNothing returns a random key that no item has.
func keyOfNothing() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		layout.AttrPK: &types.AttributeValueMemberS{Value: "DOCTOR#" + rand.Text()},
		layout.AttrSK: &types.AttributeValueMemberS{Value: "DOCTOR"},
	}
}

// permissionProbes are the actions in docs/operate/aws.md, except those of the stream and of
// settings.
var permissionProbes = []permissionProbe{
	{"GetItem", "", false, func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: keyOfNothing()})
		return err
	}},
	{"BatchGetItem", "", false, func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			table: {Keys: []map[string]types.AttributeValue{keyOfNothing()}},
		}})
		return err
	}},
	{"Query", "", false, func(ctx context.Context, client *dynamodb.Client, table string) error {
		return queryNothing(ctx, client, table, nil, layout.AttrPK)
	}},
	{"PutItem", "", false, func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: keyOfNothing(), ConditionExpression: never, ExpressionAttributeNames: names})
		return err
	}},
	{"UpdateItem", "", false, func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &table, Key: keyOfNothing(), ConditionExpression: never, ExpressionAttributeNames: names})
		return err
	}},
	{"DeleteItem", "", false, func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: keyOfNothing(), ConditionExpression: never, ExpressionAttributeNames: names})
		return err
	}},
	{"ConditionCheckItem", "", true, func(ctx context.Context, client *dynamodb.Client, table string) error {
		check := types.ConditionCheck{TableName: &table, Key: keyOfNothing(), ConditionExpression: never, ExpressionAttributeNames: names}
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{ConditionCheck: &check}}})
		return err
	}},
	{"BatchWriteItem", "", true, func(ctx context.Context, client *dynamodb.Client, table string) error {
		// It takes no condition, but deleting a missing item writes nothing, neither to the table
		// nor to the stream.
		_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			table: {{DeleteRequest: &types.DeleteRequest{Key: keyOfNothing()}}},
		}})
		return err
	}},
	{"Scan", "", true, func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.Scan(ctx, &dynamodb.ScanInput{TableName: &table, Limit: aws.Int32(1), ProjectionExpression: aws.String("#pk"), ExpressionAttributeNames: names})
		return err
	}},
	{"UpdateTimeToLive", "", true, func(ctx context.Context, client *dynamodb.Client, table string) error {
		// Only if it is on: then AWS refuses to switch it on again, provided that the role has the
		// permission.
		if output, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &table}); err != nil ||
			output.TimeToLiveDescription == nil || output.TimeToLiveDescription.TimeToLiveStatus != types.TimeToLiveStatusEnabled {
			return errNotTried
		}
		_, err := client.UpdateTimeToLive(ctx, layout.TimeToLive(table))
		return err
	}},
}

// errNotTried is the error of a probe that was skipped because it might change something.
var errNotTried = errors.New("not tried: time to live is off, or its state is not known")

// queryNothing queries an index, or the table itself, for a key that does not exist. attribute is
// the partition key.
func queryNothing(ctx context.Context, client *dynamodb.Client, table string, index *string, attribute string) error {
	_, err := client.Query(ctx, &dynamodb.QueryInput{
		TableName: &table, IndexName: index, Limit: aws.Int32(1),
		KeyConditionExpression:    aws.String("#key = :none"),
		ExpressionAttributeNames:  map[string]string{"#key": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":none": keyOfNothing()[layout.AttrPK]},
	})
	return err
}

// permissions checks that the role has the permissions of a server; counting says whether it also
// counts.
func (e examiner) permissions(ctx context.Context, counting bool) []finding {
	var ofIndexes []permissionProbe // policies must include table/NAME/index/*
	for _, index := range layout.Definition("").GlobalSecondaryIndexes {
		key := slices.IndexFunc(index.KeySchema, func(k types.KeySchemaElement) bool { return k.KeyType == types.KeyTypeHash })
		ofIndexes = append(ofIndexes, permissionProbe{"Query", " on index " + aws.ToString(index.IndexName), false, func(ctx context.Context, client *dynamodb.Client, table string) error {
			return queryNothing(ctx, client, table, index.IndexName, aws.ToString(index.KeySchema[key].AttributeName))
		}})
	}
	var all []finding
	for _, p := range append(ofIndexes, permissionProbes...) {
		if counting || !p.counting {
			all = append(all, e.findingOf(p, p.call(ctx, e.Client, e.Table)))
		}
	}
	return all
}

// findingOf returns the finding that follows from a probe's error.
func (e examiner) findingOf(p permissionProbe, err error) finding {
	const setting = "UpdateTimeToLive" // optional: without it, a counting process logs a warning
	switch {
	case err == nil, call.Refused(err), p.action == setting && call.CodeOf(err) == "ValidationException": // it is on already
		return permitted(p.action + p.on)
	case errors.Is(err, errNotTried):
		return newFinding("permission "+p.action, resultUnknown, "%v", err)
	case p.action == setting:
		return e.refused(p.action, resultWarning, err)
	}
	return e.refused(p.action+p.on, resultProblem, err)
}

// denied reports whether an error means that a permission is missing.
func denied(err error) bool {
	return call.HasReason(err, "AccessDenied") || slices.Contains([]string{"AccessDeniedException", "AccessDenied"}, call.CodeOf(err))
}

func permitted(action string) finding {
	return newFinding("permission "+action, resultOK, "granted")
}

// refused returns the finding about a failed call. Only a missing permission has the given result;
// any other failure says nothing about permissions.
func (e examiner) refused(action string, result checkResult, err error) finding {
	if denied(err) {
		return newFinding("permission "+action, result, "denied").cured("grant dynamodb:%s, see docs/operate/aws.md", action)
	}
	failed, first := call.Wrap(err, "%s", action), "see to this first"
	if comment.KindOf(failed) == comment.Throttled {
		first = "wait, or raise the table's capacity"
	}
	return newFinding("call "+action, resultProblem, "failed: %s", e.Words(failed)).cured("%s, then run talkback doctor again", first)
}

// ofStream checks that the role may read the latest stream of the table. It saves no position.
func (e examiner) ofStream(ctx context.Context) []finding {
	listing, err := e.Source.Shards(ctx)
	if err != nil {
		return []finding{e.refused("DescribeStream", resultProblem, err)}
	}
	all := []finding{permitted("DescribeStream")}
	if len(listing.Shards) == 0 {
		return append(all, newFinding("stream", resultUnknown, "has no shard yet, so reading was not tried"))
	}
	iterator, err := e.Source.Open(ctx, listing.Label, listing.Shards[len(listing.Shards)-1].ID, "")
	if err != nil {
		return append(all, e.refused("GetShardIterator", resultProblem, err))
	}
	all = append(all, permitted("GetShardIterator"))
	if _, err := e.Source.Read(ctx, listing.Label, iterator); err != nil {
		return append(all, e.refused("GetRecords", resultProblem, err))
	}
	return append(all, permitted("GetRecords"))
}
