package cost

// Hours and seconds are the lengths of a month.
const (
	Hours   = 730
	seconds = Hours * 3600
	gb      = 1 << 30
)

// partitionBytes is the maximum size of a partition. leastPartitions is how many partitions a new
// on-demand table has: it supports 4,000 write units a second at once.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
const (
	partitionBytes  = 10 * gb
	leastPartitions = 4
)

// Line is a line of a bill.
type Line struct {
	What string `json:"what"`
	// Number is the quantity in the month, and Each the units for one.
	Number float64 `json:"number"`
	Each   float64 `json:"each"`
	// Units is the billed quantity of the given unit.
	Units float64 `json:"units"`
	Unit  string  `json:"unit"`
	// Price is the price of one unit, in dollars.
	Price   float64 `json:"price"`
	Dollars float64 `json:"dollars"`
}
