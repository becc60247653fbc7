package dynamo

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
)

// alike are products with so many comments each, all with one rating and in one language.
func alike(t testing.TB, products, each, rating int) (out []comment.Comment) {
	r := commenttest.Rand(t)
	for p := range products {
		for range each {
			c := commenttest.Random(r, fmt.Sprint("product-", p))
			c.Rating, c.Language = rating, "de"
			out = append(out, c)
		}
	}
	return out
}

// newestPage is a query for the newest comments of a product.
func newestPage(product string, size int, filter comment.Filter) comment.Query {
	return comment.Query{Product: product, Filter: filter, Order: comment.NewestFirst, Slice: comment.Slice{Size: size}}
}

// What a page tells of products depends on what was read for it: the whole product or a part of it,
// and comments as they come or chosen ones.
func TestPagesTeach(t *testing.T) {
	const products, each = 40, 5
	whole := comment.Filter{}
	since := time.UnixMilli(1)
	for _, row := range []struct {
		why                string
		size               int
		filter             comment.Filter
		ratings, languages bool // whether it is learnt how they mix
		numbers            bool // whether it is learnt how many comments products have
	}{
		{"a page that holds the product tells all", 10, whole, true, true, true},
		{"a page of a part tells of more behind it", 2, whole, true, true, true},
		{"comments chosen by rating do not tell how ratings mix", 10, comment.Filter{Ratings: []int{1, 2}}, false, true, false},
		{"comments chosen by language do not tell how languages mix", 10, comment.Filter{Languages: []comment.Language{"de"}}, true, false, false},
		{"a part of the time does not tell how many there are", 10, comment.Filter{CreatedAfter: &since}, true, true, false},
	} {
		store := NewStore(&warehouse{comments: alike(t, products, each, 2)}, "comments")
		before, narrow := store.learner.Prior(), planner.Known{Stats: comment.Stats{"de": {1, each, 0, 0, 0}, "en": {0, 0, 0, 0, 1e6}}}
		for p := range products {
			q := newestPage(fmt.Sprint("product-", p), row.size, row.filter)
			if _, err := store.answer(t.Context(), q, keyOf(q), narrow); err != nil {
				t.Fatal(err)
			}
		}
		after := store.learner.Prior()
		if got := after.Products[0] < before.Products[0]-0.05; got != row.numbers {
			t.Errorf("%s: the shares of products are learnt to be %.2f", row.why, after.Products)
		}
		if class := planner.SizeClass(each); row.numbers && row.size > each && after.Products[class] < 0.5 {
			t.Errorf("%s: products of %d comments are learnt to be %.2f", row.why, each, after.Products[class])
		}
		if got := after.Ratings[1] > 0.2; got != row.ratings {
			t.Errorf("%s: ratings are learnt to be %.2f", row.why, after.Ratings)
		}
		if got := after.Languages["de"] > 0.4; got != row.languages {
			t.Errorf("%s: languages are learnt to be %v", row.why, after.Languages)
		}
	}
}

// A fixed prior is what plans are made by. What is known of a large product is handed to them until
// its counts are.
func TestWhatPlansAreTold(t *testing.T) {
	store := NewStore(&warehouse{}, "comments")
	if store.known(newestPage("p", 1, comment.Filter{})).Prior != store.learner.Prior() {
		t.Error("plans are not told what was learnt")
	}
	fixed := &planner.Prior{}
	store.UsePrior(fixed)
	if store.known(newestPage("p", 1, comment.Filter{})).Prior != fixed {
		t.Error("plans are not told the fixed prior")
	}
	store.learner.Lead("p", 4000)
	if hint := store.known(newestPage("p", 1, comment.Filter{})).Hint; hint.Comments < 4000 || hint.Ratings[4] < 100 {
		t.Errorf("plans are told %v of a product that leads", hint)
	}
	store.UseStatistics(nil, 0)
	store.memory.shown("p", comment.Stats{"de": {1, 0, 0, 0, 4000}})
	if known := store.known(newestPage("p", 1, comment.Filter{})); known.Hint != (planner.Hint{}) || known.Stats == nil {
		t.Errorf("plans are told %v beside the counts", known.Hint)
	}
}

// slowFirst is a table whose first read takes so long that the product's statistics, which were
// asked for beside the page, are there before it ends.
type slowFirst struct {
	*warehouse
	during func()
}

func (s slowFirst) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if s.calls.Load() == 0 {
		s.during()
	}
	return s.warehouse.Query(ctx, in, options...)
}

// Statistics that come while the first wave of a cold page is under way plan the second.
func TestStatisticsThatComeMeanwhilePlanTheSecondWave(t *testing.T) {
	comments := alike(t, 1, 400, 5)
	for i := range 3 {
		comments[200+i].Rating = 1 + i
	}
	stats := comment.Stats{"de": {1, 1, 1, 0, 397}}
	for _, row := range []struct {
		during func(*Store)
		want   bool
	}{
		{func(*Store) {}, false},
		{func(s *Store) { s.memory.shown("product-0", stats) }, true},
	} {
		table := slowFirst{warehouse: &warehouse{comments: comments}}
		store := NewStore(&table, "comments")
		table.during = func() { row.during(store) }
		store.UseStatistics(nil, 0)
		store.UsePrior(planner.DefaultPrior())
		page, err := store.Comments(t.Context(), newestPage("product-0", 20, comment.Filter{Ratings: []int{1, 2, 3, 4}}))
		if err != nil || len(page.Comments) != 3 {
			t.Fatalf("%d comments, %v", len(page.Comments), err)
		}
		last := page.Plan().Reads[len(page.Plan().Reads)-1]
		if got := last.Limit == 1; page.Plan().Waves != 2 || last.PartitionKey != "P#product-0/4" || got != row.want {
			t.Errorf("it is known that no comment has four stars: %t, want %t:\n%s", got, row.want, page.Plan().Summary())
		}
	}
}
