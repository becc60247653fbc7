package dynamo_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/usage"
)

// ofCustomers returns comments of three customers and an imported author about five products, in
// all states, newest first.
func ofCustomers(r *rand.Rand, count int) []comment.Comment {
	reason := comment.Spam
	comments := make([]comment.Comment, count)
	for i := range comments {
		c := commenttest.Random(r, string('a'+rune(r.IntN(5))))
		c.Author.ID, c.Author.Imported = string('1'+rune(r.IntN(3))), r.IntN(10) == 0
		c.Status = comment.Status(r.IntN(4))
		if c.Moderation = nil; c.Status == comment.Rejected {
			c.Moderation = &comment.Moderation{Reason: &reason}
		}
		comments[i] = c
	}
	slices.SortFunc(comments, func(a, b comment.Comment) int { return cmp.Compare(b.ID, a.ID) })
	return comments
}

// own returns the IDs of a customer's comments in one state, or in all if status is nil.
func own(comments []comment.Comment, customer string, status *comment.Status) (ids []comment.ID) {
	for _, c := range comments {
		if !c.Author.Imported && c.Author.ID == customer && (status == nil || c.Status == *status) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Paging through a customer's comments returns each of them once, in the order of a list in memory:
// in every state or in one, with any page size, also beside deleted comments.
func TestOwnComments(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		comments := ofCustomers(r, 200)
		client, table := filledTable(t, endpoint, comments)
		store := dynamo.NewStore(client, table, dynamo.Options{})
		for range 20 {
			i := r.IntN(len(comments))
			must.Do(t, store.Delete(t.Context(), comments[i]))
			comments = slices.Delete(comments, i, i+1)
		}
		for range 15 {
			q := comment.OwnQuery{Customer: string('1' + rune(r.IntN(4))), Size: 1 + r.IntN(comment.MaxPageSize), WithoutText: r.IntN(2) == 0}
			if status := comment.Status(r.IntN(4)); r.IntN(2) == 0 {
				q.Status = &status
			}
			want := own(comments, q.Customer, q.Status)
			var got []comment.ID
			for more := true; more; {
				page, err := store.OwnComments(t.Context(), q)
				if err != nil || len(page.Comments) > q.Size || page.HasNext && page.End == nil {
					t.Fatalf("%+v: %d comments, %v", q, len(page.Comments), err)
				}
				for _, c := range page.Comments {
					if got = append(got, c.ID); q.WithoutText != (c.Text == "") && c.Text != "" {
						t.Errorf("%s has a text that was not asked for", c.ID)
					}
				}
				q.After, more = page.End, page.HasNext
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: %v, want %v", q, got, want)
			}
		}
	})
}

// A deleted comment whose entry is still in the index is left out. The page continues after it.
func TestOwnCommentsThatAreGone(t *testing.T) {
	comments := ofCustomers(commenttest.Rand(t), 9)
	for i := range comments {
		comments[i].Author = comment.Author{ID: "1", Name: "Ada"}
	}
	client, table := filledTable(t, dynamotest.Dynoxide(t), comments)
	must.Get(client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: layout.CommentKey(comments[1].ID),
		UpdateExpression: aws.String("SET e = :now"), ExpressionAttributeValues: layout.Item{":now": layout.Number(1)},
		ConditionExpression: aws.String("attribute_exists(PK)"),
	}))(t)
	store := dynamo.NewStore(client, table, dynamo.Options{})
	page, err := store.OwnComments(t.Context(), comment.OwnQuery{Customer: "1", Size: 2})
	if err != nil || len(page.Comments) != 1 || page.Comments[0].ID != comments[0].ID || !page.HasNext {
		t.Fatalf("%+v, %v", page, err)
	}
	next, err := store.OwnComments(t.Context(), comment.OwnQuery{Customer: "1", Size: 2, After: page.End})
	if err != nil || len(next.Comments) != 2 || next.Comments[0].ID != comments[2].ID {
		t.Errorf("%+v, %v", next, err)
	}
	last, err := store.OwnComments(t.Context(), comment.OwnQuery{Customer: "1", Size: 5, After: next.End})
	if err != nil || len(last.Comments) != 5 || last.HasNext {
		t.Errorf("the last five: %+v, %v", last, err)
	}
}

// A page costs as much as its price says.
func TestOwnCommentsCost(t *testing.T) {
	comments := ofCustomers(commenttest.Rand(t), 150)
	for i := range comments {
		comments[i].Author, comments[i].Status, comments[i].Moderation = comment.Author{ID: "1", Name: "Ada"}, comment.Approved, nil
	}
	client, table := filledTable(t, dynamotest.Dynoxide(t), comments)
	pending, approved := comment.Pending, comment.Approved
	for _, row := range []struct {
		why   string
		query comment.OwnQuery
		want  float64
	}{
		{"a page of 20: half a unit for the keys, one for each comment", comment.OwnQuery{Size: 20}, 20.5},
		{"one in a state that all have: comments are read by 25", comment.OwnQuery{Size: 20, Status: &approved}, 0.5 + 25},
		{"one in a state that none has: 101 keys have less than 4 KB", comment.OwnQuery{Size: 20, Status: &pending}, 100.5},
	} {
		row.query.Customer = "1"
		account := usage.NewPool(1 << 30).Open(1 << 30)
		must.Get(dynamo.NewStore(client, table, dynamo.Options{}).OwnComments(usage.With(t.Context(), account), row.query))(t)
		if got := account.Units(); got != row.want {
			t.Errorf("%s: %v units, want %v", row.why, got, row.want)
		}
		if price := dynamo.OwnUnits(row.query.Size, row.query.Status != nil); price < row.want {
			t.Errorf("%s: a price of %v units, want %v", row.why, price, row.want)
		}
	}
}

// A page of large comments ends when it has cost its bound, in one state too, and the next one goes
// on there.
func TestOwnCommentsThatAreLarge(t *testing.T) {
	r := commenttest.Rand(t)
	comments := ofCustomers(r, 90)
	for i := range comments {
		text := make([]byte, 110<<10)
		for j := range text {
			text[j] = byte('0' + r.IntN(64))
		}
		comments[i].Author, comments[i].Status, comments[i].Moderation = comment.Author{ID: "1", Name: "Ada"}, comment.Approved, nil
		comments[i].Text = string(text)
	}
	client, table := filledTable(t, dynamotest.Dynoxide(t), comments)
	store := dynamo.NewStore(client, table, dynamo.Options{})
	for _, status := range []*comment.Status{nil, new(comment.Approved)} {
		q, read := comment.OwnQuery{Customer: "1", Size: 90, Status: status, WithoutText: true}, 0
		for more := true; more; {
			account := usage.NewPool(1 << 30).Open(1 << 30)
			page := must.Get(store.OwnComments(usage.With(t.Context(), account), q))(t)
			largest := 24.0 // units of a comment; a call reads 25
			if most := layout.BoundFactor*dynamo.OwnUnits(q.Size, false) + layout.LargestCall + 25*largest; account.Units() > most || len(page.Comments) == 0 {
				t.Fatalf("%d comments for %v units, want some for %v at most", len(page.Comments), account.Units(), most)
			}
			read += len(page.Comments)
			q.After, more = page.End, page.HasNext
		}
		if read != len(comments) {
			t.Errorf("%d comments on all pages, want %d", read, len(comments))
		}
	}
}

// The newest comment of a customer about each product equals that of the list in memory, also when
// many products are asked for together.
func TestOwnOfProducts(t *testing.T) {
	r := commenttest.Rand(t)
	comments := ofCustomers(r, 120)
	client, table := filledTable(t, dynamotest.Dynoxide(t), comments)
	for _, customer := range []string{"1", "2", "3", "nobody"} {
		want := map[comment.CustomerProduct]comment.ID{}
		var keys []comment.CustomerProduct
		for _, product := range []string{"a", "c", "e", "unknown"} {
			key := comment.CustomerProduct{Customer: customer, Product: product}
			keys = append(keys, key)
			at := slices.IndexFunc(comments, func(c comment.Comment) bool {
				return c.ProductID == product && c.Author.ID == customer && !c.Author.Imported
			})
			if at >= 0 {
				want[key] = comments[at].ID
			}
		}
		found, err := dynamo.NewStore(client, table, dynamo.Options{}).OwnOfProducts(t.Context(), keys)
		if err != nil || len(found) != len(want) {
			t.Fatalf("%d found, want %d, %v", len(found), len(want), err)
		}
		for key, c := range found {
			if c.ID != want[key] {
				t.Errorf("%v: %s, want %s", key, c.ID, want[key])
			}
		}
	}
}
