package dynamo_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/pageindex"
)

// toggling returns a store of comments with 1 or 5 stars. Before each of its queries an edit may
// toggle one of them, which pick chooses.
func toggling(t *testing.T, r *rand.Rand, options dynamo.Options, pick func([]comment.Comment) comment.Comment) (*dynamo.Store, []comment.Comment) {
	t.Helper()
	client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
	options.Knowledge = dynamo.RareEnds
	var toggled comment.Comment
	var store *dynamo.Store
	store = dynamo.NewStore(faulttest.Before(client, "Query", func() {
		if r.IntN(2) == 0 {
			after := toggled
			after.Rating, after.Version = 6-toggled.Rating, toggled.Version+1
			must.Do(t, store.Replace(context.Background(), toggled, after))
			toggled = after
		}
	}), table, options)
	comments := commenttest.Many(r, "42", 12)
	for i := range comments {
		comments[i].Rating = []int{1, 5}[i%2]
		must.Get(store.Add(t.Context(), comments[i], ""))(t)
	}
	toggled = pick(comments)
	return store, comments
}

// A comment that an edit toggles between 1 and 5 stars, between the reads of a page, is on each
// page of these two ratings.
func TestToggledCommentIsOnEachPage(t *testing.T) {
	r := commenttest.Rand(t)
	store, comments := toggling(t, r, dynamo.Options{}, func(all []comment.Comment) comment.Comment { return all[r.IntN(len(all))] })
	model := commenttest.NewModel(comments...)
	q := comment.Query{Product: "42", Filter: comment.Filter{Ratings: []int{1, 5}}, Order: comment.NewestFirst}
	lookups, extra := 0, 0.0
	const pages = 60
	for range pages {
		q.Slice.Size = 8 + r.IntN(5)
		page := must.Get(store.Comments(t.Context(), q))(t)
		want := model.List("42", q.Filter, q.Order)[:q.Slice.Size]
		same := slices.EqualFunc(want, page.Comments, func(a, b comment.Comment) bool { return a.ID == b.ID && a.Text == b.Text })
		if !same || page.HasNext != (q.Slice.Size < len(comments)) || page.HasPrevious {
			t.Errorf("%d comments, hasNextPage %t: want %d of %d\n%s", len(page.Comments), page.HasNext, q.Slice.Size, len(comments), page.Plan().Summary())
		}
		units, calls := page.Plan().ReadUnits, page.Plan().Queries
		for _, read := range page.Plan().Reads {
			units, calls = units-read.ReadUnits, calls-read.Queries
		}
		if calls > 0 != (page.Plan().Lookups > 0) {
			t.Errorf("%d calls beside the reads, for %d lookups", calls, page.Plan().Lookups)
		}
		lookups, extra = lookups+page.Plan().Lookups, extra+units
	}
	if lookups == 0 || extra != float64(lookups) {
		t.Errorf("%d comments fetched by id for %v units", lookups, extra)
	}
	t.Logf("%d comments fetched by id for %v units, of %d pages", lookups, extra, pages)
}

// A comment that moves while a page by number is read may end up before the page. The first comment
// of the page is then one of the page before, and it has its text too.
func TestToggledCommentInFrontOfAPage(t *testing.T) {
	r := commenttest.Rand(t)
	store, comments := toggling(t, r, dynamo.Options{PageNumbers: noIndex{}}, func(all []comment.Comment) comment.Comment {
		return slices.MaxFunc(all, func(a, b comment.Comment) int { return a.ID.Position().Compare(b.ID.Position()) })
	})
	texts := map[comment.ID]string{}
	for _, c := range comments {
		texts[c.ID] = c.Text
	}
	lookups := 0
	for range 40 {
		page, err := store.Comments(t.Context(), comment.Query{
			Product: "42", Filter: comment.Filter{Ratings: []int{1, 5}}, Order: comment.NewestFirst, Slice: comment.Slice{Size: 3, Page: 2},
		})
		must.Do(t, err)
		for _, c := range page.Comments {
			if c.Text != texts[c.ID] {
				t.Fatalf("comment %s has the text %q, want %q\n%s", c.ID, c.Text, texts[c.ID], page.Plan().Summary())
			}
		}
		lookups += page.Plan().Lookups
	}
	if lookups == 0 {
		t.Error("no comment was moved while a page was read")
	}
}

// noIndex is an index of page numbers that is down: pages near an end are read without it.
type noIndex struct{ pageindex.Index }

// editMissing edits a comment that was deleted, from one rating to another.
func editMissing(t *testing.T, store *dynamo.Store, before comment.Comment, from, to int) {
	t.Helper()
	before.Rating, before.Version = from, 1
	after := before
	after.Rating, after.Version = to, 2
	if err := store.Replace(t.Context(), before, after); comment.KindOf(err) != comment.NotFound {
		t.Fatal(err)
	}
}

// A comment that was edited and then deleted is looked up by ID. The plan includes the cost of the
// lookup, though it finds nothing.
func TestLookupOfWhatIsGone(t *testing.T) {
	client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
	store := dynamo.NewStore(client, table, dynamo.Options{Knowledge: dynamo.RareEnds})
	editMissing(t, store, commenttest.Random(commenttest.Rand(t), "42"), 1, 5)
	page, err := store.Comments(t.Context(), comment.Query{
		Product: "42", Filter: comment.Filter{Ratings: []int{1, 5}}, Order: comment.NewestFirst, Slice: comment.Slice{Size: 3},
	})
	if plan := page.Plan(); err != nil || len(page.Comments) > 0 || plan.Lookups != 1 || plan.Queries != 2+1 {
		t.Errorf("%v: %d comments, %d lookups, %d calls", err, len(page.Comments), plan.Lookups, plan.Queries)
	}
}

// A page fetches at most 25 moved comments by id, in all its reads together.
func TestLookupsOfAPage(t *testing.T) {
	client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
	store := dynamo.NewStore(client, table, dynamo.Options{Knowledge: dynamo.RareEnds})
	for i, c := range commenttest.Many(commenttest.Rand(t), "42", 150) {
		editMissing(t, store, c, 1+i%comment.MaxRating, comment.MaxRating-i%comment.MaxRating)
	}
	for _, order := range []comment.Order{comment.HighestRated, comment.LowestRated} {
		for _, slice := range []comment.Slice{{Size: 3}, {Size: 20, FromEnd: true}} {
			page := must.Get(store.Comments(t.Context(), comment.Query{Product: "42", Filter: comment.Filter{Ratings: []int{1, 2, 4, 5}}, Order: order, Slice: slice}))(t)
			if plan := page.Plan(); plan.Lookups != 25 {
				t.Errorf("%v, %+v: %d lookups, want 25\n%s", order, slice, plan.Lookups, plan.Summary())
			}
		}
	}
}
