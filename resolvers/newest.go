package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// The ratings that count as positive and as negative.
var (
	positiveRatings = []int{4, 5}
	negativeRatings = []int{1, 2}
)

// ratedLatest are the ratings of the fields that show the newest comment with one of some.
var ratedLatest = map[string][]int{"latestPositive": positiveRatings, "latestNegative": negativeRatings}

// sampled is how many of the newest comments are looked at for several fields if no page is asked
// for: with one beyond, about as many as half a read unit reads.
const sampled = 7

// sample stands in a key for the field that asks for a sample: none.
type sample struct{ text bool }

// newestAsked is what fields of one product, beside each other, ask of its newest comments. They
// share one page: the comments that the largest page of the newest lists anyway, or a sample.
type newestAsked struct {
	fields []lookahead.Field
	rated  [][]int // the sets of ratings whose newest comment is asked for
	latest int     // how many newest comments are asked for, with one of some ratings or any
	text   bool    // whether the text of one of them is
}

// newestAskedOf reads the fields that are asked of one product.
func newestAskedOf(fields []lookahead.Field) newestAsked {
	asked := newestAsked{fields: fields}
	any := 0
	for i := range fields {
		switch field := &fields[i]; field.Kind {
		case lookahead.Latest:
			any = 1
		case lookahead.LatestRated:
			asked.text = asked.text || field.WantsText
			ratings := ratedLatest[field.Name]
			if !slices.ContainsFunc(asked.rated, func(known []int) bool { return slices.Equal(known, ratings) }) {
				asked.rated = append(asked.rated, ratings)
			}
		}
	}
	asked.latest = any + len(asked.rated)
	return asked
}

// newestPage is a page of the newest comments of a product.
type newestPage struct {
	key   loaders.PageKey
	query comment.Query
}

// page returns the page to look in for the newest comment with one of some ratings; false for none.
func (a newestAsked) page(product string, ratings []int) (newestPage, bool) {
	var largest *lookahead.Field
	for i := range a.fields {
		field := &a.fields[i]
		if field.Kind == lookahead.Comments && lists(field.Page, ratings) && (largest == nil || largest.Page.Size < field.Page.Size) {
			largest = field
		}
	}
	switch {
	case largest != nil:
		return a.pageOf(product, largest), true
	case a.latest > 1:
		query := comment.Query{Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: sampled}, WithoutText: !a.text}
		return newestPage{key: loaders.PageKey{Product: product, Field: sample{a.text}}, query: query}, true
	}
	return newestPage{}, false
}

// lists reports whether a page lists the newest comments of a product with some ratings, and
// perhaps others. One of none does not tell which they are.
func lists(page *lookahead.Page, ratings []int) bool {
	if !page.FromNewest || page.BothEnds || page.Size < 1 || page.Size > comment.MaxPageSize {
		return false
	}
	other := func(rating int) bool { return !slices.Contains(page.Filter.Ratings, rating) }
	return len(page.Filter.Ratings) == 0 || len(ratings) > 0 && !slices.ContainsFunc(ratings, other)
}

// pageOf returns the page that a field asks for, as its resolver reads it.
func (a newestAsked) pageOf(product string, field *lookahead.Field) newestPage {
	page := field.Page
	query := comment.Query{
		Product: product, Filter: page.Filter, Order: comment.NewestFirst,
		Slice:     comment.Slice{Size: page.Size, FromEnd: page.FromEnd, Page: page.Number},
		Numbering: page.Numbering, WithoutText: !field.WantsText && !a.text,
	}
	if page.FromEnd {
		query.Order = comment.OldestFirst
	}
	return newestPage{key: loaders.PageKey{Product: product, Field: field}, query: query}
}

// newestIn returns the newest comment with one of some ratings in a page of the newest, nil if there
// is none. It is certain if it was found, or if the page ends with the oldest comment of its list.
func newestIn(q comment.Query, page comment.Page, ratings []int) (c *comment.Comment, certain bool) {
	older := page.HasNext
	if q.Slice.FromEnd {
		older = page.HasPrevious
	}
	filter := comment.Filter{Ratings: ratings}
	for i := range page.Comments {
		at := i
		if q.Slice.FromEnd {
			at = len(page.Comments) - 1 - i
		}
		if c := &page.Comments[at]; filter.Allows(*c) {
			return c, true
		}
	}
	return nil, !older
}

// wantLatest tells the loaders which newest comments are asked for anywhere below a field.
func wantLatest(to *loaders.Loaders, below *lookahead.Field) {
	if !below.WantsLatest {
		return
	}
	if asked := newestAskedOf(below.Fields); len(asked.rated) > 0 {
		to.WantLatest(asked.wanted(""))
	}
	for i := range below.Fields {
		wantLatest(to, &below.Fields[i])
	}
}

// wanted says which newest comments statistics may have to tell.
func (a newestAsked) wanted(product string) comment.Latest {
	want := comment.Latest{Ratings: slices.Clone(a.rated), WithoutText: !a.text}
	for _, ratings := range a.rated {
		if source, any := a.page(product, ratings); any {
			want.Among = max(want.Among, source.query.Slice.Size)
		}
	}
	return want
}

// inList reports whether the object whose field is being resolved is, or is below, an element of a
// list.
func inList(ctx context.Context) bool {
	for at := graphql.GetFieldContext(ctx); at != nil; at = at.Parent {
		if at.Index != nil {
			return true
		}
	}
	return false
}
