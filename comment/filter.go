package comment

import (
	"cmp"
	"slices"
	"time"
)

// MaxLanguages bounds a filter: DynamoDB's IN takes at most 100 values.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
const MaxLanguages = 100

// Filter selects comments of a product. An empty field does not restrict the selection.
type Filter struct {
	// Languages are the selected languages, in canonical form.
	Languages []Language
	// Ratings are the selected ratings, each 1 to MaxRating.
	Ratings []int
	// Verified selects comments whose author bought the product, or all others; nil selects both.
	Verified *bool
	// WithMedia selects comments with pictures or videos, or all others; nil selects both.
	WithMedia *bool
	// Helpful selects comments that more people found helpful than not, or all others; nil selects
	// both. Lists in the order MostHelpful and their links use it; clients cannot set it.
	Helpful *bool
	// CreatedAfter is the earliest selected time, inclusive.
	CreatedAfter *time.Time
	// CreatedBefore is the end of the selected time, exclusive.
	CreatedBefore *time.Time
}

// Normalize returns the normal form of the filter: lists sorted and without duplicates, all five
// ratings as none, times to the millisecond. Filters that select the same languages and ratings
// have the same form. A filter that cannot match anything is a BadInput error. The receiver's
// slices are not changed.
func (f Filter) Normalize() (Filter, error) {
	for _, rating := range f.Ratings {
		if err := CheckRating(rating); err != nil {
			return Filter{}, err
		}
	}
	out := Filter{
		Languages:     sortedSet(f.Languages),
		Ratings:       sortedSet(f.Ratings),
		Verified:      f.Verified,
		WithMedia:     f.WithMedia,
		Helpful:       f.Helpful,
		CreatedAfter:  ceilMillisecond(f.CreatedAfter),
		CreatedBefore: ceilMillisecond(f.CreatedBefore),
	}
	if len(out.Languages) > MaxLanguages {
		return Filter{}, Errorf(BadInput, "the filter has %d languages; give at most %d, or none for all", len(out.Languages), MaxLanguages)
	}
	if len(out.Ratings) == MaxRating {
		out.Ratings = nil
	}
	if out.CreatedAfter != nil && out.CreatedBefore != nil && !out.CreatedAfter.Before(*out.CreatedBefore) {
		return Filter{}, Errorf(BadInput, "the filter's createdAfter must be earlier than its createdBefore, else nothing fits")
	}
	return out, nil
}

// Allows reports whether a comment passes the filter, which must be normalized. It defines the
// meaning of a filter: plans and indexes only find what it allows.
func (f Filter) Allows(c Comment) bool {
	created := c.CreatedAt()
	return f.AllowsCell(c.Cell()) &&
		(f.CreatedAfter == nil || !created.Before(*f.CreatedAfter)) &&
		(f.CreatedBefore == nil || created.Before(*f.CreatedBefore))
}

// AllowsCell reports whether comments of a cell can pass the filter, regardless of its dates. The
// filter must be normalized.
func (f Filter) AllowsCell(cell Cell) bool {
	return (len(f.Languages) == 0 || slices.Contains(f.Languages, cell.Language)) &&
		(len(f.Ratings) == 0 || slices.Contains(f.Ratings, cell.Rating)) &&
		f.AllowsTraits(cell.Traits)
}

// wants returns a pointer to the filter's field for a trait, nil if there is none.
func (f *Filter) wants(trait Traits) **bool {
	switch trait {
	case IsVerified:
		return &f.Verified
	case HasMedia:
		return &f.WithMedia
	case IsHelpful:
		return &f.Helpful
	}
	return nil
}

// MayMatchFew reports whether the filter has conditions that few comments of each partition may
// meet. Each wave of reads is then kept within the cost bound.
func (f *Filter) MayMatchFew() bool {
	return f.Verified != nil || f.WithMedia != nil || f.Helpful != nil
}

// AllowsTraits reports whether comments with exactly these traits can pass the filter.
func (f *Filter) AllowsTraits(traits Traits) bool {
	return (f.Verified == nil || *f.Verified == (traits&IsVerified != 0)) &&
		(f.WithMedia == nil || *f.WithMedia == (traits&HasMedia != 0)) &&
		(f.Helpful == nil || *f.Helpful == (traits&IsHelpful != 0))
}

// CellCodes returns the codes of the cells that the filter allows, whatever their language; nil for
// all.
func (f Filter) CellCodes() (codes []int) {
	if len(f.Ratings) == 0 && !f.MayMatchFew() {
		return nil
	}
	for code := 1; code <= MaxCellCode; code++ {
		cell, any := CellOf("", code)
		if any && f.AllowsTraits(cell.Traits) && (len(f.Ratings) == 0 || slices.Contains(f.Ratings, cell.Rating)) {
			codes = append(codes, code)
		}
	}
	return codes
}

// Range returns the range of positions that the filter's dates allow, both ends included. It is
// empty, with low above high, if the dates end before the first millisecond that a position can
// hold.
func (f Filter) Range() (low, high Position) {
	high = MaxPosition
	if f.CreatedAfter != nil {
		low = FirstAt(*f.CreatedAfter)
	}
	if f.CreatedBefore == nil {
		return low, high
	}
	end := FirstAt(*f.CreatedBefore)
	if end == (Position{}) {
		return MaxPosition, end
	}
	return low, end.Previous()
}

// sortedSet returns nil for no values.
func sortedSet[T cmp.Ordered](values []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// ceilMillisecond rounds up to a millisecond. This is right for both ends of a range: comments have
// whole milliseconds, so the first one at or after t is the first one at or after t rounded up.
func ceilMillisecond(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	down := t.UTC().Truncate(time.Millisecond)
	if down.Before(*t) {
		down = down.Add(time.Millisecond)
	}
	return &down
}
