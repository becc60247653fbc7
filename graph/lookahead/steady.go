package lookahead

import "slices"

// steadyKinds are the kinds of fields below a product whose values change only when its comments or
// statistics change.
var steadyKinds = []Kind{
	Plain, Text, Media, Comments, PageElements, Cursor, ListTotal, ListStats, PageCount, PageNumber,
	Latest, LatestRated, MostHelpful, Statistics, Languages, Ratings,
}

// Steady reports whether the answer to a query stays the same until one of the products that it
// names changes. Such a query is about products only. None of its fields depends on the caller, the
// time, the way it was read, or the index of page numbers, which lags behind changes.
func (o *Operation) Steady() bool {
	for i := range o.Fields {
		f := &o.Fields[i]
		if f.Kind != Products && (f.Kind != Plain || f.Name != "product") || !f.steadyBelow() {
			return false
		}
	}
	return len(o.Fields) > 0
}

func (f *Field) steadyBelow() bool {
	for i := range f.Fields {
		below := &f.Fields[i]
		if !slices.Contains(steadyKinds, below.Kind) || !below.steadyBelow() {
			return false
		}
		// The index of page numbers may find or count the page, or the time decide about it.
		if p := below.Page; p != nil && (p.SettledOnly || p.Slice.Page != 0 || p.LooksUp() || p.Filter.Dated() || p.Filter.MayMatchFew()) {
			return false
		}
	}
	return true
}
