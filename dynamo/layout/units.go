package layout

import (
	"math"
)

// UnitBytes is what one read unit reads consistently; eventually consistent reads take half a unit
// for it. DynamoDB rounds up: an item of one byte costs as much as one of 4 KB.
const UnitBytes = 4 << 10

// AssumedItemBytes is the size of an item of an index that is assumed before comments of a product
// were read: 200 bytes of keys and short attributes, and a text of some 130 words.
const AssumedItemBytes = 1 << 10

// ItemsPerHalfUnit is how many items of AssumedItemBytes half a unit reads.
const ItemsPerHalfUnit = UnitBytes / AssumedItemBytes

// EventualUnits is the cost of reading bytes in one eventually consistent call, in read units.
func EventualUnits(bytes int) float64 { return math.Ceil(float64(bytes)/UnitBytes) / 2 }

// AssumedUnits is the cost of a call that scans items of AssumedItemBytes each, in read units.
func AssumedUnits(items int) float64 { return EventualUnits(items * AssumedItemBytes) }

// ItemsWithin is how many items of AssumedItemBytes each call may scan, if all calls together may
// cost the given read units. It is a multiple of ItemsPerHalfUnit, and 0 if no units are left.
func ItemsWithin(units float64, calls int) int {
	return int(max(0, units)/float64(calls)*2) * ItemsPerHalfUnit
}
