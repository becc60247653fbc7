package command_test

import (
	"fmt"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// The most helpful praise and complaint are the first ones that more people found helpful than not.
// If there are none, they are null or the latest, and cost no more than these.
func TestMostHelpfulPraiseAndComplaint(t *testing.T) {
	t.Parallel()
	a, r := newAPI(t, dynamotest.Dynoxide(t)), commenttest.Rand(t)
	var all []comment.Comment
	products := map[string]int{"none": 0, "one": 1, "few": 4, "some": 30, "many": 200, "unvoted": 60, "praised": 100}
	for product, n := range products {
		comments := commenttest.Many(r, product, n)
		if product != "unvoted" {
			comments = commenttest.Voted(r, comments)
		}
		for i := range comments {
			if c := &comments[i]; product == "praised" && c.Rating < 5 && i%50 != 0 {
				c.Votes, c.ImportedVotes = comment.VoteCounts{}, comment.VoteCounts{}
			}
		}
		all = append(all, comments...)
	}
	a.load(all...)
	a.pages = a.inTable(t, all...)
	a.useClient(a.session.Client)
	model := commenttest.NewModel(all...)
	for product := range products {
		first := func(order comment.Order, ratings []int, helpful bool) string {
			for _, c := range model.List(product, comment.Filter{Ratings: ratings}, order) {
				if !helpful || c.AllVotes().Net() > 0 {
					return string(c.ID)
				}
			}
			return ""
		}
		for name, ratings := range map[string][]int{"Positive": {4, 5}, "Negative": {1, 2}} {
			field := "mostHelpful" + map[string]string{"Positive": "Positive", "Negative": "Critical"}[name]
			var got struct {
				Product map[string]*struct{ ID string }
			}
			a.mustAsk(fmt.Sprintf(`{ product(id: %q) { helpful: %s { id } orLatest: %s(orLatest: true) { id text } latest%s { id } } }`, product, field, field, name), nil, &got)
			shown := func(alias string) string {
				if c := got.Product[alias]; c != nil {
					return c.ID
				}
				return ""
			}
			helpful, latest := first(comment.MostHelpful, ratings, true), first(comment.NewestFirst, ratings, false)
			want := helpful
			if want == "" {
				want = latest
			}
			if shown("helpful") != helpful || shown("orLatest") != want || shown("latest"+name) != latest {
				t.Errorf("%s, %s: %v, want %s, %s and %s", product, name, got.Product, helpful, want, latest)
			}
		}
	}
	cost := func(product, praise, complaint string) float64 {
		_, units := a.consumed(fmt.Sprintf(`{ product(id: %q) { comments { nodes { id text } } stats { total } %s { id } %s { id } } }`, product, praise, complaint))
		return units
	}
	if latest, helpful := cost("unvoted", "latestPositive", "latestNegative"), cost("unvoted", "mostHelpfulPositive(orLatest: true)", "mostHelpfulCritical(orLatest: true)"); helpful > latest {
		t.Errorf("without votes: %v read units, and %v for the latest", helpful, latest)
	}
}
