package comment

import (
	"encoding/binary"
	"slices"
)

// Counts are numbers of comments by rating: 1 star first, MaxRating stars last.
type Counts [MaxRating]int

// Add counts n more comments of a cell.
func (c *Counts) Add(cell Cell, n int) { c[cell.Rating-1] += n }

// Total returns the number of comments of all ratings.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

// Plus returns the counts of two sets of comments together.
func (c Counts) Plus(other Counts) Counts {
	for i, n := range other {
		c[i] += n
	}
	return c
}

// Of returns the number of comments with any of the ratings, of all comments if ratings is empty.
func (c Counts) Of(ratings []int) (total int) {
	if len(ratings) == 0 {
		return c.Total()
	}
	for _, rating := range ratings {
		total += c[rating-1]
	}
	return total
}

// Average returns the mean rating, exact to the rounding of a float64; 0 and false if there are no
// comments.
func (c Counts) Average() (mean float64, any bool) {
	stars, total := 0, c.Total()
	for i, n := range c {
		stars += (i + 1) * n
	}
	if total == 0 {
		return 0, false
	}
	return float64(stars) / float64(total), true
}

// RatingCount is how many comments have a rating.
type RatingCount struct {
	// Rating is 1 to MaxRating.
	Rating int
	// Count may be 0.
	Count int
}

// Ratings returns a row for each rating, the best first, with rows whose count is 0.
func (c Counts) Ratings() []RatingCount {
	rows := make([]RatingCount, 0, len(c))
	for i, n := range slices.Backward(c[:]) {
		rows = append(rows, RatingCount{Rating: i + 1, Count: n})
	}
	return rows
}

// add adds the counts of some ratings, or of all if ratings is empty.
func (c *Counts) add(more Counts, ratings []int) {
	if len(ratings) == 0 {
		*c = c.Plus(more)
	}
	for _, rating := range ratings {
		c[rating-1] += more[rating-1]
	}
}

// Row is the counts of one language: how many comments have each rating, and how many of these have
// each set of traits. Rows can be compared. While no comment has traits, a row is little more than
// its Counts.
type Row struct {
	// Counts counts all comments, whatever their traits.
	Counts
	// Split is how they are split by traits, empty if no comment has any.
	Split Split
}

// Split has the counts of each set of traits but the empty one as signed varints, set by set.
type Split string

// splitBytes is enough for most splits.
const splitBytes = 128

// Sets are the counts of a row by set of traits. Those of the empty set come first.
type Sets [TraitSets]Counts

// RowOf returns the row that holds the counts.
func RowOf(sets Sets) (r Row) {
	if sets == (Sets{sets[0]}) {
		return Row{Counts: sets[0]}
	}
	out := make([]byte, 0, splitBytes)
	for i := range sets {
		for rating, n := range sets[i] {
			r.Counts[rating] += n
			if i > 0 {
				out = binary.AppendVarint(out, int64(n))
			}
		}
	}
	r.Split = Split(out)
	return r
}

// Traited reports whether the row counts any comment with traits.
func (r *Row) Traited() bool { return r.Split != "" }

// Sets returns the counts of the row by set of traits.
func (r *Row) Sets() (sets Sets) {
	sets[0] = r.Counts
	if !r.Traited() {
		return sets
	}
	rest := append(make([]byte, 0, splitBytes), r.Split...)
	for i := 1; i < len(sets); i++ {
		for rating := range sets[i] {
			n, read := binary.Varint(rest)
			rest = rest[read:]
			sets[i][rating], sets[0][rating] = int(n), sets[0][rating]-int(n)
		}
	}
	return sets
}

// Add counts n more comments of a cell, whatever its language.
func (r *Row) Add(cell Cell, n int) {
	if cell.Traits == 0 && !r.Traited() {
		r.Counts.Add(cell, n)
		return
	}
	sets := r.Sets()
	sets[cell.Traits].Add(cell, n)
	*r = RowOf(sets)
}

// Plus returns the counts of two rows together.
func (r Row) Plus(other Row) Row {
	if !r.Traited() && !other.Traited() {
		r.Counts = r.Counts.Plus(other.Counts)
		return r
	}
	sets, more := r.Sets(), other.Sets()
	for i := range sets {
		sets[i] = sets[i].Plus(more[i])
	}
	return RowOf(sets)
}

// Allowed returns, for each rating, how many comments have traits that the filter allows. It
// ignores the filter's ratings.
func (r *Row) Allowed(filter Filter) (sum Counts) {
	if !filter.MayMatchFew() {
		return r.Counts
	}
	if !r.Traited() {
		if filter.AllowsTraits(0) {
			sum = r.Counts
		}
		return sum
	}
	for traits, counts := range r.Sets() {
		if filter.AllowsTraits(Traits(traits)) {
			sum = sum.Plus(counts)
		}
	}
	return sum
}
