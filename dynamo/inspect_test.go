package dynamo_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// Each entry has the keys and the cost that Inspect reports. Sizes match those of Amazon's engine
// to the byte: an item that exactly fills a unit costs one unit less than the same item with one
// more byte.
func TestInspect(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		comments := commenttest.Many(rand.New(rand.NewPCG(1, 12)), "p/x", 16)
		client, table := filledTable(t, endpoint, comments)
		store := dynamo.NewStore(client, table, dynamo.Options{})
		for i, c := range comments {
			if strings.HasSuffix(t.Name(), "Dynoxide") && c.UpdatedAt != nil {
				continue // it counts each digit of a number, where Amazon counts pairs
			}
			short := 4096 - inspect(t, store, c).Entries[4*(i%2)].Bytes // of the table, or of the last index
			for _, more := range []int{short, 1} {
				c.Text += strings.Repeat("x", more)
				setText(t, client, table, c.ID, c.Text)
				got := inspect(t, store, c)
				if diff := cmp.Diff(c, got.Comment); diff != "" {
					t.Error(diff)
				}
				checkEntries(t, client, table, got.Entries)
			}
		}
	})
}

func inspect(t *testing.T, store *dynamo.Store, c comment.Comment) dynamo.Inspection {
	t.Helper()
	out, err := store.Inspect(t.Context(), c.ID)
	if err != nil || len(out.Entries) != 5 {
		t.Fatalf("%+v, %v", out, err)
	}
	return out
}

// checkEntries reads every entry by its keys, and compares the consumed units.
func checkEntries(t *testing.T, client *dynamodb.Client, table string, entries []dynamo.Entry) {
	t.Helper()
	for _, e := range entries {
		for _, consistently := range []bool{false, true} {
			if consistently && e.Index != "" {
				continue
			}
			input := &dynamodb.QueryInput{
				TableName:              &table,
				KeyConditionExpression: aws.String(e.PartitionAttr + "=:p AND " + e.SortAttr + "=:s"),
				ExpressionAttributeValues: map[string]types.AttributeValue{
					":p": &types.AttributeValueMemberS{Value: e.PartitionKey}, ":s": &types.AttributeValueMemberS{Value: e.SortKey},
				},
				ConsistentRead:         &consistently,
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			}
			if e.Index != "" {
				input.IndexName = aws.String(string(e.Index))
			}
			output, err := client.Query(t.Context(), input)
			if err != nil || output.Count != 1 {
				t.Fatalf("%+v: %v, %d items", e, err, output.Count)
			}
			if got, want := aws.ToFloat64(output.ConsumedCapacity.CapacityUnits), e.ReadUnits(consistently); got != want {
				t.Errorf("%q of %d bytes, %s, cost %v units, want %v", e.Index, e.Bytes, e.SortKey, got, want)
			}
		}
	}
}

// A comment that does not exist is NotFound; a table that does not exist is Unavailable.
func TestInspectMissing(t *testing.T) {
	client, table := filledTable(t, dynamotest.Dynoxide(t), nil)
	_, err := dynamo.NewStore(client, table, dynamo.Options{}).Inspect(t.Context(), "c_01HZ0000000000000000000000")
	if comment.KindOf(err) != comment.NotFound {
		t.Error(err)
	}
	_, err = dynamo.NewStore(client, table+"x", dynamo.Options{}).Inspect(t.Context(), "c_01HZ0000000000000000000000")
	if comment.KindOf(err) != comment.Unavailable {
		t.Error(err)
	}
}
