package counts_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// A deleted comment is gone for every reader and writer, and none of its words remain. Loading it
// again leaves it deleted, unless the load revives.
func TestDeletedStaysDeleted(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := newTableAt(t, endpoint)
		store := dynamo.NewStore(client, table, dynamo.Options{})
		first, second := commenttest.Random(commenttest.Rand(t), "p"), commenttest.Random(commenttest.Rand(t), "p")
		first.Version, first.UpdatedAt, second.Version = 1, nil, 3
		second.ID = comment.IDOf(first.ID.Position().Next())
		both := []comment.Comment{first, second}
		checkLoad(t, dynamo.NewLoader(client, table, 0), both, dynamo.LoadCounts{Written: 2})
		for _, c := range both {
			must.Do(t, store.Delete(t.Context(), c))
			checkGone(t, client, table, c)
		}
		if any, err := dynamo.HasComments(t.Context(), client, table); any || err != nil {
			t.Errorf("the table has comments: %v, %v", any, err)
		}
		for c, err := range dynamo.NewScanner(client, table, 0).All(t.Context()) {
			t.Errorf("the export has %s, %v", c.ID, err)
		}
		rebuild(t, client, table)
		verify(t, client, table)

		checkLoad(t, dynamo.NewLoader(client, table, 0), both, dynamo.LoadCounts{Deleted: 2})
		checkGone(t, client, table, first)
		reviving := dynamo.NewLoader(client, table, 0)
		reviving.Revive = true
		checkLoad(t, reviving, both, dynamo.LoadCounts{Written: 2})
		checkLoad(t, dynamo.NewLoader(client, table, 0), both, dynamo.LoadCounts{Existing: 2})
		got, err := store.Comment(t.Context(), second.ID)
		if second.Mark = got.Mark; err != nil || second.Mark == "" || !cmp.Equal(second, got) { // the tombstone's mark
			t.Errorf("revived: %v %s", err, cmp.Diff(second, got))
		}
		rebuild(t, client, table)
		checkCounted(t, client, table, []string{"p"}, commenttest.NewModel(both...))
	})
}

func checkGone(t *testing.T, client *dynamodb.Client, table string, c comment.Comment) {
	t.Helper()
	store := dynamo.NewStore(client, table, dynamo.Options{})
	edited := c
	edited.Version++
	_, byID := store.Comment(t.Context(), c.ID)
	_, inspected := store.Inspect(t.Context(), c.ID)
	for what, err := range map[string]error{
		"read": byID, "shown": inspected, "edited": store.Replace(t.Context(), c, edited), "deleted": store.Delete(t.Context(), c),
	} {
		if comment.KindOf(err) != comment.NotFound {
			t.Errorf("version %d is %s: %v", c.Version, what, err)
		}
	}
	output := must.Get(client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key("C#"+c.ID.Position().String(), "C"), ConsistentRead: aws.Bool(true)}))(t)
	names := slices.Sorted(maps.Keys(output.Item))
	if want := []string{"PK", "SK", "e", "m"}; !slices.Equal(names, want) {
		t.Errorf("what stays has the attributes %v, want %v", names, want)
	}
}

// A tombstone in place of a comment counts as a deletion. A comment in place of its tombstone
// counts as a new comment. A change of the tombstone itself counts as nothing.
func TestTombstonesAreCounted(t *testing.T) {
	client, table := newTableAt(t, dynamotest.Dynoxide(t))
	c := commenttest.Random(commenttest.Rand(t), "p")
	counter, there := counts.NewCounter(client, table, counts.CounterOptions{}), layout.Encode(c)
	gone := key("C#"+c.ID.Position().String(), "C")
	gone["e"], gone["m"] = &types.AttributeValueMemberN{Value: "1"}, text("mark")
	for _, row := range []struct {
		record stream.Record
		want   []comment.Comment
		why    string
	}{
		{stream.Record{Position: "1", New: there}, []comment.Comment{c}, "written"},
		{stream.Record{Position: "2", Old: there, New: gone}, nil, "deleted"},
		{stream.Record{Position: "3", Old: gone, New: there}, []comment.Comment{c}, "revived"},
		{stream.Record{Position: "4", Old: there, New: gone}, nil, "deleted again"},
		{stream.Record{Position: "5", Old: gone, New: gone}, nil, "a tombstone changed by hand"},
		{stream.Record{Position: "6", Old: gone}, nil, "a tombstone removed by hand"},
	} {
		if err := counter.Handle(t.Context(), []stream.Record{row.record}); err != nil {
			t.Fatalf("%s: %v", row.why, err)
		}
		checkCounted(t, client, table, []string{"p"}, commenttest.NewModel(row.want...))
		if t.Failed() {
			t.Fatal(row.why)
		}
	}
}

// checkLoad loads comments. It fails unless the numbers of written, existing and deleted comments
// are as wanted.
func checkLoad(t *testing.T, loader *dynamo.Loader, comments []comment.Comment, want dynamo.LoadCounts) {
	t.Helper()
	if got, err := loader.Load(t.Context(), comments); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
