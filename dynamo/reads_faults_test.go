package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// Whatever happens to one of its answers, a page is complete and has each comment once.
func TestPagesThroughEveryFault(t *testing.T) {
	r := commenttest.Rand(t)
	client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
	model := commenttest.NewModel()
	for range 40 {
		c := commenttest.Nasty(r, "42")
		model.Insert(c)
		must.Get(dynamo.NewStore(client, table, dynamo.Options{}).Add(t.Context(), c, ""))(t)
	}
	filter := comment.Filter{Ratings: []int{1, 5}}
	want := model.List("42", filter, comment.NewestFirst)
	for _, fault := range faulttest.Kinds {
		for n := 1; n <= 2; n++ {
			faulty, _ := faulttest.Under(client, faulttest.Nth(n, fault))
			store := dynamo.NewStore(faulty, table, dynamo.Options{})
			page, err := store.Comments(t.Context(), comment.Query{Product: "42", Filter: filter, Order: comment.NewestFirst, Slice: comment.Slice{Size: 100}})
			if err != nil {
				t.Errorf("call %d, %s: %v", n, fault, err)
				continue
			}
			if diff := cmp.Diff(want, page.Comments); diff != "" || page.HasNext {
				t.Errorf("call %d, %s: more: %v, comments that were written (-) and read (+) differ:\n%s", n, fault, page.HasNext, diff)
			}
		}
		checkByID(t, client, table, fault, model.All())
	}
}

// checkByID fetches comments by ID while the first call meets a fault.
func checkByID(t *testing.T, client *dynamodb.Client, table string, fault faulttest.Fault, want []comment.Comment) {
	t.Helper()
	var ids []comment.ID
	for _, c := range want {
		ids = append(ids, c.ID)
	}
	faulty, _ := faulttest.Under(client, faulttest.Nth(1, fault))
	found, _, err := dynamo.NewStore(faulty, table, dynamo.Options{}).CommentsByID(t.Context(), ids, false)
	if err != nil {
		t.Errorf("by id, %s: %v", fault, err)
		return
	}
	for _, c := range want {
		check.Equal(t, c, found[c.ID], "by id,", fault)
	}
}
