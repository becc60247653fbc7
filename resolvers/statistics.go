package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// countsOf returns the numbers of a product's comments that pass a filter without dates.
func countsOf(ctx context.Context, product string, filter comment.Filter) (*comment.Statistics, error) {
	return loaders.From(ctx).Statistics(ctx, product, filter)
}

// expectStats begins to fetch the statistics of products if anything below the root field needs
// them. They are then read beside the first page of comments, not after it, and those of many
// products in one call. Everything below a product or a comment is about that product alone, so it
// suffices that the root fields call this.
func expectStats(ctx context.Context, products ...string) {
	loaders.From(ctx).About(products...)
	if asked := lookahead.From(ctx); asked.WantsStatistics {
		fetchStats(ctx, asked, products)
	}
}

// expectStatsOfNodes does so for nodes. What is asked of products may differ from what is asked of
// the products of comments.
func expectStatsOfNodes(ctx context.Context, nodes ...comment.Node) {
	asked := lookahead.From(ctx)
	ofProducts, ofComments := asked.WantsStatisticsOf("Product"), asked.WantsStatisticsOf("Comment")
	var products []string
	for _, node := range nodes {
		switch n := node.(type) {
		case *comment.Product:
			loaders.From(ctx).About(n.ID)
			if ofProducts {
				products = append(products, n.ID)
			}
		case *comment.Comment:
			loaders.From(ctx).About(n.ProductID)
			if ofComments {
				products = append(products, n.ProductID)
			}
		}
	}
	fetchStats(ctx, asked, products)
}

// fetchStats begins to fetch the statistics of products, together with those of other root fields.
func fetchStats(ctx context.Context, asked *lookahead.Field, products []string) {
	wantLatest(loaders.From(ctx), asked)
	loaders.From(ctx).ExpectStats(ctx, products...)
}
