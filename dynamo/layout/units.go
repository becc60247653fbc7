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

// EventualUnits is what reading so many bytes in one eventually consistent call costs, in read
// units.
func EventualUnits(bytes int) float64 { return math.Ceil(float64(bytes)/UnitBytes) / 2 }

// AssumedUnits is what a call costs that scans so many items of AssumedItemBytes.
func AssumedUnits(items int) float64 { return EventualUnits(items * AssumedItemBytes) }

// ItemsWithin is how many items of AssumedItemBytes each of so many calls may scan, if together
// they may cost so many read units. It is a multiple of ItemsPerHalfUnit, and 0 if there are no
// units left.
func ItemsWithin(units float64, calls int) int {
	return int(max(0, units)/float64(calls)*2) * ItemsPerHalfUnit
}
