package direct

import (
	"context"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// productStats is a product with its statistics.
type productStats struct {
	id    string
	stats comment.Stats
	asOf  *time.Time
}

// products are lists of products with their ratings, such as a shop's category page.
var products = &object[productStats]{
	types: []string{"Product", "Node", "_Entity"},
	fields: map[string]field[*productStats]{
		"id":        text("ID", func(p *productStats) string { return p.id }),
		"stats":     {typ: counts.name() + "!", arguments: []string{"lang"}, writer: statsOf},
		"languages": {typ: allLanguages.typ, arguments: []string{"filter"}, writer: languagesOf},
	},
}

var allLanguages = several(languages, func(p *productStats) []*comment.LanguageCount {
	return graph.Pointers(p.stats.Languages(comment.Filter{}))
})

// languagesOf returns a writer of the field languages. It leaves a field with a filter to gqlgen.
func languagesOf(operation operation, asked graphql.CollectedField) (p writer[*productStats], plain bool) {
	if asked.ArgumentMap(operation.Variables)["filter"] != nil {
		return writer[*productStats]{}, false
	}
	return allLanguages.writer(operation, asked)
}

// statsOf returns a writer of the field stats, of all languages or of a single one.
func statsOf(operation operation, asked graphql.CollectedField) (p writer[*productStats], plain bool) {
	var filter comment.Filter
	if given := asked.ArgumentMap(operation.Variables)["lang"]; given != nil {
		language, err := graph.UnmarshalLanguage(given)
		if err != nil {
			return writer[*productStats]{}, false // gqlgen reports it
		}
		filter.Languages = []comment.Language{language}
	}
	written, plain := counts.writer(operation, asked.Selections)
	return writer[*productStats]{write: func(out []byte, of *productStats) []byte {
		statistics := of.stats.Statistics(filter)
		statistics.AsOf = of.asOf
		return written.write(out, &statistics)
	}}, plain
}

// productList returns a Value of products if only their ids and statistics are asked for. It then
// fetches all their statistics together. Otherwise it returns the products themselves. It does so
// too if a product is missing or its statistics failed, which gqlgen reports.
func productList(ctx context.Context, base comment.MediaBase, list []*comment.Product) any {
	part, plain := writerHere(ctx, base, products)
	if !plain || slices.Contains(list, nil) {
		return list
	}
	all, ids := make([]productStats, len(list)), make([]string, len(list))
	for i, product := range list {
		all[i].id, ids[i] = product.ID, product.ID
	}
	if lookahead.From(ctx).WantsStatistics {
		stats, whole := loaders.From(ctx).StatsOfAll(ctx, ids)
		if !whole {
			return list
		}
		asOf := loaders.From(ctx).StatsAsOf()
		for i := range all {
			// A product with very many languages has one row for the rarer ones. The resolver looks up their
			// counts.
			if _, shared := stats[i][comment.OtherLanguages]; shared {
				return list
			}
			all[i].stats, all[i].asOf = stats[i], asOf
		}
	}
	return valueOf(listOf(part), graph.Pointers(all))
}
