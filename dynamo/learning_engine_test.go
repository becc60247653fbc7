package dynamo_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/wait"
	"github.com/talkback/talkback/stream"
)

// What one process learns is in the table for the next, in an item that nothing else takes for one
// of its own.
func TestWhatIsLearntOutlivesTheProcess(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		const products = 30
		r := commenttest.Rand(t)
		var comments []comment.Comment
		for p := range products {
			for range 3 {
				c := commenttest.Random(r, fmt.Sprint("product-", p))
				c.Language = "de"
				comments = append(comments, c)
			}
		}
		client, table := filledTable(t, endpoint, comments)
		process := func(work func(ctx context.Context, store *dynamo.Store) error) {
			t.Helper()
			store := dynamo.NewStore(client, table)
			err := store.KeepPrior(t.Context(), slog.New(slog.NewTextHandler(t.Output(), nil)), func(ctx context.Context) error { return work(ctx, store) })
			if err != nil {
				t.Error(err)
			}
		}
		process(func(ctx context.Context, store *dynamo.Store) error {
			dynamo.Teach(store, "large", comment.Stats{"de": {500, 0, 0, 0, 500}})
			for p := range products {
				if _, err := store.Comments(ctx, newestOf(fmt.Sprint("product-", p))); err != nil {
					return err
				}
			}
			return nil
		})
		process(func(ctx context.Context, store *dynamo.Store) error {
			if awaitPrior(t, store); dynamo.PriorOf(store).Learnt != products+1 {
				t.Errorf("learnt from %d products, want %d", dynamo.PriorOf(store).Learnt, products+1)
			}
			if hint := dynamo.HintOf(store, "large"); hint.Comments < 900 || hint.Ratings[0] == 0 {
				t.Errorf("a large product is known as %v", hint)
			}
			return nil
		})
		scanned, err := collect(t, dynamo.NewScanner(client, table, 1).All(t.Context()))
		if len(scanned) != len(comments) || err != nil {
			t.Errorf("an export has %d of %d comments, %v", len(scanned), len(comments), err)
		}
		if _, err := counts.NewRebuilder(client, table, 0).Run(t.Context(), func(counts.RebuildProgress) {}); err != nil {
			t.Error(err)
		}
		found, err := counts.NewVerifier(client, table, 0).Run(t.Context(), func(int) {})
		if found.Products != products || len(found.Drifts)+len(found.Improper) > 0 || err != nil {
			t.Errorf("verified %d products, %v, %v, %v", found.Products, found.Drifts, found.Improper, err)
		}
		process(func(ctx context.Context, store *dynamo.Store) error { return store.Ready(ctx) })
	})
}

// The item alone does not make a table one with comments.
func TestWhatIsLearntIsNoComment(t *testing.T) {
	client, table := filledTable(t, dynamotest.Dynoxide(t), nil)
	store := dynamo.NewStore(client, table)
	err := store.KeepPrior(t.Context(), slog.New(slog.DiscardHandler), func(context.Context) error {
		for p := range 10 {
			dynamo.Teach(store, fmt.Sprint(p), comment.Stats{"de": {0, 0, 0, 0, 1}})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if any, err := dynamo.HasComments(t.Context(), client, table); any || err != nil {
		t.Errorf("comments: %t, %v", any, err)
	}
}

// Who counts learns how large comments are: as large as who reads them all does.
func TestCountingTeachesSizes(t *testing.T) {
	const products, each = 40, 20
	r := commenttest.Rand(t)
	var comments []comment.Comment
	var records []stream.Record
	for p := range products {
		for range each {
			c := commenttest.Large(r, fmt.Sprint("product-", p), 2000)
			comments = append(comments, c)
			records = append(records, stream.Record{Position: stream.Position(fmt.Sprintf("%06d", len(records))), Created: time.Now(), New: layout.Encode(c)})
		}
	}
	client, table := filledTable(t, dynamotest.Dynoxide(t), comments)
	counting, reading := dynamo.NewStore(client, table), dynamo.NewStore(client, table)
	counter := counts.NewCounter(client, table)
	counting.LearnOf(counter)
	if err := counter.Handle(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	for p := range products {
		if _, err := reading.Comments(t.Context(), newestOf(fmt.Sprint("product-", p))); err != nil {
			t.Fatal(err)
		}
	}
	counted, read := dynamo.PriorOf(counting).Sizes, dynamo.PriorOf(reading).Sizes
	if t.Logf("counted %.0f, read %.0f", counted, read); counted.Any.Mean < 0.9*read.Any.Mean || counted.Any.Mean > 1.1*read.Any.Mean {
		t.Errorf("who counts takes comments for %.0f bytes, and who reads them for %.0f", counted.Any.Mean, read.Any.Mean)
	}
}

func newestOf(product string) comment.Query {
	return comment.Query{Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: 20}}
}

// A new process plans by what the earlier one learnt: in a shop whose products have many comments
// and few bad ones, a cold page of bad ones costs less than by the default.
func TestAColdPageCostsLessByWhatWasLearnt(t *testing.T) {
	const compared, products, each = 3, 23, 50
	r := commenttest.Rand(t)
	var comments []comment.Comment
	for p := range products {
		for i := range each {
			c := commenttest.Large(r, fmt.Sprint("product-", p), 500)
			c.Language, c.Rating = "de", 5
			if i%25 == 0 {
				c.Rating = 1
			}
			comments = append(comments, c)
		}
	}
	client, table := filledTable(t, dynamotest.Dynoxide(t), comments)
	bad := func(ctx context.Context, store *dynamo.Store) (units float64) {
		t.Helper()
		for p := range compared {
			q := newestOf(fmt.Sprint("product-", p))
			q.Filter.Ratings = []int{1, 2, 3}
			page, err := store.Comments(ctx, q)
			if err != nil || len(page.Comments) != 2 {
				t.Fatalf("%d comments, %v", len(page.Comments), err)
			}
			units += page.Plan().ReadUnits
		}
		return units
	}
	silent := slog.New(slog.DiscardHandler)
	ignorant := dynamo.NewStore(client, table)
	ignorant.UsePrior(planner.DefaultPrior())
	byDefault := bad(t.Context(), ignorant)
	earlier, later := dynamo.NewStore(client, table), dynamo.NewStore(client, table)
	err := earlier.KeepPrior(t.Context(), silent, func(ctx context.Context) error {
		for p := compared; p < products; p++ {
			if _, err := earlier.Comments(ctx, newestOf(fmt.Sprint("product-", p))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = later.KeepPrior(t.Context(), silent, func(ctx context.Context) error {
		awaitPrior(t, later)
		learnt := bad(ctx, later)
		if t.Logf("%v read units by what was learnt, %v by the default", learnt, byDefault); learnt > 0.8*byDefault {
			t.Errorf("the pages cost %v read units by what was learnt, %v by the default", learnt, byDefault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// awaitPrior waits until a store has loaded what was saved.
func awaitPrior(t *testing.T, store *dynamo.Store) {
	t.Helper()
	for dynamo.PriorOf(store).Learnt == 0 {
		if err := wait.For(t.Context(), time.Millisecond); err != nil {
			t.Fatal("nothing was loaded")
		}
	}
}
