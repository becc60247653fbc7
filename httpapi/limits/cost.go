package limits

import (
	"cmp"
	"math"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
)

// Prices tell what reading costs, in read capacity units. Whoever knows the table sets them.
type Prices interface {
	// PageUnits is what one page of a list may cost. Neither its product nor its cursors matter.
	PageUnits(q comment.Query) float64
	// CountUnits is what counting a list within a range of dates may cost. Neither its product nor its dates matter.
	CountUnits(q comment.Query) float64
	// CommentUnits is what fetching one comment by its id costs.
	CommentUnits() float64
	// StatsUnits is what fetching the statistics of one product costs.
	StatsUnits() float64
	// LeadersUnits is what a leaderboard of so many products may cost.
	LeadersUnits(first int) float64
	// WriteUnits is what writing one comment costs, in as many read units as have the same price.
	WriteUnits() float64
}

// place is where a field stands: how often it is resolved, and the sizes of what is above it.
type place struct {
	times      float64
	products   float64       // different ones that anything here can be about: below a product all is about that product
	stats      *float64      // units of the statistics of these products, as far as they are charged
	page       float64       // comments of the page above
	partitions float64       // reads of the page above
	list       comment.Query // that the page above is of
	dated      bool          // that list has a range of dates
	count      *float64      // units of counting that list, as far as they are charged
}

// estimate adds up what an operation may cost. It follows the fields as execution will: with variables resolved, what
// @skip and @include leave out left out, and what is asked for twice merged.
type estimate struct {
	operation *graphql.OperationContext
	prices    Prices
	averages  map[string]float64 // lengths of the lists of introspection
	units     float64
	values    float64
}

// run estimates a whole operation.
func (e *estimate) run() {
	e.selection(e.operation.Operation.SelectionSet, place{times: 1, products: 1})
}

func (e *estimate) selection(set ast.SelectionSet, at place) {
	if len(set) == 0 {
		return
	}
	for _, field := range graphql.CollectFields(e.operation, set, nil) {
		e.values += at.times
		e.selection(field.Selections, e.inside(field, at))
	}
}

// inside is the place inside a field, whose own price it adds.
func (e *estimate) inside(field graphql.CollectedField, at place) place {
	if at.stats == nil {
		at.stats = new(float64) // of this root field
	}
	name := coordinate(field.Field)
	if weigh, known := weights[name]; known {
		inside := at
		e.units += at.times * weigh(question{e.prices, field.ArgumentMap(e.operation.Variables)}, &inside)
		return inside
	}
	if length, known := e.averages[name]; known {
		at.times *= length
	} else if listOfObjects(field.Field) {
		at.times *= comment.MaxPageSize
	}
	return at
}

// coordinate is a field's name within the schema, such as Product.comments.
func coordinate(field *ast.Field) string {
	if field.ObjectDefinition == nil {
		return field.Name
	}
	return field.ObjectDefinition.Name + "." + field.Name
}

func listOfObjects(field *ast.Field) bool {
	return field.Definition != nil && field.Definition.Type.Elem != nil && len(field.SelectionSet) > 0
}

// question is a field as it is asked.
type question struct {
	prices    Prices
	arguments map[string]any
}

// weights say of each field that reads, or whose value is a list, what it costs once, and what that makes of the place
// inside it. Other lists of objects count as a hundred elements.
var weights = map[string]func(q question, inside *place) (units float64){
	"CommentConnection.totalCount": question.total,
	"CommentConnection.stats":      question.counts,
	"CommentStats.ratings":         func(_ question, inside *place) float64 { inside.times *= comment.MaxRating; return 0 },
	"Product.stats":                question.statsOfLanguage,

	"Product.commentsInOtherLanguages": question.stats,
	"Product.languages": func(q question, inside *place) float64 {
		units := q.stats(inside)
		inside.times *= assumedLanguages
		return units
	},
	"Query.leaderboard": question.leaders,

	"Mutation.addComment":     question.write,
	"Mutation.editComment":    question.write,
	"Mutation.deleteComment":  question.write,
	"Query.comment":           func(q question, _ *place) float64 { return q.commentUnits("id") },
	"Query.node":              func(q question, _ *place) float64 { return q.commentUnits("id") },
	"Query.nodes":             func(q question, inside *place) float64 { return q.ids(inside) },
	"Query.products":          func(q question, inside *place) float64 { q.ids(inside); return 0 },
	"Product.comments":        question.page,
	"Product.lastCommentedAt": question.latest,
	"Product.latestPositive":  question.latestOfTwo,
	"Product.latestNegative":  question.latestOfTwo,
	"CommentConnection.edges": func(_ question, inside *place) float64 { inside.times *= inside.page; return 0 },
	"CommentConnection.nodes": func(_ question, inside *place) float64 { inside.times *= inside.page; return 0 },

	"AddCommentPayload.userErrors":    problems,
	"EditCommentPayload.userErrors":   problems,
	"DeleteCommentPayload.userErrors": problems,

	"QueryPlan.reads":      func(_ question, inside *place) float64 { inside.times *= inside.partitions; return 0 },
	"QueryPlan.candidates": func(_ question, inside *place) float64 { inside.times *= maxCandidates; return 0 },
	"QueryPlan.skipped":    func(_ question, inside *place) float64 { inside.times *= inside.partitions; return 0 },
}

// maxCandidates is how many ways there are at most to read a page.
const maxCandidates = 5

// assumedLanguages is how many languages the comments of a product are assumed to be in.
const assumedLanguages = 20

// stats is the price of the statistics of products. They are read once for each product, whatever is asked of them and
// however often.
func (q question) stats(inside *place) float64 {
	return raise(inside.stats, inside.products*q.prices.StatsUnits(), inside.times)
}

// statsOfLanguage is the price of the statistics of products, perhaps of one language alone.
func (q question) statsOfLanguage(inside *place) float64 {
	languages := 0
	if q.arguments["lang"] != nil {
		languages = 1
	}
	return q.stats(inside) + q.rows(languages)
}

// rows is what looking up so many languages may cost that share a row of the statistics of their product.
func (q question) rows(languages int) float64 { return float64(languages) * q.prices.StatsUnits() }

// total is the price of a list's total: that of the statistics, or of counting what is in a range of dates.
func (q question) total(inside *place) float64 { return q.counted(inside, comment.CountTotal) }

// counts is the price of a list's counts by rating, likewise.
func (q question) counts(inside *place) float64 { return q.counted(inside, comment.CountByRating) }

// counted is the price of counting the list above. It is counted once, for whatever wants most.
func (q question) counted(inside *place, counting comment.Counting) float64 {
	if !inside.dated {
		return q.stats(inside) + q.rows(len(inside.list.Filter.Languages))
	}
	list := inside.list
	list.Count = counting
	return raise(inside.count, q.prices.CountUnits(list), 1)
}

// raise is by how much something becomes dearer than was charged for it, spread over the times that this is charged.
func raise(charged *float64, units, times float64) float64 {
	if times == 0 || units <= *charged {
		return 0
	}
	more := units - *charged
	*charged = units
	return more / times
}

// leaders is the price of a leaderboard.
func (q question) leaders(inside *place) float64 {
	first := defaultLeaders
	if n, given := number(q.arguments["first"]); given {
		first = min(max(n, 1), maxLeaders) // others are refused by the field, which reads nothing
	}
	inside.times *= float64(first)
	inside.products = float64(first)
	return q.prices.LeadersUnits(first)
}

// What a leaderboard lists, and the most that it does.
const (
	defaultLeaders = 10
	maxLeaders     = 100
)

// write is the price of a change. All of them read the comment first or the key afterwards.
func (q question) write(*place) float64 { return q.prices.WriteUnits() + q.prices.CommentUnits() }

// problems counts as many as one input can have.
func problems(_ question, inside *place) float64 {
	inside.times *= maxProblems
	return 0
}

// maxProblems is one for each field of the largest input.
const maxProblems = 8

// ids multiplies what is inside by the number of ids, and gives what fetching those of comments costs.
func (q question) ids(inside *place) (units float64) {
	ids := list(q.arguments["ids"])
	inside.times *= float64(len(ids))
	inside.products = float64(len(ids))
	for _, id := range ids {
		units += q.unitsOf(id)
	}
	return units
}

func (q question) commentUnits(argument string) float64 { return q.unitsOf(q.arguments[argument]) }

// unitsOf is what fetching a node costs: a product is known by its id alone.
func (q question) unitsOf(id any) float64 {
	if text, ok := id.(string); ok && comment.IsID(text) {
		return q.prices.CommentUnits()
	}
	return 0
}

// page is the price of a connection of comments.
func (q question) page(inside *place) float64 {
	size := comment.DefaultPageSize
	for _, argument := range []string{"first", "last"} {
		if n, given := number(q.arguments[argument]); given {
			size = min(max(n, 0), comment.MaxPageSize) // others are refused by the field, which reads nothing
		}
	}
	filter := filterOf(q.arguments["filter"])
	inside.list, inside.count, inside.dated = comment.Query{Filter: filter}, new(float64), dated(q.arguments["filter"])
	inside.page = float64(size)
	inside.partitions = float64(max(1, len(filter.Languages)) * max(1, len(filter.Ratings)))
	if inside.dated { // read once for the page, and perhaps once more to count, by rating
		inside.partitions += float64(max(1, len(filter.Languages)) * cmp.Or(len(filter.Ratings), comment.MaxRating))
	}
	return q.prices.PageUnits(comment.Query{Filter: filter, Slice: comment.Slice{Size: size}})
}

func (q question) latest(*place) float64 {
	return q.prices.PageUnits(comment.Query{Slice: comment.Slice{Size: 1}})
}

func (q question) latestOfTwo(*place) float64 {
	return q.prices.PageUnits(comment.Query{Filter: comment.Filter{Ratings: []int{1, 2}}, Slice: comment.Slice{Size: 1}})
}

// filterOf reads of a filter what its price depends on: how many languages and ratings. One that the field will refuse,
// and that therefore reads nothing, is as good as none.
func filterOf(argument any) comment.Filter {
	given, _ := argument.(map[string]any)
	var filter comment.Filter
	for _, value := range list(given["languages"]) {
		if text, ok := value.(string); ok {
			filter.Languages = append(filter.Languages, comment.Language(strings.ToLower(text)))
		}
	}
	for _, value := range list(given["ratings"]) {
		if n, ok := number(value); ok {
			filter.Ratings = append(filter.Ratings, n)
		}
	}
	normalized, err := filter.Normalize()
	if err != nil {
		return comment.Filter{}
	}
	return normalized
}

// dated tells whether a filter has a range of dates.
func dated(argument any) bool {
	given, _ := argument.(map[string]any)
	return given["createdAfter"] != nil || given["createdBefore"] != nil
}

// ceiling is a count of a message, rounded up.
func ceiling(x float64) int { return int(math.Ceil(min(x, most))) }
