package workload

import "time"

// payload is the result of a mutation.
type payload struct {
	Result struct {
		Comment    *shown
		UserErrors []struct{ Code string }
	}
}

// shown is a comment in an answer.
type shown struct {
	ID, Language, Text string
	Rating, Version    int
	Product            struct{ ID string }
}

const fields = `{ id language text rating version product { id } }`

// content is what the comment says.
func (s shown) content() *content {
	return &content{product: s.Product.ID, language: s.Language, text: s.Text, rating: s.Rating, version: s.Version}
}

// variables are the variables of an operation on the list.
func (l list) variables(size int) map[string]any {
	order := "NEWEST_FIRST"
	if l.oldest {
		order = "OLDEST_FIRST"
	}
	return map[string]any{
		"product": l.product, "order": order, "first": size,
		"filter": map[string]any{"languages": l.languages, "ratings": l.ratings},
	}
}

// page is a page in an answer.
type page struct {
	Edges    []struct{ Node shown }
	PageInfo struct {
		HasNextPage, HasPreviousPage bool
		EndCursor                    *string
	}
	TotalCount int
	Stats      stats
}

// stats are counts in an answer.
type stats struct {
	Total   int
	Ratings []struct{ Rating, Count int }
	AsOf    *time.Time
}

const (
	pageFields = `{ edges { node ` + fields + ` } pageInfo { hasNextPage hasPreviousPage endCursor } }`
	statFields = `{ total ratings { rating count } asOf }`
	byCursor   = `query Page($product: ID!, $filter: CommentFilter, $order: CommentOrder, $first: Int, $after: String) {
  product(id: $product) { comments(filter: $filter, order: $order, first: $first, after: $after) ` + pageFields + ` } }`
	byPage = `query Number($product: ID!, $filter: CommentFilter, $order: CommentOrder, $first: Int, $page: Int) {
  product(id: $product) { comments(filter: $filter, order: $order, first: $first, page: $page) ` + pageFields + ` } }`
	countList = `query Count($product: ID!, $filter: CommentFilter) {
  product(id: $product) { comments(filter: $filter, first: 0) { totalCount stats ` + statFields + ` } } }`
	leaderboard = `query Leaders($language: Language) { leaderboard(first: 100, language: $language) { rank count product { id } } }`
	commentByID = `query One($id: ID!) { comment(id: $id) ` + fields + ` }`
)

// leader is an entry of a leaderboard.
type leader struct {
	Rank, Count int
	Product     struct{ ID string }
}
