package dynamo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/usage"
)

var oneEach = Options{OnePerCustomer: true}

// NewTable returns a client, and the name of an empty table.
func NewTable(t *testing.T, endpoint string) (*dynamodb.Client, string) {
	t.Helper()
	client, table := call.NewLocalClient(endpoint), dynamotest.TableName(t)
	must.Do(t, CreateTable(t.Context(), client, table))
	return client, table
}

// byAda returns a new comment of one customer, with an ID of its own.
func byAda(r *rand.Rand, product, text string) comment.Comment {
	c := commenttest.Random(r, product)
	return comment.Comment{ID: c.ID, ProductID: product, Rating: 4, Language: "en", Text: text, Author: comment.Author{ID: "ada", Name: "Ada"}, Version: 1}
}

// earlierOf returns the earlier comment of the customer that an error names, or an empty ID.
func earlierOf(err error) comment.ID {
	known, _ := errors.AsType[*comment.Error](err)
	if known == nil || known.Kind != comment.AlreadyWritten {
		return ""
	}
	return comment.ID(known.Earlier)
}

// existing returns the IDs of the customer's comments about the product.
func existing(t *testing.T, store *Store, product string) (ids []comment.ID) {
	t.Helper()
	page := must.Get(store.OwnComments(t.Context(), comment.OwnQuery{Customer: "ada", Size: comment.MaxPageSize}))(t)
	for _, c := range page.Comments {
		if c.ProductID == product {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// A customer has one comment about a product, in whatever state. If it is sent again, the answer is
// that comment, as it is now. Other words are refused with the ID of the first. After a delete the
// customer can write another, even if the delete ended half-way.
func TestOneCommentForEachCustomer(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := NewTable(t, endpoint)
		r := commenttest.Rand(t)
		store, careless := NewStore(client, table, oneEach), NewStore(client, table, Options{})
		first := byAda(r, "p", "first")
		mustAdd := func(c comment.Comment) {
			t.Helper()
			if got, err := store.Add(t.Context(), c, ""); err != nil || got.ID != c.ID {
				t.Fatalf("%s: %v", got.ID, err)
			}
		}
		refused := func(why string, by comment.ID) {
			t.Helper()
			c := byAda(r, "p", "second")
			if _, err := store.Add(t.Context(), c, "a key changes nothing"); earlierOf(err) != by {
				t.Errorf("%s: %v, want a refusal for %s", why, err, by)
			}
		}
		mustAdd(first)
		mustAdd(byAda(r, "q", "first"))
		other := byAda(r, "p", "first")
		other.Author.ID = "bo"
		mustAdd(other)
		refused("a second one", first.ID)

		spam, at := comment.Spam, first.CreatedAt()
		for _, state := range []comment.Status{comment.Pending, comment.Rejected, comment.Withdrawn, comment.Approved} {
			after := first
			after.Text, after.Version, after.UpdatedAt, after.Status = fmt.Sprint("edited, ", state), first.Version+1, &at, state
			switch after.Moderation = nil; state {
			case comment.Withdrawn:
				after.Moderation = &comment.Moderation{}
			case comment.Pending:
				after.Moderation = &comment.Moderation{Held: []comment.HoldReason{comment.HeldLink}, Since: at}
			case comment.Rejected:
				after.Moderation = &comment.Moderation{Reason: &spam}
			}
			must.Do(t, store.Replace(t.Context(), first, after))
			refused(state.String(), first.ID)
			got, err := store.Add(t.Context(), byAda(r, "p", "first"), "")
			after.Mark = got.Mark // which Replace chose
			if diff := cmp.Diff(after, got); err != nil || diff != "" {
				t.Errorf("sent again while it is %s: %v\n%s", state, err, diff)
			}
			first = after
		}

		must.Do(t, store.Delete(t.Context(), first))
		if it, err := store.firstAt(t.Context(), layout.OneKey(comment.CustomerProduct{Customer: "ada", Product: "p"})); err != nil || it.id != "" {
			t.Errorf("a delete leaves the item of %s, %v", it.id, err)
		}
		second := byAda(r, "p", "first")
		mustAdd(second)
		must.Do(t, careless.Delete(t.Context(), second))
		third := byAda(r, "p", "third")
		mustAdd(third)
		refused("after another took over", third.ID)
		store.release(t.Context(), second) // as the delete that ended half-way would
		if it, err := store.firstAt(t.Context(), layout.OneKey(comment.CustomerProduct{Customer: "ada", Product: "p"})); err != nil || it.id != third.ID {
			t.Errorf("a late delete leaves the item of %q, %v", it.id, err)
		}
	})
}

// Comments without an item count too: those written before the flag was set, and imported ones.
// Sending one of them again gives the same comment.
func TestCommentsFromBeforeOneForEachCustomer(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := NewTable(t, endpoint)
		r, before, store := commenttest.Rand(t), NewStore(client, table, Options{}), NewStore(client, table, oneEach)
		for _, product := range []string{"a", "b", "c"} {
			must.Get(before.Add(t.Context(), byAda(r, product, "from before"), ""))(t)
		}
		imported := byAda(r, "d", "from before")
		must.Get(NewLoader(client, table, 0).Load(t.Context(), []comment.Comment{imported}))(t)
		for _, product := range []string{"a", "d"} {
			there := existing(t, store, product)
			if _, err := store.Add(t.Context(), byAda(r, product, "another"), ""); earlierOf(err) != there[0] {
				t.Errorf("another about %s: %v", product, err)
			}
			if got, err := store.Add(t.Context(), byAda(r, product, "from before"), ""); err != nil || got.ID != there[0] {
				t.Errorf("the same about %s: %s, %v", product, got.ID, err)
			}
		}
		must.Do(t, store.Delete(t.Context(), imported))
		if _, err := store.Add(t.Context(), byAda(r, "d", "another"), ""); err != nil {
			t.Errorf("after the delete: %v", err)
		}
	})
}

// The answer of an add is lost. Before the retry, the comment is deleted, and perhaps the customer
// writes another. The add reports success, and its comment stays deleted.
func TestOnlyAddThatWasDeletedMeanwhile(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := NewTable(t, endpoint)
		r, healthy := commenttest.Rand(t), NewStore(client, table, oneEach)
		for _, another := range []bool{false, true} {
			c, want, tries := byAda(r, fmt.Sprint(another), "words"), 0, 0
			faulty, _ := faulttest.Under(client, faulttest.Nth(2, faulttest.AnswerLost)) // the first call reads
			hooked := faulttest.Before(faulty, "TransactWriteItems", func() {
				if tries++; tries != 2 {
					return
				}
				err := healthy.Delete(t.Context(), c)
				if another {
					_, added := healthy.Add(t.Context(), byAda(r, c.ProductID, "others"), "")
					err, want = errors.Join(err, added), 1
				}
				must.Do(t, err)
			})
			if got, err := NewStore(hooked, table, oneEach).Add(t.Context(), c, ""); err != nil || got.ID != c.ID || tries != 2 {
				t.Errorf("another written: %v: %s, %v after %d tries", another, got.ID, err, tries)
			}
			if ids := existing(t, healthy, c.ProductID); len(ids) != want {
				t.Errorf("another written: %v: %v are there", another, ids)
			}
		}
	})
}

// An add reads the keys of the customer's earlier comments, and each of these comments, up to a
// hundred.
func TestOnlyAddReads(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	r, store := commenttest.Rand(t), NewStore(client, table, oneEach)
	written := 0
	for _, row := range []struct {
		earlier int
		want    float64
	}{{0, 0.5}, {3, 3.5}, {120, 100.5}} {
		var earlier []comment.Comment
		for ; written < row.earlier; written++ {
			earlier = append(earlier, byAda(r, fmt.Sprint("product ", written), "words"))
		}
		must.Get(NewLoader(client, table, 0).Load(t.Context(), earlier))(t)
		account := usage.NewPool(1 << 30).Open(1 << 30)
		must.Get(store.Add(usage.With(t.Context(), account), byAda(r, fmt.Sprint("after ", written), "words"), ""))(t)
		written++
		if got := account.Units(); got != row.want {
			t.Errorf("beside %d comments: %v read units, want %v", row.earlier, got, row.want)
		}
	}
}

// The item is in no index and reveals neither the customer, nor the product, nor any words. A
// delete removes it, even beside a comment that was damaged by hand.
func TestItemOfOneForEachCustomer(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	store, c := NewStore(client, table, oneEach), byAda(commenttest.Rand(t), "a product", "some words")
	checkHidden(t, store.putOne(c, comment.CustomerProduct{Customer: "ada", Product: "a product"}, "").Put.Item, "ada", "product", "words")
	must.Get(store.Add(t.Context(), c, ""))(t)
	must.Get(client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: layout.CommentKey(c.ID), ConditionExpression: aws.String("attribute_exists(PK)"),
		UpdateExpression: aws.String("REMOVE r"),
	}))(t)
	if _, err := store.Add(t.Context(), byAda(commenttest.Rand(t), "a product", "some words"), ""); earlierOf(err) != c.ID {
		t.Errorf("beside a damaged comment: %v", err)
	}
}
