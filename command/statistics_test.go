package command_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// change is one change of a comment: nil before its creation, and after its deletion.
type change struct{ before, after *comment.Comment }

// records returns the records of changes in the stream.
func (a *api) records(changes []change) []stream.Record {
	records := make([]stream.Record, len(changes))
	for i, c := range changes {
		a.sequence++
		position := stream.PositionOf("2024-05-01T00:00:00.000", fmt.Sprint(a.sequence))
		records[i] = stream.Record{Position: position, Created: time.Now(), Old: image(c.before), New: image(c.after)}
	}
	return records
}

// count counts the changes, as if the stream delivered them.
func (a *api) count(changes ...change) {
	a.tb.Helper()
	records := a.records(changes)
	counter := counts.NewCounter(a.session.Client, a.session.Table, counts.CounterOptions{})
	err := counter.Handle(context.Background(), records)
	for tries := 1; comment.KindOf(err) == comment.Timeout && tries < 5; tries++ { // DynamoDB Local is slow beside other tests
		err = counter.Handle(context.Background(), records)
	}
	must.Do(a.tb, err)
}

// image is the item of a comment in a record; nil if there is none.
func image(c *comment.Comment) layout.Item {
	if c == nil {
		return nil
	}
	return layout.Encode(*c)
}

func arrived(comments ...comment.Comment) []change {
	changes := make([]change, len(comments))
	for i := range comments {
		changes[i] = change{after: &comments[i]}
	}
	return changes
}

// statsShown are statistics as an answer shows them.
type statsShown struct {
	Total   int
	Average *float64
	Ratings []comment.RatingCount
}

// statsOf counts comments one by one.
func statsOf(comments []comment.Comment) statsShown {
	shown := statsShown{Total: len(comments)}
	stars := 0
	for rating := comment.MaxRating; rating >= 1; rating-- {
		row := comment.RatingCount{Rating: rating}
		for _, c := range comments {
			if c.Rating == rating {
				row.Count++
				stars += rating
			}
		}
		shown.Ratings = append(shown.Ratings, row)
	}
	if len(comments) > 0 {
		shown.Average = new(float64(stars) / float64(len(comments)))
	}
	return shown
}

const statsFields = `{ total average ratings { rating count } }`

// checkStats compares a product's counts with those of all its comments. It draws from all sets of
// ratings and several sets of languages, and now and then adds a range of dates.
func (a *api) checkStats(r *rand.Rand, model *commenttest.Model, product string) {
	a.tb.Helper()
	for _, ratings := range ratingSets() {
		for _, languages := range languageSets(r) {
			if r.IntN(commenttest.Times(3, 1)) > 0 {
				continue
			}
			filter := comment.Filter{Ratings: ratings, Languages: languages}
			if r.IntN(4) == 0 {
				from := commenttest.Epoch.Add(time.Duration(r.IntN(2000)) * time.Second)
				to := from.Add(time.Duration(1+r.IntN(2000)) * time.Second)
				filter.CreatedAfter, filter.CreatedBefore = &from, &to
			}
			l := list{product: product, filter: filter, order: comment.NewestFirst, size: r.IntN(3)}
			a.checkCounts(l, statsOf(model.List(product, mustNormalize(a.tb, filter), l.order)))
		}
	}
	var data struct {
		Product struct {
			Stats     statsShown
			Languages []comment.LanguageCount
		}
	}
	a.mustAsk(`query($p: ID!) { product(id: $p) { stats `+statsFields+` languages { language count } } }`, map[string]any{"p": product}, &data)
	check.Equal(a.tb, statsOf(model.List(product, comment.Filter{}, comment.NewestFirst)), data.Product.Stats, "statistics of", product)
	check.Equal(a.tb, model.Stats(product).Languages(comment.Filter{}), data.Product.Languages, "languages of", product)
	for _, language := range append([]comment.Language{"EN", "nl"}, commenttest.Languages...) {
		a.mustAsk(`query($p: ID!, $l: Language) { product(id: $p) { stats(lang: $l) `+statsFields+` } }`, map[string]any{"p": product, "l": language}, &data)
		filter := comment.Filter{Languages: []comment.Language{comment.Language(strings.ReplaceAll(string(language), "EN", "en"))}}
		check.Equal(a.tb, statsOf(model.List(product, filter, comment.NewestFirst)), data.Product.Stats, "statistics of", product, "in", language)
	}
}

// checkCounts compares the counts of a list. If they had to be read, the plan must show it.
func (a *api) checkCounts(l list, want statsShown) {
	a.tb.Helper()
	var data struct {
		Product struct {
			Comments struct {
				TotalCount int
				Stats      statsShown
				Plan       struct {
					Queries   int
					Lookups   int
					ReadUnits float64
					Reads     []struct {
						Purpose                   string
						Limit, Queries, ItemsKept int
						ReadUnits                 float64
					}
				}
			}
		}
	}
	variables := l.variables(false, nil)
	delete(variables, "after")
	a.mustAsk(`query($product: ID!, $filter: CommentFilter, $order: CommentOrder, $first: Int) { product(id: $product) {
		comments(filter: $filter, order: $order, first: $first) {
			totalCount stats `+statsFields+` plan { queries lookups readUnits reads { purpose limit queries itemsKept readUnits } } } } }`, variables, &data)
	got := data.Product.Comments
	if got.TotalCount != want.Total {
		a.tb.Errorf("%s from %v to %v: totalCount is %d, want %d", l, l.filter.CreatedAfter, l.filter.CreatedBefore, got.TotalCount, want.Total)
	}
	check.Equal(a.tb, want, got.Stats, l, "from", l.filter.CreatedAfter, "to", l.filter.CreatedBefore)
	kept, counts, queries, units := 0, 0, 0, 0.0
	for _, read := range got.Plan.Reads {
		queries += read.Queries
		units += read.ReadUnits
		if read.Purpose == "COUNT" {
			counts++
			kept += read.ItemsKept
		}
	}
	if dated := l.filter.CreatedAfter != nil; !dated && counts > 0 || dated && kept != want.Total {
		a.tb.Errorf("%s: %d reads counted %d, want %d if there are dates (%v)", l, counts, kept, want.Total, dated)
	}
	calls, looked := got.Plan.Queries-queries, got.Plan.ReadUnits-units // beside the reads: the comments that moved a moment ago
	if n := got.Plan.Lookups; n == 0 && (calls != 0 || looked != 0) || n > 0 && (calls < 1 || looked < 1) {
		a.tb.Errorf("%s: the plan says %d calls for %v units, its reads %d for %v, and there are %d lookups", l, got.Plan.Queries, got.Plan.ReadUnits, queries, units, n)
	}
}

type leaderShown struct {
	Rank, Count int
	Product     struct {
		ID    string
		Stats struct{ Total int }
	}
}

// The leaderboard is ordered by numbers and not by their texts, and by id among equals, also in
// each language. It has ten products unless another number is given; null does not give one.
func TestLeaderboard(t *testing.T) {
	t.Parallel()
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		a := newAPI(t, endpoint)
		var comments []comment.Comment
		for product, best := range map[string]int{"p8": 8, "p7": 7, "p9": 9, "p10": 10, "p99": 99, "p100": 100, "tie b": 10, "tie a": 10, "tie-Ü": 10, "one": 1, "none": 0, "all in French": 11} {
			for i := range best + 3 {
				c := commenttest.Random(r, product)
				c.Rating = 1 + r.IntN(4)
				if i < best {
					c.Rating = comment.MaxRating
				}
				if product == "all in French" {
					c.Language = "fr"
				}
				comments = append(comments, c)
			}
		}
		a.count(arrived(comments...)...)
		model := commenttest.NewModel(comments...)
		for _, language := range []comment.Language{"", "en", "fr", "ar", "nl"} {
			for _, first := range []int{1, 3, 9, 100} {
				a.checkLeaders(model, language, first)
			}
		}
		for _, arguments := range []string{"", "(first: null)"} {
			var data struct{ Leaderboard []leaderShown }
			a.mustAsk(`{ leaderboard`+arguments+` { rank } }`, nil, &data)
			if len(data.Leaderboard) != 10 {
				t.Errorf("%q lists %d products", arguments, len(data.Leaderboard))
			}
		}
	})
}

func (a *api) checkLeaders(model *commenttest.Model, language comment.Language, first int) {
	a.tb.Helper()
	variables := map[string]any{"first": first}
	if language != "" {
		variables["language"] = language
	}
	var data struct{ Leaderboard []leaderShown }
	a.mustAsk(`query($first: Int, $language: Language) { leaderboard(first: $first, language: $language) { rank count product { id stats { total } } } }`, variables, &data)
	var got []comment.Leader
	for _, entry := range data.Leaderboard {
		got = append(got, comment.Leader{Rank: entry.Rank, Product: entry.Product.ID, Count: entry.Count})
		if want := model.Stats(entry.Product.ID).Counts(comment.Filter{}).Total(); entry.Product.Stats.Total != want {
			a.tb.Errorf("%s has %d comments, want %d", entry.Product.ID, entry.Product.Stats.Total, want)
		}
	}
	if diff := cmp.Diff(model.Leaders(language, first), got); diff != "" {
		a.tb.Errorf("the first %d in %q: %s", first, language, diff)
	}
}

// The statistics of a hundred products are one call to the table. A batch ends after a millisecond,
// which a busy machine may not give it, so requests are made until one has a single batch.
func TestStatisticsOfAHundredProductsAreOneCall(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	var products []string
	for n := range 100 {
		products = append(products, fmt.Sprint("p", n))
	}
	a.count(arrived(commenttest.Many(commenttest.Rand(t), "p7", 3)...)...)
	var calls atomic.Int64
	a.useClient(faulttest.Before(a.session.Client, "BatchGetItem", func() { calls.Add(1) }))
	for range 200 {
		calls.Store(0)
		got := a.said(`query($ids: [ID!]!) { products(ids: $ids) { stats { total } languages { count } } }`, map[string]any{"ids": products})
		if strings.Count(got, `"total":0`) != 99 || strings.Count(got, `"total":3`) != 1 {
			t.Fatal(got)
		}
		if calls.Load() == 1 {
			return
		}
	}
	t.Errorf("200 requests for statistics, none with a single call; the last made %d", calls.Load())
}
