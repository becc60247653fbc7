package dynamo

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// fetchable is a table whose comments can also be fetched by ID.
type fetchable struct{ warehouse }

// BatchGetItem implements client.
func (f *fetchable) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	var found []layout.Item
	for _, key := range in.RequestItems["comments"].Keys {
		for _, c := range f.comments {
			if c.ID == layout.IDOfKey(key) {
				found = append(found, layout.Encode(c))
			}
		}
	}
	return &dynamodb.BatchGetItemOutput{Responses: map[string][]layout.Item{"comments": found}}, nil
}

// Pages by number reach the first 1,024 comments with helpful votes, and all comments without.
// Deeper, the error recommends cursors. A page at a cursor there has no number, but has the number
// of pages.
func TestNumbersAmongHelpfulComments(t *testing.T) {
	comments := commenttest.Many(commenttest.Rand(t), "42", 1500)
	index, entries := conformance.NewModel(), []pageindex.Entry{}
	for i := range comments {
		if c := &comments[i]; i < 1200 {
			c.ImportedVotes.Helpful = 1 + i%7
			c.Votes = c.ImportedVotes
		}
		entries = append(entries, pageindex.Entry{Product: "42", Position: comments[i].ID.Position(), Cell: new(comments[i].Cell()), Follows: "1"})
	}
	must.Do(t, index.Apply(t.Context(), entries))
	model := commenttest.NewModel(comments...)
	list := model.List("42", comment.Filter{}, comment.MostHelpful)
	for _, known := range []planner.Knowledge{{}, {Stats: model.Stats("42"), AsOf: time.Now(), Trusted: true}, {Stats: model.Stats("42")}} {
		store := NewStore(&fetchable{warehouse{comments: comments}}, "comments", Options{PageNumbers: index, Knowledge: func(comment.Query) planner.Knowledge { return known }})
		for page, deep := range map[int]bool{1: false, 10: false, 51: false, 53: true, 58: true, 61: false, 75: false} {
			q := comment.Query{Product: "42", Order: comment.MostHelpful, Slice: comment.Slice{Size: 20, Page: page}}
			got, err := store.Comments(t.Context(), q)
			if deep {
				if comment.KindOf(err) != comment.BadInput || !strings.Contains(err.Error(), "cursors") {
					t.Errorf("page %d: %v", page, err)
				}
				continue
			}
			if err != nil || len(got.Comments) != 20 || got.Comments[0].ID != list[20*(page-1)].ID {
				t.Fatalf("page %d: %v, %d comments", page, err, len(got.Comments))
			}
		}
		for rank, number := range map[int]int{500: 26, 1100: 0, 1220: 62} {
			q := comment.Query{Product: "42", Order: comment.MostHelpful, Slice: comment.Slice{Size: 20, After: new(comment.MostHelpful.PlaceOf(list[rank-1]))}}
			q.Numbering = comment.Numbering{Count: true, Number: true}
			got, err := store.Comments(t.Context(), q)
			if err != nil || got.Comments[0].ID != list[rank].ID || got.Numbered.Pages != 75 || (got.Numbered.Unknown != nil) != (number == 0) || number > 0 && got.Numbered.Page != number {
				t.Errorf("behind %d comments: %v, %+v", rank, err, got.Numbered)
			}
		}
	}
}
