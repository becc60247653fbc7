package comment

// Order is the order of a list of comments. In each of the orders, a comment stands at its Position.
type Order string

// The orders of a list.
const (
	// NewestFirst lists the latest comment first.
	NewestFirst Order = "NEWEST_FIRST"
	// OldestFirst lists the earliest comment first.
	OldestFirst Order = "OLDEST_FIRST"
)

// Descends reports whether positions fall along the list, rather than rise.
func (o Order) Descends() bool { return o == NewestFirst }

// Compare returns a negative number if a comes before b in the list, a positive one if it comes
// behind it, and 0 if they are equal.
func (o Order) Compare(a, b Position) int {
	if o.Descends() {
		a, b = b, a
	}
	return a.Compare(b)
}
