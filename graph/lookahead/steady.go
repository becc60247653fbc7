package lookahead

import "slices"

// steadyKinds are the kinds of fields below a product that show what its comments and statistics are,
// and nothing that changes without them.
var steadyKinds = []Kind{
	Plain, Text, Media, Comments, PageElements, Cursor, ListTotal, ListStats, PageCount, PageNumber,
	Latest, LatestRated, MostHelpful, Statistics, Languages, Ratings,
}

// Steady reports whether the answer to a query stays the same for as long as the products do not change
// that it names. It is about products alone, and about nothing of them that depends on who asks, on the
// time, on how it was read, or on the index of page numbers, which follows changes in its own time.
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
		if !slices.Contains(steadyKinds, below.Kind) || !below.Page.steady() || !below.steadyBelow() {
			return false
		}
	}
	return true
}

// steady reports whether a page is found and counted without the index, at any time alike.
func (p *Page) steady() bool {
	return p == nil || !p.SettledOnly && p.Number == 0 && !p.LooksUp() && !p.Filter.Dated() && p.Filter.Verified == nil && p.Filter.WithMedia == nil
}
