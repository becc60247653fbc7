package cost

// Hours is how many hours a month has, and seconds how many seconds.
const (
	Hours   = 730
	seconds = Hours * 3600
	gb      = 1 << 30
)

// partitionBytes is how much a partition holds at most, and leastPartitions how many a new table on
// demand has: it takes 4,000 write units a second at once.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html
const (
	partitionBytes  = 10 * gb
	leastPartitions = 4
)

// Line is a line of a bill.
type Line struct {
	What string `json:"what"`
	// Number is how many there are in the month, and Each how many units each takes.
	Number float64 `json:"number"`
	Each   float64 `json:"each"`
	// Units is what is billed, of the given unit.
	Units float64 `json:"units"`
	Unit  string  `json:"unit"`
	// Price is dollars for a unit.
	Price   float64 `json:"price"`
	Dollars float64 `json:"dollars"`
}
