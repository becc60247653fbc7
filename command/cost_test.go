package command_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/sample"
)

// What a page was estimated to cost is no less than what the table then says it did, and for a page
// of one partition not far from it.
func TestEstimateAgainstTheTable(t *testing.T) {
	a := newAPI(t, dynamotest.Dynoxide(t))
	var comments []comment.Comment
	for c := range sample.Comments() {
		if c.ProductID == "espresso-machine" {
			comments = append(comments, c)
		}
	}
	a.load(comments...)
	for _, filter := range []string{"", "ratings: [5]", "ratings: [1, 2]", `languages: ["de", "en"], ratings: [1, 5]`, `languages: ["en", "de", "fr", "ja"]`} {
		for _, size := range []int{0, 1, 20, 100} {
			estimated, paid := a.cost(t, fmt.Sprintf(`{ product(id: "espresso-machine") { comments(first: %d, filter: {%s}) { plan { readUnits } } } }`, size, filter))
			if paid > estimated {
				t.Errorf("first %d of {%s}: estimated %v, paid %v", size, filter, estimated, paid)
			}
			t.Logf("first %d of {%s}: estimated %v, paid %v", size, filter, estimated, paid)
			if filter == "" && size == 100 && estimated > 5*paid {
				t.Errorf("a page of 100 was estimated at %v, paid %v", estimated, paid)
			}
		}
	}
}

// What counting a range was estimated to cost is no less than what the table then says it did, for
// a product of as many comments as most have.
func TestEstimateOfCounts(t *testing.T) {
	a := newAPI(t, dynamotest.Dynoxide(t))
	var comments []comment.Comment
	for c := range sample.Comments() {
		if c.ProductID == "espresso-machine" && len(comments) < 400 {
			comments = append(comments, c)
		}
	}
	a.load(comments...)
	for _, filter := range []string{"", "ratings: [5]", `languages: ["de", "en"], ratings: [1, 5]`} {
		for _, fields := range []string{"totalCount", "stats { total }", "totalCount stats { total }"} {
			estimated, paid := a.cost(t, fmt.Sprintf(`{ product(id: "espresso-machine") { comments(first: 1, filter: {createdAfter: "2000-01-01T00:00:00Z" %s}) { %s plan { readUnits } } } }`, filter, fields))
			if paid > estimated {
				t.Errorf("%s of {%s}: estimated %v, paid %v", fields, filter, estimated, paid)
			}
			t.Logf("%s of {%s}, %d comments: estimated %v, paid %v", fields, filter, len(comments), estimated, paid)
		}
	}
}

// cost is what an operation was estimated to cost, and what it did cost.
func (a *api) cost(t *testing.T, query string) (estimated, paid float64) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(a.server.URL+"/graphql", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Data struct {
			Product struct {
				Comments struct{ Plan struct{ ReadUnits float64 } }
			}
		}
		Extensions struct {
			Cost struct{ EstimatedReadUnits float64 }
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil || got.Extensions.Cost.EstimatedReadUnits == 0 {
		t.Fatalf("%v\n%s", err, raw)
	}
	return got.Extensions.Cost.EstimatedReadUnits, got.Data.Product.Comments.Plan.ReadUnits
}
