package lookahead

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
)

// readArguments reads the arguments of a field that has some.
func (f *Field) readArguments(arguments map[string]any) {
	switch f.Kind {
	case OneNode:
		f.countIDs(arguments["id"])
	case Nodes, Products:
		f.countIDs(arguments["ids"])
	case Leaderboard:
		f.Leaders = integer(arguments["first"], comment.DefaultLeaders)
	case Comments:
		f.Page = pageOf(arguments)
	case PageLinks:
		f.Around = integer(arguments["around"], comment.DefaultAround)
	case Statistics:
		f.OneLanguage = arguments["lang"] != nil
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
func pageOf(arguments map[string]any) *Page {
	first, last := arguments["first"], arguments["last"]
	page := &Page{Size: comment.DefaultPageSize, FromEnd: last != nil, BothEnds: first != nil && last != nil}
	page.Size = integer(first, page.Size)
	page.Size = integer(last, page.Size)
	page.Number = integer(arguments["page"], 0)
	filter, _ := arguments["filter"].(map[string]any)
	page.Dated = filter["createdAfter"] != nil || filter["createdBefore"] != nil
	page.Filter = filterOf(filter)
	page.FromNewest = page.fromNewest(arguments)
	return page
}

// fromNewest reports whether a page begins, or from the end of its list ends, with the newest
// comment of all languages and dates.
func (p *Page) fromNewest(arguments map[string]any) bool {
	oldestFirst := arguments["order"] == string(comment.OldestFirst)
	return oldestFirst == p.FromEnd && !p.Dated && len(p.Filter.Languages) == 0 && p.Number <= 1 &&
		arguments["after"] == nil && arguments["before"] == nil && arguments["settledOnly"] != true
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
