package planner

const (
	// MaxLimit is the highest Limit of one call. It bounds the duration of a call of which a
	// residual filter returns nothing.
	MaxLimit = 1000
	// maxReads is how many partitions a plan reads at once. Each call costs at least half a read
	// unit and a connection.
	maxReads = 32
)

// nextLimit is the Limit of a read's next call, while so many comments are missing. It follows the
// share of the scanned items that were returned so far. If none were, it doubles.
func nextLimit(last, scanned, returned, missing int) int {
	limit := 2 * last
	if returned > 0 {
		limit = (missing*scanned + returned - 1) / returned
	}
	return max(1, min(limit, MaxLimit))
}
