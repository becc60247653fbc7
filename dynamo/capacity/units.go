package capacity

import (
	"math"
)

// UnitBytes is what one unit reads, or half a one when the read is eventually consistent. Less is not sold: an item of
// one byte costs as much as one of 4 KB.
const UnitBytes = 4 << 10

// AssumedItemBytes is what an item of an index is assumed to have, before anything is known of a product's comments:
// 200 bytes of keys and short attributes, and a text of some 130 words.
const AssumedItemBytes = 1 << 10

// ItemsPerHalfUnit is how many comments the first call looks at in each of more than maxReads partitions: half a unit's worth.
const ItemsPerHalfUnit = UnitBytes / AssumedItemBytes

// EventualUnits is what reading so many bytes costs in one call, eventually consistently.
func EventualUnits(bytes int) float64 { return math.Ceil(float64(bytes)/UnitBytes) / 2 }

// AssumedUnits is what a call costs that looks at so many comments, if none has more than 1 KB.
func AssumedUnits(items int) float64 { return EventualUnits(items * AssumedItemBytes) }

// ItemsWithin is how many comments each of so many calls may look at for so many units, if none has more than 1 KB.
func ItemsWithin(units float64, calls int) int {
	return int(max(0, units)/float64(calls)*2) * ItemsPerHalfUnit
}
