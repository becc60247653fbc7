package planner

import "github.com/talkback/talkback/dynamo/layout"

const (
	// MaxLimit is the highest Limit of one call. It bounds the duration of a call whose residual
	// filter returns nothing.
	MaxLimit = 1000
	// maxReads is how many partitions a plan reads at once. Each call costs at least half a read
	// unit and a connection.
	maxReads = 32
	// maxMixed is up to how many languages mixtures are considered. For more, computing them costs
	// more than they save.
	maxMixed = 8
)

// nextLimit is the Limit of a read's next call, where missing is how many comments the read still
// has to bring. It follows the share of the scanned items that were returned so far. If none were,
// it doubles.
func nextLimit(last, scanned, returned, missing int) int {
	limit := 2 * last
	if returned > 0 {
		limit = (missing*scanned + returned - 1) / returned
	}
	return max(1, min(limit, MaxLimit))
}

// inSteps reports whether the given number of partitions that hold nothing else are read in steps:
// a few comments of each, and then twice as many of those that had them. Steps cost less if there
// are many partitions, since most comments are in a few of them, and take more waves.
func inSteps(parts, want int) bool {
	return parts > maxReads || unitsInSteps(parts, want) < unitsAtOnce(parts, want)
}

// unitsAtOnce is what it costs to read as many comments of each partition as are wanted of all.
func unitsAtOnce(parts, want int) float64 {
	return float64(parts) * layout.AssumedUnits(min(want, MaxLimit))
}

// unitsInSteps is what it costs to read them in steps. Each call of a partition but the first scans
// at most twice what the call before returned.
func unitsInSteps(parts, want int) float64 {
	return float64(parts)*layout.AssumedUnits(layout.ItemsPerHalfUnit) + 3*layout.AssumedUnits(want)
}
