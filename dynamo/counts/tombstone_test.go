package counts_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
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
	names := slices.Sorted(maps.Keys(vandal{t: t, client: client, table: table}.get("C#"+c.ID.Position().String(), "C")))
	if want := []string{"PK", "SK", "e", "m"}; !slices.Equal(names, want) {
		t.Errorf("what stays has the attributes %v, want %v", names, want)
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
