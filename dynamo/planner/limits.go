package planner

import "github.com/talkback/talkback/dynamo/layout"

const (
	// MaxLimit is the highest Limit of one call. It bounds the duration of a call whose residual
	// filter returns nothing.
	MaxLimit = 1000
	// maxReads is how many partitions a plan reads at once. Each call costs at least half a read
	// unit and a connection.
	maxReads = 32
	// maxMixed is the number of languages above which mixtures are not considered: computing them
	// would cost more than they save.
	maxMixed = 8
)

// inSteps reports whether partitions that hold only the list are read in steps: a few comments of
// each, then twice as many of those that had enough. With many partitions, steps take more waves
// but cost less, since most comments are in a few of the partitions.
func inSteps(parts, want int) bool {
	return parts > maxReads || unitsInSteps(parts, want) < unitsAtOnce(parts, want)
}

// unitsAtOnce returns the cost of reading want comments from each partition.
func unitsAtOnce(parts, want int) float64 {
	return float64(parts) * layout.AssumedUnits(min(want, MaxLimit))
}

// unitsInSteps returns the cost of reading them in steps. Each call of a partition scans at most
// twice as many items as the call before.
func unitsInSteps(parts, want int) float64 {
	return float64(parts)*layout.AssumedUnits(layout.ItemsPerHalfUnit) + 3*layout.AssumedUnits(want)
}
