package lookahead

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
)

// What depends on anything but the comments and statistics of named products is not steady.
func TestSteady(t *testing.T) {
	product := func(fields string) string { return `{product(id: "p") {` + fields + `}}` }
	for query, want := range map[string]bool{
		product(`id`): true,
		product(`comments(first: 5, order: MOST_HELPFUL, filter: {ratings: [5], languages: ["de"]}) {totalCount pageCount pageNumber pageInfo {hasNextPage endCursor} edges {cursor node {text votes {helpful}}}}`): true,
		product(`comments(after: "x") {nodes {product {stats {total}}}}`):                                                true,
		product(`stats(lang: "de") {average ratings {count}} lastCommentedAt mostHelpfulPositive {text}`):                true,
		`{a: products(ids: ["p", "q"]) {id} b: product(id: "r") {__typename}}`:                                           true,
		`{product(id: "p") {id} viewer @skip(if: true) {mayWrite}}`:                                                      true,
		`{product(id: "p") {id} viewer {mayWrite}}`:                                                                      false,
		`{product(id: "p") {id} comment(id: "c_1") {id}}`:                                                                false,
		`{product: node(id: "p") {id}}`:                                                                                  false,
		`{leaderboard {product {id}}}`:                                                                                   false,
		`{__typename}`:                                                                                                   false,
		`{__schema {description}}`:                                                                                       false,
		product(`stats {asOf}`):                                                                                          false,
		product(`viewerComment {id}`):                                                                                    false,
		product(`comments {nodes {votes {viewerVote}}}`):                                                                 false,
		product(`comments {plan {age}}`):                                                                                 false,
		product(`comments(settledOnly: true, order: OLDEST_FIRST) {nodes {id}}`):                                         false,
		product(`comments(page: 1) {nodes {id}}`):                                                                        false,
		product(`comments {pageCursors {last {cursor}}}`):                                                                false,
		product(`comments(after: "x") {pageNumber}`):                                                                     false,
		product(`comments(filter: {createdBefore: "2026-01-01T00:00:00Z"}) {nodes {id}}`):                                false,
		product(`comments(filter: {verified: true}) {nodes {id}}`):                                                       false,
		product(`comments(filter: {withMedia: false}) {nodes {id}}`):                                                     false,
		product(`latestPositive {product {comments {nodes {product {comments(page: 2) {nodes {id}}}}}}}`):                false,
		`query($s: Boolean = true) {product(id: "p") {comments(settledOnly: $s) {nodes {id}}}}`:                          false,
		`{product(id: "p") {...F}} fragment F on Product {comments {...G}} fragment G on CommentConnection {plan {age}}`: false,
	} {
		variables := map[string]any{}
		if strings.Contains(query, "$s") {
			variables["s"] = true // as gqlgen does with defaults
		}
		if got := read(t, query, variables).Steady(); got != want {
			t.Errorf("%s: %t, want %t", query, got, want)
		}
	}
}

// A field that reads nothing is steady unless it has a kind of its own. So each that a product
// leads to is listed here, once somebody has thought of it.
func TestEveryPlainFieldIsSteady(t *testing.T) {
	known := strings.Fields(`Author.customerId Author.id Author.name Comment.author Comment.createdAt Comment.heldEdit Comment.id
		Comment.isVerifiedPurchase Comment.language Comment.product Comment.rating Comment.rejectionReason Comment.reply Comment.status
		Comment.title Comment.updatedAt Comment.version Comment.votes CommentConnection.pageInfo CommentEdge.node CommentStats.average
		CommentStats.total CommentStats.verified CommentStats.withMedia HeldEdit.editedAt HeldEdit.language HeldEdit.rating HeldEdit.text
		HeldEdit.title HeldEdit.version LanguageCount.count LanguageCount.language Media.alt Media.height Media.kind Media.url Media.width
		PageInfo.hasNextPage PageInfo.hasPreviousPage Product.id RatingCount.count RatingCount.rating Reply.createdAt Reply.name Reply.text
		Reply.updatedAt Reply.version Votes.helpful Votes.notHelpful`)
	var found []string
	seen := map[string]bool{}
	var visit func(definition *ast.Definition)
	visit = func(definition *ast.Definition) {
		if definition == nil || seen[definition.Name] {
			return
		}
		seen[definition.Name] = true
		for _, field := range definition.Fields {
			kind := kinds[definition.Name][field.Name]
			if kind == Plain {
				found = append(found, definition.Name+"."+field.Name)
			}
			if slices.Contains(steadyKinds, kind) {
				visit(schema.Types[field.Type.Name()])
			}
		}
	}
	visit(schema.Types["Product"])
	slices.Sort(found)
	if !slices.Equal(found, known) {
		t.Errorf("the fields are %v, want %v: if the new ones change only when comments or statistics change, add them to known; else give them a Kind", found, known)
	}
}
