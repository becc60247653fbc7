package comment

import (
	"slices"
	"time"
)

// MaxLanguages bounds a filter: DynamoDB's IN takes at most 100 values.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
const MaxLanguages = 100

// Filter says which comments of a product are wanted. What is empty does not restrict.
type Filter struct {
	// Languages are those wanted; canonical.
	Languages []Language
	// Ratings are those wanted, each 1 to MaxRating.
	Ratings []int
	// CreatedAfter is the earliest time wanted, inclusive.
	CreatedAfter *time.Time
	// CreatedBefore is the end of the time wanted, exclusive.
	CreatedBefore *time.Time
}

// Normalize returns the one way to write a filter: sorted, without duplicates, all five ratings as none, times to the
// millisecond. Filters that choose alike by languages and ratings come out equal. A filter that cannot match anything is
// a BadInput error. The receiver's slices are left as they are.
func (f Filter) Normalize() (Filter, error) {
	for _, rating := range f.Ratings {
		if err := CheckRating(rating); err != nil {
			return Filter{}, err
		}
	}
	out := Filter{
		Languages:     sortedSet(f.Languages),
		Ratings:       sortedSet(f.Ratings),
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

// Allows tells whether a comment passes the filter, which must be normalized. It is the meaning of a filter: plans and
// indexes are only ways to find what it allows.
func (f Filter) Allows(c Comment) bool {
	created := c.CreatedAt()
	return (len(f.Languages) == 0 || slices.Contains(f.Languages, c.Language)) &&
		(len(f.Ratings) == 0 || slices.Contains(f.Ratings, c.Rating)) &&
		(f.CreatedAfter == nil || !created.Before(*f.CreatedAfter)) &&
		(f.CreatedBefore == nil || created.Before(*f.CreatedBefore))
}

// Range is the range of positions that the filter's dates allow, both ends included. It is empty, with low above high,
// when they end before the first millisecond that a position can stand for.
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

func sortedSet[T ~int | ~string](values []T) []T {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// ceilMillisecond rounds up, which is right for both ends: a comment stands at a whole millisecond, and the first one at
// or after t is the first at or after the next whole millisecond.
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
