package lookahead

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
)

// Argument returns an argument of a field, nil if neither the operation nor the schema gives it. It is
// what [ast.Field.ArgumentMap] has under that name, without the map. In a validated operation, values
// can be read.
func Argument(field *ast.Field, variables map[string]any, name string) (value any) {
	if given := field.Arguments.ForName(name); given != nil {
		if given.Value.Kind != ast.Variable {
			value, _ = given.Value.Value(variables)
			return value
		}
		if value, told := variables[given.Value.Raw]; told {
			return value
		}
	}
	if standard := field.Definition.Arguments.ForName(name).DefaultValue; standard != nil {
		value, _ = standard.Value(variables)
	}
	return value
}

// arguments are those of one field in one operation.
type arguments struct {
	field     *ast.Field
	variables map[string]any
}

// named returns the argument of a name, nil if it is not given.
func (a arguments) named(name string) any { return Argument(a.field, a.variables, name) }

// readArguments reads the arguments of a field that has some.
func (f *Field) readArguments(given arguments) {
	switch f.Kind {
	case OneNode:
		f.countIDs(given.named("id"))
	case Nodes, Products:
		f.countIDs(given.named("ids"))
	case Leaderboard:
		f.Leaders = integer(given.named("first"), comment.DefaultLeaders)
	case Comments:
		f.Page = pageOf(given)
	case PageLinks:
		f.Around = integer(given.named("around"), comment.DefaultAround)
	case Statistics:
		f.OneLanguage = given.named("lang") != nil
	}
}

func (f *Field) countIDs(argument any) {
	ids := list(argument)
	f.IDs = len(ids)
	for _, id := range ids {
		if text, ok := id.(string); ok && comment.IsID(text) {
			f.CommentIDs++
		}
	}
}

// pageOf reads the arguments of a connection of comments.
func pageOf(given arguments) *Page {
	first, last := given.named("first"), given.named("last")
	page := &Page{Size: comment.DefaultPageSize, FromEnd: last != nil, BothEnds: first != nil && last != nil}
	page.Size = integer(first, page.Size)
	page.Size = integer(last, page.Size)
	page.Number = integer(given.named("page"), 0)
	filter, _ := given.named("filter").(map[string]any)
	page.Dated = filter["createdAfter"] != nil || filter["createdBefore"] != nil
	page.Filter = filterOf(filter)
	page.FromNewest = page.fromNewest(given)
	return page
}

// fromNewest reports whether a page begins, or from the end of its list ends, with the newest
// comment of all languages and dates.
func (p *Page) fromNewest(given arguments) bool {
	oldestFirst := given.named("order") == string(comment.OldestFirst)
	return oldestFirst == p.FromEnd && !p.Dated && len(p.Filter.Languages) == 0 && p.Number <= 1 &&
		given.named("after") == nil && given.named("before") == nil && given.named("settledOnly") != true
}

// filterOf reads the languages and ratings of a filter. A filter that the field will refuse, and
// that therefore reads nothing, is as good as none.
func filterOf(given map[string]any) comment.Filter {
	var filter comment.Filter
	for _, value := range list(given["languages"]) {
		if text, ok := value.(string); ok {
			filter.Languages = append(filter.Languages, comment.Language(strings.ToLower(text)))
		}
	}
	for _, value := range list(given["ratings"]) {
		filter.Ratings = append(filter.Ratings, integer(value, 0))
	}
	normalized, err := filter.Normalize()
	if err != nil {
		return comment.Filter{}
	}
	return normalized
}

// list returns the elements of an argument. A single value where a list is wanted is a list of it.
func list(argument any) []any {
	switch v := argument.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{argument}
}

// integer returns the value of an argument of the type Int, and another one when it is null. gqlgen
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
