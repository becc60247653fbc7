package direct

import (
	"errors"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/graph/scalar"
)

// pageArguments are the arguments of Product.comments, nil for those that are null or not given.
type pageArguments struct {
	filter        *comment.Filter
	order         *comment.Order
	first, last   *int
	after, before *string
	settledOnly   *bool
	page          *int
}

// idOf reads the argument of Query.product as gqlgen does. It reports false if it cannot be read,
// which gqlgen then reports.
func idOf(field *ast.Field, variables map[string]any) (id string, ok bool) {
	id, err := graphql.UnmarshalID(lookahead.Argument(field, variables, "id"))
	return id, err == nil
}

// languageOf does so for the argument of Product.stats, nil if it is null or not given.
func languageOf(field *ast.Field, variables map[string]any) (language *comment.Language, ok bool) {
	r := valueReader{}
	language = optional(&r, lookahead.Argument(field, variables, "lang"), scalar.UnmarshalLanguage)
	return language, !r.failed
}

// pageArgumentsOf does so for the arguments of Product.comments.
func pageArgumentsOf(field *ast.Field, variables map[string]any) (read pageArguments, ok bool) {
	given := func(name string) any { return lookahead.Argument(field, variables, name) }
	r := valueReader{}
	read = pageArguments{
		filter:      optional(&r, given("filter"), filterOf),
		order:       optional(&r, given("order"), orderOf),
		first:       optional(&r, given("first"), graphql.UnmarshalInt),
		last:        optional(&r, given("last"), graphql.UnmarshalInt),
		after:       optional(&r, given("after"), graphql.UnmarshalString),
		before:      optional(&r, given("before"), graphql.UnmarshalString),
		settledOnly: optional(&r, given("settledOnly"), graphql.UnmarshalBoolean),
		page:        optional(&r, given("page"), graphql.UnmarshalInt),
	}
	return read, !r.failed
}

// valueReader reads values, and notes whether one could not be read.
type valueReader struct{ failed bool }

// optional reads a value, nil for null.
func optional[T any](r *valueReader, value any, unmarshal func(any) (T, error)) *T {
	if value == nil {
		return nil
	}
	read, err := unmarshal(value)
	r.failed = r.failed || err != nil
	return &read
}

func orderOf(value any) (comment.Order, error) {
	text, err := graphql.UnmarshalString(value)
	return comment.Order(text), err
}

// filterOf reads a filter.
func filterOf(value any) (filter comment.Filter, err error) {
	object, ok := value.(map[string]any)
	if !ok {
		return filter, errors.New("not an object")
	}
	inside := valueReader{}
	if filter.Languages, err = listOfValues(object["languages"], scalar.UnmarshalLanguage); err != nil {
		return filter, err
	}
	if filter.Ratings, err = listOfValues(object["ratings"], graphql.UnmarshalInt); err != nil {
		return filter, err
	}
	filter.CreatedAfter = optional(&inside, object["createdAfter"], scalar.UnmarshalDateTime)
	filter.CreatedBefore = optional(&inside, object["createdBefore"], scalar.UnmarshalDateTime)
	if inside.failed {
		err = errors.New("not a time")
	}
	return filter, err
}

func listOfValues[T any](value any, unmarshal func(any) (T, error)) (list []T, err error) {
	if value == nil {
		return nil, nil
	}
	values := graphql.CoerceList(value)
	list = make([]T, len(values))
	for i, value := range values {
		if list[i], err = unmarshal(value); err != nil {
			return nil, err
		}
	}
	return list, nil
}
