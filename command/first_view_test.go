package command_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// The first view of a product page costs one wave. A server that knows nothing of the product reads the page and the
// statistics, half a unit. While the counts are known, it reads the page alone. Only a praise or complaint beyond the
// page takes half a unit more, and a second wave while nothing is known. So do the most helpful ones.
func TestFirstViewOfAProductPage(t *testing.T) {
	t.Parallel()
	operation, err := os.ReadFile("../web/product/product.graphql")
	if err != nil {
		t.Fatal(err)
	}
	a := newAPI(t, dynamotest.Dynoxide(t))
	var all []comment.Comment
	for product, complaint := range map[string]int{"vase": 3, "cup": 40, "bowl": 200} {
		comments := commenttest.Many(commenttest.Rand(t), product, 300)
		slices.SortFunc(comments, func(a, b comment.Comment) int { return strings.Compare(string(b.ID), string(a.ID)) })
		for i := range comments {
			comments[i].Rating, comments[i].Text, comments[i].Title = 5, "fine", nil
		}
		comments[complaint].Rating = 1
		if product == "bowl" {
			comments[complaint].ImportedVotes.Helpful, comments[100].ImportedVotes.Helpful = 7, 3
			comments[complaint].Votes, comments[100].Votes = comments[complaint].ImportedVotes, comments[100].ImportedVotes
		}
		all = append(all, comments...)
	}
	a.load(all...)
	a.pages = a.inTable(t, all...)
	service, client := pacedAPI(a)
	service.mustAsk(`{ product(id: "other") { stats { total } } }`, nil, &struct{}{}) // each process checks once whether anything was counted
	for _, row := range []struct {
		why, product string
		waves        []int
		units        float64
	}{
		{"cold", "vase", []int{2}, 1},
		{"known", "vase", []int{1}, 0.5},
		{"cold, and the complaint is beyond the page", "cup", []int{2, 1}, 1.5},
		{"known", "cup", []int{2}, 1},
		{"cold, and there are votes", "bowl", []int{2, 1}, 1.5},
		{"known", "bowl", []int{2}, 1},
	} {
		client.expect(row.waves...)
		var got firstViewed
		service.asked(string(operation), map[string]any{"id": row.product, "first": 20, "highlights": true}, &got)
		list, calls := got.Data.Product.List, 0
		for _, n := range row.waves {
			calls += n
		}
		if made := client.made(); len(made) != calls || got.Extensions.Cost.ReadUnits > row.units {
			t.Errorf("%s: %v for %v read units; want waves of %v calls, and %v units", row.why, made, got.Extensions.Cost.ReadUnits, row.waves, row.units)
		}
		if got.Data.Product.Complaint.Rating != 1 || list.TotalCount != 300 || list.PageCount != 15 || list.PageNumber != 1 {
			t.Errorf("%s: %+v", row.why, got.Data.Product)
		}
	}
}

// firstViewed is an answer to the operation of a product page.
type firstViewed struct {
	Data struct {
		Product struct {
			Complaint struct{ Rating int }
			List      struct{ TotalCount, PageCount, PageNumber int }
		}
	}
	Extensions struct{ Cost struct{ ReadUnits float64 } }
}
