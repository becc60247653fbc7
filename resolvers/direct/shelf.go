package direct

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/scalar"
	"github.com/talkback/talkback/loaders"
)

// shown is a product with all that can be at hand of it.
type shown struct {
	id    string
	stats comment.Stats
	asOf  *time.Time
}

var (
	products = &object[shown]{
		name: "Product",
		fields: map[string]field[*shown]{
			"id":        text(func(p *shown) string { return p.id }),
			"stats":     statsOf,
			"languages": several(languages, func(p *shown) []*comment.LanguageCount { return pointers(p.stats.Languages()) }),
		},
	}

	languages = &object[comment.LanguageCount]{
		name: "LanguageCount",
		fields: map[string]field[*comment.LanguageCount]{
			"language": text(func(l *comment.LanguageCount) string { return string(l.Language) }),
			"count":    number(func(l *comment.LanguageCount) int { return l.Count }),
		},
	}
)

// statsOf is the field stats, of all languages or of one.
func statsOf(q question) (part[*shown], bool) {
	var filter comment.Filter
	if lang := q.field.ArgumentMap(q.operation.Variables)["lang"]; lang != nil {
		language, err := scalar.UnmarshalLanguage(lang)
		if err != nil {
			return part[*shown]{}, false // gqlgen says so
		}
		filter.Languages = []comment.Language{language}
	}
	p, plain := counts.asked(q.operation, q.field.Selections)
	if !plain {
		return part[*shown]{}, false
	}
	size := p.size(&comment.Statistics{}) // of numbers and a time, which count alike whatever they are
	return part[*shown]{
		size: func(*shown) int { return size },
		write: func(out []byte, of *shown) []byte {
			return p.write(out, &comment.Statistics{Counts: of.stats.Counts(filter), AsOf: of.asOf})
		},
	}, true
}

// shelfOf is a Value of products if all that is asked of them is their statistics, once these were fetched together, and
// the products themselves otherwise: also if one of them is missing or its statistics failed, for gqlgen to say.
func shelfOf(ctx context.Context, list []*comment.Product) any {
	part, plain := askedHere(ctx, products)
	if !plain {
		return list
	}
	ids, shelf := make([]string, len(list)), pointers(make([]shown, len(list)))
	for i, product := range list {
		if product == nil {
			return list
		}
		ids[i], shelf[i].id = product.ID, product.ID
	}
	if counted(ctx) {
		stats, whole := loaders.From(ctx).StatsOfAll(ctx, ids)
		if !whole {
			return list
		}
		for i := range shelf {
			if _, shared := stats[i][comment.OtherLanguages]; shared {
				return list // the statistics alone do not tell of each language
			}
			shelf[i].stats, shelf[i].asOf = stats[i], loaders.From(ctx).StatsAsOf()
		}
	}
	whole := listOf(part)
	return Value{size: whole.size(shelf), write: func(out []byte) []byte { return whole.write(out, shelf) }}
}

// counted tells whether anything but ids is asked of the products that are being resolved.
func counted(ctx context.Context) bool {
	set := graphql.GetFieldContext(ctx).Field.Selections
	for _, field := range graphql.CollectFields(graphql.GetOperationContext(ctx), set, nil) {
		if field.Name == "stats" || field.Name == "languages" {
			return true
		}
	}
	return false
}
