package call

import (
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/dynamotest"
)

func TestMain(m *testing.M) {
	if os.Getenv(replayVariable) != "" {
		_ = runReplay() // it ends with its input
		return
	}
	dynamotest.Main(m)
}

// Each way reads the same from real engines.
func TestEngines(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		options := NewLocalClient(endpoint).Options()
		table := dynamotest.TableName(t)
		fill(t, dynamodb.New(options), table)
		var model []outcome
		for i, way := range ways {
			got := readAll(t, way.open(options), table)
			if i == 0 {
				model = got
			} else if diff := cmp.Diff(model, got, comparing...); diff != "" {
				t.Errorf("the SDK (-) and %s (+) read differently:\n%s", way.name, diff)
			}
		}
		if n := len(model[0].Items); n != 2 || model[0].Last == nil || len(model[3].Items) != 2 || len(model[4].Items) != 1 || len(model[5].Items) != 0 {
			t.Errorf("the SDK reads something else than what is there: %v", model)
		}
		if model[6].Code != "ResourceNotFoundException" || model[7].Code != "ValidationException" {
			t.Errorf("the errors are %v and %v", model[6], model[7])
		}
	})
}

// fill makes a table with items of every type.
func fill(t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	dynamotest.CreateTable(t, client, &dynamodb.CreateTableInput{
		TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("PK"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("SK"), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("PK"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("SK"), KeyType: types.KeyTypeRange},
		},
	})
	for _, it := range engineItems {
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(table), Item: it}); err != nil {
			t.Fatal(err)
		}
	}
}

// engineItems are all of one partition.
var engineItems = []layout.Item{
	{"PK": layout.Text(odd), "SK": layout.Text("1"), "n": layout.Number(-5), "big": &types.AttributeValueMemberN{Value: "12345678901234567890.12345678901234567"}},
	{
		"PK": layout.Text(odd), "SK": layout.Text("2"),
		"b": &types.AttributeValueMemberB{Value: []byte{0, 254, 255}}, "empty": layout.Text(""), "t": &types.AttributeValueMemberBOOL{Value: true},
		"null": &types.AttributeValueMemberNULL{Value: true}, "ss": &types.AttributeValueMemberSS{Value: []string{odd}}, "ns": &types.AttributeValueMemberNS{Value: []string{"7"}},
		"m": &types.AttributeValueMemberM{Value: layout.Item{"a.b": &types.AttributeValueMemberL{Value: []types.AttributeValue{layout.Text("x"), layout.Number(1)}}}},
	},
	{"PK": layout.Text(odd), "SK": layout.Text("3"), "text": layout.Text(strings.Repeat(odd, 3000))},
}

// readAll reads in all ways that the program does, and in some that fail.
func readAll(t *testing.T, client reads, table string) (out []outcome) {
	t.Helper()
	query := func(table, condition string, start layout.Item) {
		var o outcome
		o.note(Wrap(o.query(client.Query(t.Context(), &dynamodb.QueryInput{
			TableName: aws.String(table), KeyConditionExpression: aws.String(condition), ExpressionAttributeValues: layout.Item{":p": layout.Text(odd)},
			Limit: aws.Int32(2), ExclusiveStartKey: start, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})), "Query"))
		out = append(out, o)
	}
	query(table, "PK = :p", nil)
	query(table, "PK = :p", out[0].Last)
	var count outcome
	count.note(count.query(client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String(table), KeyConditionExpression: aws.String("PK = :p"), ExpressionAttributeValues: layout.Item{":p": layout.Text(odd)},
		Select: types.SelectCount, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})))
	out = append(out, count)
	key := func(sk string) layout.Item { return layout.Item{"PK": layout.Text(odd), "SK": layout.Text(sk)} }
	var batch outcome
	got, err := GetMetered(t.Context(), client, table, types.KeysAndAttributes{Keys: []layout.Item{key("1"), key("none"), key("3")}})
	batch.Items, batch.Left, batch.Units = got.Items, got.Left, got.Units
	batch.note(err)
	out = append(out, batch)
	for _, sk := range []string{"2", "none"} {
		var o outcome
		o.note(o.item(client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: key(sk), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})))
		out = append(out, o)
	}
	query("no-such-table", "PK = :p", nil)
	query(table, "PK > :p", nil)
	return out
}
