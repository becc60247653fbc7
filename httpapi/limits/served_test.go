package limits_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// served returns operations that people and clients send. They are the explorer's examples and
// introspection, the README's query, those of package command's tests, and pages as large as a
// shop's.
func served(t *testing.T) map[string]operation {
	t.Helper()
	all := map[string]operation{
		"introspection": readOperation(t, "testdata/introspection.graphql", ""),
		"README":        {Query: readmeQuery(t), Variables: json.RawMessage("null")},
		"a product list and a page": {Query: `{
			products(ids: [` + distinct(`"p%d", `, 20) + `]) { id lastCommentedAt comments(first: 3) { nodes { ...C } } }
			product(id: "x") { latestPositive { ...C } comments(first: 100) { edges { cursor node { ...C } } pageInfo { endCursor hasNextPage } plan { summary } } }
		}
		fragment C on Comment { id rating language title text createdAt updatedAt version author { id customerId name } product { id } }`},
		"a page of all but one rating in five languages": {Query: `{ product(id: "x") {
			comments(filter: {ratings: [1, 2, 3, 4], languages: ["de", "en", "fr", "ja", "es"]}) { nodes { id } } } }`},
		"a hundred products with their charts": {Query: `{ products(ids: [` + distinct(`"p%d", `, 100) + `]) {
			id stats { total average ratings { rating count } } de: stats(lang: "de") { total average } languages { language count } } }`},
		"a page with its totals": {Query: `{ product(id: "x") {
			stats { total average ratings { rating count } } languages { language count }
			comments(first: 100, filter: {createdAfter: "2024-05-01T00:00:00Z"}) { totalCount stats { ratings { rating count } } nodes { id } plan { skipped { partitionKey } } } } }`},
		"a leaderboard of a hundred": {Query: `{ leaderboard(first: 100) { rank count product { id stats { total average } } } }`},
		"a hundred products":         {Query: `{ products(ids: [` + distinct(`"p%d", `, 100) + `]) { id } }`},
		"a hundred comments by id":   {Query: `query($ids: [ID!]!) { nodes(ids: $ids) { id } }`, Variables: json.RawMessage(`{"ids": ["c_01HWSAVBG0ZZZZZZZZZZZZZZZZ"` + repeat(`, "c_01HWSAVBG0ZZZZZZZZZZZZZZZZ"`, 99) + `]}`)},
		"the second product page of the most helpful comments of two ratings and a year":    helpfulPage(t, 2, `"createdAfter": "2024-01-01T00:00:00Z", "createdBefore": "2025-01-01T00:00:00Z"`),
		"a deep product page of the most helpful comments of two ratings and two languages": helpfulPage(t, 13, `"languages": ["de", "en"]`),
		"links of the most helpful comments of others than buyers": {Query: `{ product(id: "x") {
			comments(filter: {verified: false, ratings: [1]}, order: MOST_HELPFUL) { nodes { id } totalCount pageCount pageCursors { last { page } } } } }`},
		"a page in a hundred languages": {Query: `query($f: CommentFilter) { product(id: "x") { comments(filter: $f) { nodes { id } } } }`, Variables: json.RawMessage(`{"f": {"languages": [` + strings.TrimSuffix(repeat(`"de","en",`, 50), ",") + `]}}`)},
	}
	deep := readOperation(t, "../../web/product/product.graphql", "") // a page links to the last one of its list
	deep.Variables = json.RawMessage(`{"id": "x", "first": 20, "page": 320, "order": "MOST_HELPFUL", "highlights": false, "voter": true,
		"filter": {"ratings": [5, 4], "createdAfter": "2021-01-01T00:00:00Z"}, "facets": {"createdAfter": "2021-01-01T00:00:00Z"}, "faceted": true}`)
	all["the last product page of the most helpful comments of two ratings since a day"] = deep
	for _, pattern := range []string{"../../web/explorer/examples/*.graphql", "../../command/testdata/api/*/*.graphql"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("nothing at %s: %v", pattern, err)
		}
		for _, path := range paths {
			name := strings.TrimSuffix(path, ".graphql")
			variables := name + ".variables.json"
			if strings.Contains(pattern, "examples") {
				variables = name + ".json"
			}
			all[path] = readOperation(t, path, variables)
		}
	}
	return all
}

// helpfulPage is a product page in the order of votes, restricted to verified comments of two
// ratings and by another condition. It counts the comments of the other ratings, too.
func helpfulPage(t *testing.T, number int, condition string) operation {
	t.Helper()
	o := readOperation(t, "../../web/product/product.graphql", "")
	o.Variables = json.RawMessage(fmt.Sprintf(`{"id": "x", "first": 20, "page": %d, "order": "MOST_HELPFUL", "highlights": false, "voter": true,
		"filter": {"ratings": [5, 4], "verified": true, %s}, "facets": {"verified": true, %[2]s}, "faceted": true,
		"chips": {"ratings": [5, 4], "verified": true}, "narrowed": true}`, number, condition))
	return o
}

// readmeQuery is the first query of the README.
func readmeQuery(t *testing.T) string {
	t.Helper()
	text := must.Get(os.ReadFile("../../README.md"))(t)
	_, rest, found := strings.Cut(string(text), "```graphql\n")
	query, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("the README shows no query")
	}
	return query
}
