package direct

import (
	"errors"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
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
func idOf(values map[string]any) (id string, ok bool) {
	id, err := graphql.UnmarshalID(values["id"])
	return id, err == nil
}

// languageOf does so for the argument of Product.stats, nil if it is null or not given.
func languageOf(values map[string]any) (language *comment.Language, ok bool) {
	r := argumentReader{values: values}
	language = optional(&r, "lang", scalar.UnmarshalLanguage)
	return language, !r.failed
}

// pageArgumentsOf does so for the arguments of Product.comments.
func pageArgumentsOf(values map[string]any) (read pageArguments, ok bool) {
	r := argumentReader{values: values}
	read = pageArguments{
		filter:      optional(&r, "filter", filterOf),
		order:       optional(&r, "order", orderOf),
		first:       optional(&r, "first", graphql.UnmarshalInt),
		last:        optional(&r, "last", graphql.UnmarshalInt),
		after:       optional(&r, "after", graphql.UnmarshalString),
		before:      optional(&r, "before", graphql.UnmarshalString),
		settledOnly: optional(&r, "settledOnly", graphql.UnmarshalBoolean),
		page:        optional(&r, "page", graphql.UnmarshalInt),
	}
	return read, !r.failed
}

// argumentReader reads the arguments of a field.
type argumentReader struct {
	values map[string]any
	failed bool // whether one could not be read
}

// optional reads an argument, nil for null.
func optional[T any](r *argumentReader, name string, unmarshal func(any) (T, error)) *T {
	value := r.values[name]
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
	inside := argumentReader{values: object}
	if filter.Languages, err = listOfValues(object["languages"], scalar.UnmarshalLanguage); err != nil {
		return filter, err
	}
	if filter.Ratings, err = listOfValues(object["ratings"], graphql.UnmarshalInt); err != nil {
		return filter, err
	}
	filter.CreatedAfter = optional(&inside, "createdAfter", scalar.UnmarshalDateTime)
	filter.CreatedBefore = optional(&inside, "createdBefore", scalar.UnmarshalDateTime)
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
