package resolvers

import (
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// sample stands in a key for the field that asks for a sample: none.
type sample struct{ text bool }

// newestFields are the fields of one product that select its newest comments.
type newestFields struct{ lookahead.Newest }

// newestPage is a page of the newest comments of a product.
type newestPage struct {
	key   loaders.PageKey
	query comment.Query
}

// page returns the page to look in for the newest comment with one of some ratings; false for none.
func (a newestFields) page(product string, ratings []int) (newestPage, bool) {
	if field := a.Page(ratings); field != nil {
		return a.pageOf(product, field), true
	}
	if !a.Sampled() {
		return newestPage{}, false
	}
	query := comment.Query{Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: lookahead.SampleSize}, WithoutText: !a.Text}
	return newestPage{key: loaders.PageKey{Product: product, Field: sample{a.Text}}, query: query}, true
}

// pageOf returns the page that a field asks for, as its resolver reads it.
func (a newestFields) pageOf(product string, field *lookahead.Field) newestPage {
	page := field.Page
	query := comment.Query{
		Product: product, Filter: page.Filter, Order: page.Order,
		Slice:     comment.Slice{Size: page.Size, FromEnd: page.FromEnd, Page: page.Number},
		Numbering: page.Numbering, WithoutText: !field.WantsText && !a.Text,
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
	if asked := (newestFields{lookahead.NewestOf(below.Fields)}); len(asked.Rated) > 0 {
		to.WantLatest(asked.wanted(""))
	}
	for i := range below.Fields {
		wantLatest(to, &below.Fields[i])
	}
}

// wanted says which newest comments statistics may have to tell.
func (a newestFields) wanted(product string) comment.Latest {
	want := comment.Latest{Ratings: slices.Clone(a.Rated), WithoutText: !a.Text}
	for _, ratings := range a.Rated {
		if source, any := a.page(product, ratings); any {
			want.Among = max(want.Among, source.query.Slice.Size)
		}
	}
	return want
}
