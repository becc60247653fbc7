package dynamo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/usage"
)

// A fetch of comments by ID costs no more than promised, however large they are. Comments beyond
// the bound are errors. Fetched comments count as held memory, with their texts.
func TestCommentsByIDStayWithinTheirBound(t *testing.T) {
	r := commenttest.Rand(t)
	var comments []comment.Comment
	for range 60 {
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
		{"as assumed", comments[60:], false, true, 30},
		{"as assumed, without texts", comments[60:], true, true, 30},
		{"one large one", comments[:1], false, true, 68},
		{"many large ones", comments[:60], false, false, layout.BoundFactor*60 + 128 + 25*68},
		{"many large ones without texts", comments[:60], true, false, layout.BoundFactor*60 + 128 + 25*68},
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

// A comment that the operation has no memory left for is an error. The other comments are returned.
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
