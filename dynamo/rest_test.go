package dynamo

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// rareTable is a product of 400 comments, nearly all with three stars.
func rareTable(t *testing.T) *warehouse {
	r := commenttest.Rand(t)
	s := &warehouse{comments: commenttest.Many(r, "42", 400)}
	for i := range s.comments {
		s.comments[i].Language, s.comments[i].Rating = "en", 3
		if i%16 == 0 {
			s.comments[i].Rating = 1 + i/16%2
		}
	}
	slices.SortFunc(s.comments, func(a, b comment.Comment) int { return cmp.Compare(b.ID, a.ID) })
	return s
}

// If a product turns out to be large, with few of the wanted comments, the second wave reads
// partitions that hold nothing else, starting below the first wave. Nothing is read twice.
func TestSecondWaveFollowsTheFirst(t *testing.T) {
	s := rareTable(t)
	filter := comment.Filter{Ratings: []int{1, 2}}
	q := comment.Query{Product: "42", Filter: filter, Order: comment.NewestFirst, Slice: comment.Slice{Size: 10}}
	store := NewStore(s, "comments", Options{})
	page := must.Get(store.Comments(t.Context(), q))(t)
	want := commenttest.NewModel(s.comments...).List("42", filter, q.Order)[:10]
	if !slices.EqualFunc(want, page.Comments, func(a, b comment.Comment) bool { return a.ID == b.ID && a.Text == b.Text }) {
		t.Errorf("shown are %v, want %v", page.Comments, want)
	}
	whole, byRating := 0, 0
	for _, read := range page.Plan().Reads {
		switch layout.Index(read.Index) {
		case layout.All:
			whole++
		case layout.ByRating:
			byRating++
			if read.SortKeyTo == nil {
				t.Errorf("%s is read from its beginning", read.PartitionKey)
			}
		}
	}
	if page.Plan().Waves != 2 || page.Plan().Queries != 3 || whole != 1 || byRating != 2 {
		t.Errorf("want the whole product, then two ratings\n%s", page.Plan().Summary())
	}
}

// A comment that an edit moves between two ratings cannot be missed where the first wave read the
// whole product. Below, where the ratings were read, it can.
func TestMovesBelowTheFirstWave(t *testing.T) {
	s := rareTable(t)
	list := planner.Planner{Product: "42", Filter: comment.Filter{Ratings: []int{1, 2}}}
	w := windowOf(comment.Query{Order: comment.NewestFirst})
	r := NewStore(s, "comments", Options{}).newRun(t.Context(), boundless(), list.Take(planner.Request{Window: w, Purpose: comment.ReadPage, Want: 11}))
	r.most = 100
	taken, err := r.take(t.Context())
	if err != nil || len(taken) != 11 || len(r.plans) != 2 {
		t.Fatalf("%d comments by %d plans, %v", len(taken), len(r.plans), err)
	}
	for _, row := range []struct {
		why  string
		at   int
		want bool
	}{{"within the first wave", 2, true}, {"below it", len(s.comments) / 3, false}} {
		m := movedComment{}.after(move{position: s.comments[row.at].ID.Position(), from: comment.Cell{Language: "en", Rating: 1}, to: comment.Cell{Language: "en", Rating: 2}, version: 2})
		if absent := missing(r.plan, r.readAt, []movedComment{m}, nil, nil); len(absent) == 0 != row.want {
			t.Errorf("%s: %v is looked for", row.why, absent)
		}
	}
}

// slowFirst is a table whose first read is so slow that the product's statistics, requested beside
// the page, arrive before it ends.
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

// Statistics that arrive during the first wave of a cold page plan the second wave.
func TestStatisticsThatComeMeanwhilePlanTheSecondWave(t *testing.T) {
	comments := commenttest.Many(commenttest.Rand(t), "product-0", 400)
	for i := range comments {
		comments[i].Rating, comments[i].Language = 5, "de"
	}
	for i := range 3 {
		comments[200+i].Rating = 1 + i
	}
	stats := comment.Stats{"de": {Counts: comment.Counts{1, 1, 1, 0, 397}}}
	for _, row := range []struct {
		during func(*Store)
		want   bool
	}{
		{func(*Store) {}, false},
		{func(s *Store) { s.memory.learnFromAnswer("product-0", stats) }, true},
	} {
		table := slowFirst{warehouse: &warehouse{comments: comments}}
		store := NewStore(&table, "comments", Options{Watermark: (*leases.Leases)(nil)})
		table.during = func() { row.during(store) }
		page, err := store.Comments(t.Context(), comment.Query{
			Product: "product-0", Filter: comment.Filter{Ratings: []int{1, 2, 3, 4}}, Order: comment.NewestFirst, Slice: comment.Slice{Size: 20},
		})
		if err != nil || len(page.Comments) != 3 {
			t.Fatalf("%d comments, %v", len(page.Comments), err)
		}
		last := page.Plan().Reads[len(page.Plan().Reads)-1]
		if got := last.Limit == 1; page.Plan().Waves != 2 || last.PartitionKey != "P#product-0/4" || got != row.want {
			t.Errorf("it is known that no comment has four stars: %t, want %t:\n%s", got, row.want, page.Plan().Summary())
		}
	}
}
