package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
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

// countingOf is what to count of a list along with its page, by what is asked of the connection. Statistics know no dates;
// of a list without these, they tell all.
func countingOf(ctx context.Context, filter comment.Filter) comment.Counting {
	counting := comment.CountNothing
	if filter.CreatedAfter == nil && filter.CreatedBefore == nil {
		return counting
	}
	for _, field := range graphql.CollectFieldsCtx(ctx, nil) {
		switch coordinate(field) {
		case "CommentConnection.totalCount":
			counting = max(counting, comment.CountTotal)
		case "CommentConnection.stats":
			counting = comment.CountByRating
		}
	}
	return counting
}

// expectStats has the statistics of products fetched from now on, if anything that is asked of them wants these: they come
// beside the first page of comments then, not after it, and those of many products in one call, however long the page of
// each takes. It is for root fields: whatever can be asked below a product or a comment is about that product alone, so one
// look suffices. Types are those that the products were found by, where the field's own type does not tell.
func expectStats(ctx context.Context, products []string, types ...string) {
	set := graphql.GetFieldContext(ctx).Field.Selections
	if len(products) == 0 || !wantsStats(graphql.GetOperationContext(ctx), set, types, false) {
		return
	}
	if alone(ctx) {
		loaders.From(ctx).ExpectStatsAlone(ctx, products...)
		return
	}
	loaders.From(ctx).ExpectStats(ctx, products...)
}

// wantsStats tells whether statistics are asked for in a selection, also further down. Types are those that the fragments
// of the selection may be on, all if there are none. Dated says that the connection which it is of has a range of dates.
func wantsStats(operation *graphql.OperationContext, set ast.SelectionSet, types []string, dated bool) bool {
	return slices.ContainsFunc(graphql.CollectFields(operation, set, types), func(field graphql.CollectedField) bool {
		inside := dated
		switch coordinate(field) {
		case "Product.stats", "Product.languages", "Product.commentsInOtherLanguages":
			return true
		case "CommentConnection.totalCount", "CommentConnection.stats":
			return !dated
		case "Product.comments":
			filter, _ := field.ArgumentMap(operation.Variables)["filter"].(map[string]any)
			inside = filter["createdAfter"] != nil || filter["createdBefore"] != nil
		}
		return len(field.Selections) > 0 && wantsStats(operation, field.Selections, nil, inside)
	})
}

// coordinate is a field's name within the schema, such as Product.stats.
func coordinate(field graphql.CollectedField) string {
	return field.ObjectDefinition.Name + "." + field.Name
}
