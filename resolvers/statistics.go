package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// Stats is how many comments the product has, of all languages or of one.
func (r productResolver) Stats(ctx context.Context, product *comment.Product, lang *comment.Language) (*comment.Statistics, error) {
	var filter comment.Filter
	if lang != nil {
		filter.Languages = []comment.Language{*lang}
	}
	return countsOf(ctx, product.ID, filter)
}

// Languages are the languages of the product's comments.
func (r productResolver) Languages(ctx context.Context, product *comment.Product) ([]*comment.LanguageCount, error) {
	stats, err := loaders.From(ctx).Stats(ctx, product.ID)
	if err != nil {
		return nil, err
	}
	counts := stats.Languages()
	out := make([]*comment.LanguageCount, len(counts))
	for i := range counts {
		out[i] = &counts[i]
	}
	return out, nil
}

// CommentsInOtherLanguages is how many comments are in languages that Languages does not list.
func (r productResolver) CommentsInOtherLanguages(ctx context.Context, product *comment.Product) (*int, error) {
	stats, err := loaders.From(ctx).Stats(ctx, product.ID)
	if err != nil {
		return nil, err
	}
	total := stats[comment.OtherLanguages].Total()
	return &total, nil
}

// countsOf are the numbers of the product's comments that a filter without dates allows.
func countsOf(ctx context.Context, product string, filter comment.Filter) (*comment.Statistics, error) {
	counts, err := loaders.From(ctx).Counts(ctx, product, filter)
	if err != nil {
		return nil, err
	}
	return &comment.Statistics{Counts: counts, AsOf: loaders.From(ctx).StatsAsOf()}, nil
}

type connectionResolver struct{ *Resolver }

// TotalCount is how many comments the whole list has.
func (connectionResolver) TotalCount(ctx context.Context, connection *graph.CommentConnection) (*int, error) {
	if counted := connection.Counted; counted != nil {
		return unlessFailed(&counted.Total, counted.Err)
	}
	counts, err := countsOf(ctx, connection.Product, connection.Filter)
	if err != nil {
		return nil, err
	}
	total := counts.Total()
	return &total, nil
}

// Stats is how many comments the whole list has, by rating.
func (connectionResolver) Stats(ctx context.Context, connection *graph.CommentConnection) (*comment.Statistics, error) {
	if counted := connection.Counted; counted != nil {
		return unlessFailed(&comment.Statistics{Counts: counted.ByRating}, counted.Err)
	}
	return countsOf(ctx, connection.Product, connection.Filter)
}

func unlessFailed[T any](value *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

// expectStats has the statistics of products fetched from now on, if anything below the root field needs
// them. They are then read beside the first page of comments, not after it, and those of many
// products in one call. Below a product or a comment everything is about that product alone, so the
// root fields suffice.
func expectStats(ctx context.Context, products ...string) {
	if asked := lookahead.From(ctx); asked.WantsStatistics {
		fetchStats(ctx, asked, products)
	}
}

// expectStatsOfNodes does so for the products of nodes. Products and comments are asked for different
// things.
func expectStatsOfNodes(ctx context.Context, nodes ...comment.Node) {
	asked := lookahead.From(ctx)
	ofProducts, ofComments := asked.WantsStatisticsOf("Product"), asked.WantsStatisticsOf("Comment")
	var products []string
	for _, node := range nodes {
		switch n := node.(type) {
		case *comment.Product:
			if ofProducts {
				products = append(products, n.ID)
			}
		case *comment.Comment:
			if ofComments {
				products = append(products, n.ProductID)
			}
		}
	}
	fetchStats(ctx, asked, products)
}

// fetchStats has the statistics of products fetched together. They wait for those that other root
// fields ask for, if there are others.
func fetchStats(ctx context.Context, asked *lookahead.Field, products []string) {
	if asked.Alone {
		loaders.From(ctx).ExpectStatsAlone(ctx, products...)
		return
	}
	loaders.From(ctx).ExpectStats(ctx, products...)
}
