package layout

import (
	"maps"
	"math"
	"reflect"
	"slices"
)

// What DynamoDB bills for items, by its documented rules and the definition of the table:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
const (
	InTable        Index = "table" // the table itself, in place of an index
	WriteUnitBytes       = 1 << 10 // how many bytes one write unit writes
	overheadBytes        = 100     // the storage overhead of each item in the table and in an index
)

// Units are read or write units, or bytes, of the table and its indexes.
type Units map[Index]float64

// Total returns the sum.
func (u Units) Total() (sum float64) {
	for _, index := range slices.Sorted(maps.Keys(u)) { // in a fixed order, so that sums are reproducible
		sum += u[index]
	}
	return sum
}

// Add adds other units, multiplied by times.
func (u Units) Add(other Units, times float64) {
	for index, n := range other {
		u[index] += n * times
	}
}

// WriteUnits returns the write units of a write that turns the item before into after. Either may
// be nil: the write then creates or deletes the item. In a transaction, the table's item counts
// twice, and entries of indexes once.
func WriteUnits(before, after Item, inTransaction bool) Units {
	units := Units{InTable: max(1, unitsOf(before, nil), unitsOf(after, nil))}
	if inTransaction {
		units[InTable] *= 2
	}
	for _, index := range definedIndexes {
		if n := index.writes(before, after); n > 0 {
			units[index.name] = n
		}
	}
	return units
}

// StoredBytes returns the billed storage of an item in the table and its indexes.
func StoredBytes(it Item) Units {
	bytes := Units{InTable: float64(SizeOf(it, nil) + overheadBytes)}
	for _, index := range definedIndexes {
		if index.has(it) {
			bytes[index.name] = float64(SizeOf(it, index.attrs) + overheadBytes)
		}
	}
	return bytes
}

// defined is an index from the definition of the table.
type defined struct {
	name  Index
	keys  []string // partition key and sort key of the index
	attrs []string // all attributes of its entries
}

var definedIndexes = func() (all []defined) {
	for _, gsi := range Definition(DefaultTable).GlobalSecondaryIndexes {
		index := defined{name: Index(*gsi.IndexName), attrs: append([]string{AttrPK, AttrSK}, gsi.Projection.NonKeyAttributes...)}
		for _, key := range gsi.KeySchema {
			index.keys = append(index.keys, *key.AttributeName)
			if !slices.Contains(index.attrs, *key.AttributeName) {
				index.attrs = append(index.attrs, *key.AttributeName)
			}
		}
		all = append(all, index)
	}
	return all
}()

// EntrySize returns the size of an item's entry in an index, in bytes.
func EntrySize(it Item, index Index) int {
	at := slices.IndexFunc(definedIndexes, func(d defined) bool { return d.name == index })
	return SizeOf(it, definedIndexes[at].attrs)
}

// Indexes returns the indexes of the table.
func Indexes() (all []Index) {
	for _, index := range definedIndexes {
		all = append(all, index.name)
	}
	return all
}

func (d defined) has(it Item) bool {
	return !slices.ContainsFunc(d.keys, func(key string) bool { return it[key] == nil })
}

// writes returns the write units of the index: an entry is put, deleted, changed, or moved by both.
func (d defined) writes(before, after Item) float64 {
	was, is := d.has(before), d.has(after)
	same := func(attr string) bool { return reflect.DeepEqual(before[attr], after[attr]) }
	switch {
	case !was && !is, was && is && !slices.ContainsFunc(d.attrs, func(attr string) bool { return !same(attr) }):
		return 0
	case was && is && !slices.ContainsFunc(d.keys, func(attr string) bool { return !same(attr) }):
		return max(unitsOf(before, d.attrs), unitsOf(after, d.attrs))
	}
	units := 0.0
	if was {
		units += unitsOf(before, d.attrs)
	}
	if is {
		units += unitsOf(after, d.attrs)
	}
	return units
}

// unitsOf returns the write units of the named attributes of an item, of all if there are no names.
func unitsOf(it Item, names []string) float64 {
	return math.Ceil(float64(SizeOf(it, names)) / WriteUnitBytes)
}
