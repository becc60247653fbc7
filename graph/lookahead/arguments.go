package lookahead

import (
	"cmp"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// NullGiven returns an argument in which a variable puts null where the type is non-null, and that
// variable. Both are empty if there is none. A variable whose type can be null is valid there if it
// or the argument has a default (CoerceArgumentValues in section 6.4.1 of the specification).
// gqlgen reads such a null as "null", 0 or an empty object.
func NullGiven(field *ast.Field, variables map[string]any) (argument, variable string) {
	for _, given := range field.Arguments {
		if variable = nullWithin(given.Value, variables); variable != "" {
			return given.Name, variable
		}
	}
	return "", ""
}

// nullWithin returns a variable within a value that is null where the type is non-null, empty if
// there is none.
func nullWithin(value *ast.Value, variables map[string]any) (variable string) {
	if value.Kind == ast.Variable {
		if given, told := variables[value.Raw]; told && given == nil && value.ExpectedType != nil && value.ExpectedType.NonNull {
			return value.Raw
		}
		return ""
	}
	for _, child := range value.Children {
		if variable = nullWithin(child.Value, variables); variable != "" {
			return variable
		}
	}
	return ""
}

// readArguments reads the arguments of a field that has some.
func (f *Field) readArguments(given map[string]any) {
	switch f.Kind {
	case OneNode:
		f.countIDs(given["id"])
	case Nodes, Products:
		f.countIDs(given["ids"])
	case Entities:
		representations := list(given["representations"])
		ids := make([]any, len(representations)) // nil for a representation without an id
		for i, representation := range representations {
			if keys, ok := representation.(map[string]any); ok {
				ids[i] = keys["id"]
			}
		}
		f.countIDs(ids)
	case Queue, OwnComments:
		f.Count = integer(given["first"], comment.DefaultPageSize)
		f.Single = given["status"] != nil
	case Writes:
		input, _ := given["input"].(map[string]any)
		f.Count = len(list(input["decisions"]))
	case Leaderboard:
		f.Count = integer(given["first"], comment.DefaultLeaders)
	case Comments:
		f.Page = pageOf(given)
	case PageLinks:
		f.Count = integer(given["around"], comment.DefaultAround)
	case MostHelpful:
		f.OrLatest = given["orLatest"] == true
		f.WantsLatest = f.OrLatest
	case Statistics:
		f.Single = given["lang"] != nil
	}
}

func (f *Field) countIDs(argument any) {
	ids := list(argument)
	f.Count = len(ids)
	for _, id := range ids {
		if text, ok := id.(string); ok && comment.IsID(text) {
			f.CommentIDs++
		}
	}
}

var errBothEnds = comment.Errorf(comment.BadInput, "give either first or last, not both: first pages forwards, last backwards")

// pageOf reads the arguments of a connection of comments.
func pageOf(given map[string]any) *Page {
	first, last := given["first"], given["last"]
	page := &Page{Query: comment.Query{Order: comment.NewestFirst, SettledOnly: given["settledOnly"] == true, Slice: comment.Slice{
		Size: integer(last, integer(first, comment.DefaultPageSize)), FromEnd: last != nil, Page: integer(given["page"], 0),
		After: somewhere(given["after"]), Before: somewhere(given["before"]),
	}}}
	if order, ok := given["order"].(string); ok {
		page.Order = comment.Order(order)
	}
	page.Filter, page.Refused = filterOf(given["filter"])
	if page.Refused == nil && first != nil && last != nil {
		page.Refused = errBothEnds
	}
	refused := page.Slice.Check(page.Order)
	if given["page"] != nil {
		refused = page.Slice.CheckPage()
	}
	page.FromNewest = refused == nil && page.Refused == nil && page.Slice.After == nil && page.Slice.Before == nil && page.Slice.Page <= 1 &&
		len(page.Order.Links(page.Filter)) == 1 && page.Order.Descends() != page.Slice.FromEnd && page.Filter.RestrictsOnly(comment.OfRating) && !page.SettledOnly
	return page
}

// somewhere returns any place for a cursor. An empty text is none, as for the resolvers.
func somewhere(cursor any) *comment.Place {
	if cursor == nil || cursor == "" {
		return nil
	}
	return new(comment.Place)
}

// filterOf reads a filter and normalizes it. No other code turns one into a [comment.Filter].
func filterOf(argument any) (filter comment.Filter, _ error) {
	given, _ := argument.(map[string]any)
	var errs [6]error
	filter.Languages, errs[0] = values(given["languages"], graph.UnmarshalLanguage)
	filter.Ratings, errs[1] = values(given["ratings"], graphql.UnmarshalInt)
	filter.Verified, errs[2] = optional(given["verified"], graphql.UnmarshalBoolean)
	filter.WithMedia, errs[3] = optional(given["withMedia"], graphql.UnmarshalBoolean)
	filter.CreatedAfter, errs[4] = optional(given["createdAfter"], graph.UnmarshalDateTime)
	filter.CreatedBefore, errs[5] = optional(given["createdBefore"], graph.UnmarshalDateTime)
	if err := cmp.Or(errs[:]...); err != nil {
		return comment.Filter{}, err
	}
	return filter.Normalize()
}

// values reads a list of values, nil for null.
func values[T any](argument any, unmarshal func(any) (T, error)) (read []T, err error) {
	for _, value := range list(argument) {
		one, err := unmarshal(value)
		if err != nil {
			return nil, err
		}
		read = append(read, one)
	}
	return read, nil
}

// optional reads a value, nil for null.
func optional[T any](argument any, unmarshal func(any) (T, error)) (*T, error) {
	if argument == nil {
		return nil, nil
	}
	value, err := unmarshal(argument)
	return &value, err
}

// list returns the elements of an argument. A single value is a list of one, as the GraphQL
// specification coerces it.
func list(argument any) []any {
	switch v := argument.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{argument}
}

// integer returns the value of an argument of the type Int, or otherwise if it is null. gqlgen
// reads the argument in the same way, and refuses the field when it cannot.
func integer(argument any, otherwise int) int {
	if argument == nil {
		return otherwise
	}
	value, err := graphql.UnmarshalInt(argument)
	if err != nil {
		return otherwise
	}
	return value
}
