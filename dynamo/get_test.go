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
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/usage"
)

// A fetch of comments by ID costs no more than promised, however large they are. Comments beyond
// the bound are errors. Fetched comments count as held memory, with their texts.
func TestCommentsByIDStayWithinTheirBound(t *testing.T) {
	r := commenttest.Rand(t)
	var comments []comment.Comment
	for range 30 {
		comments = append(comments, commenttest.Large(r, "large", 240<<10))
	}
	for range 30 {
		comments = append(comments, commenttest.Random(r, "small"))
	}
	client, table := filledTable(t, dynamotest.Dynoxide(t), comments)
	store := dynamo.NewStore(client, table, dynamo.Options{})
	for _, row := range []struct {
		why               string
		comments          []comment.Comment
		withoutText, held bool
		most              float64
	}{
		{"as assumed", comments[30:], false, true, 30},
		{"as assumed, without texts", comments[30:], true, true, 30},
		{"one large one", comments[:1], false, true, 68},
		{"many large ones", comments[:30], false, false, layout.BoundFactor*30 + 128 + 25*68},
		{"many large ones without texts", comments[:30], true, false, layout.BoundFactor*30 + 128 + 25*68},
	} {
		account := usage.NewPool(1 << 30).Open(1 << 30)
		var ids []comment.ID
		for _, c := range row.comments {
			ids = append(ids, c.ID)
		}
		found, failed, err := store.CommentsByID(usage.With(t.Context(), account), ids, row.withoutText)
		if err != nil || len(found)+len(failed) != len(ids) || row.held != (len(failed) == 0) {
			t.Errorf("%s: found %d, failed %d: %v", row.why, len(found), len(failed), err)
		}
		if units := account.Units(); units > row.most {
			t.Errorf("%s: %v units, at most %v are promised", row.why, units, row.most)
		}
		for _, want := range row.comments {
			if row.withoutText {
				want.Text = ""
			}
			if c, is := found[want.ID]; is && !cmp.Equal(c, want) {
				t.Errorf("%s: %s", row.why, cmp.Diff(want, c))
			} else if !is && comment.KindOf(failed[want.ID]) != comment.TooCostly {
				t.Errorf("%s: %v", row.why, failed[want.ID])
			}
		}
	}
}

// A comment that does not fit into the operation's memory is an error. The other comments are
// returned.
func TestCommentsByIDAreHeld(t *testing.T) {
	r := commenttest.Rand(t)
	comments := []comment.Comment{commenttest.Large(r, "p", 50<<10), commenttest.Random(r, "p")}
	client, table := filledTable(t, dynamotest.Dynoxide(t), comments)
	ids := []comment.ID{comments[0].ID, comments[1].ID}
	for _, withoutText := range []bool{false, true} {
		ctx := usage.With(t.Context(), usage.NewPool(1<<20).Open(20<<10))
		found, failed, err := dynamo.NewStore(client, table, dynamo.Options{}).CommentsByID(ctx, ids, withoutText)
		if _, small := found[ids[1]]; err != nil || !small {
			t.Errorf("without texts %t: %v, %v", withoutText, err, failed[ids[1]])
		}
		if refused := comment.KindOf(failed[ids[0]]) == comment.TooMuchText; refused == withoutText {
			t.Errorf("without texts %t: %v", withoutText, failed[ids[0]])
		}
	}
}

// Inspect reports the keys and the cost of each entry as they are. Sizes match those of Amazon's
// engine to the byte: an item that exactly fills a unit costs one unit less than the same item with
// one more byte.
func TestInspect(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		comments := commenttest.Many(rand.New(rand.NewPCG(1, 12)), "p/x", 16)
		client, table := filledTable(t, endpoint, comments)
		store := dynamo.NewStore(client, table, dynamo.Options{})
		for i, c := range comments {
			if strings.HasSuffix(t.Name(), "Dynoxide") && c.UpdatedAt != nil {
				continue // Dynoxide counts each digit of a number, where Amazon counts pairs
			}
			short := 4096 - inspect(t, store, c).Entries[4*(i%2)].Bytes // of the table, or of the last index
			for _, more := range []int{short, 1} {
				c.Text += strings.Repeat("x", more)
				setText(t, client, table, c.ID, c.Text)
				got := inspect(t, store, c)
				check.Equal(t, c, got.Comment)
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

// A comment that does not exist is NotFound.
func TestInspectMissing(t *testing.T) {
	client, table := filledTable(t, dynamotest.Dynoxide(t), nil)
	_, err := dynamo.NewStore(client, table, dynamo.Options{}).Inspect(t.Context(), "c_01HZ0000000000000000000000")
	if comment.KindOf(err) != comment.NotFound {
		t.Error(err)
	}
}
