package layout

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Update returns the update expression that changes an item from before to after, which have the
// same key, and the values of the expression. It leaves out equal attributes, because others may
// have changed them meanwhile.
func Update(before, after Item) (expression string, values Item) {
	values = Item{}
	var set, remove []string
	for _, attr := range AttributesOf(before, after) {
		switch value := after[attr]; {
		case reflect.DeepEqual(before[attr], value):
		case value == nil:
			remove = append(remove, attr)
		default:
			set = append(set, attr+" = :"+attr)
			values[":"+attr] = value
		}
	}
	if len(set) > 0 {
		expression = "SET " + strings.Join(set, ", ")
	}
	if len(remove) > 0 {
		expression += " REMOVE " + strings.Join(remove, ", ")
	}
	return expression, values
}

// AttributesOf returns the names of the attributes of two items, sorted.
func AttributesOf(a, b Item) []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	return slices.Compact(names)
}

// SameAttrs returns the condition that attributes have the values of an earlier item, or are
// missing as they were there. It adds the values of the condition to values.
func SameAttrs(was, values Item, attrs ...string) string {
	conditions := make([]string, len(attrs))
	for i, attr := range attrs {
		if was[attr] == nil {
			conditions[i] = "attribute_not_exists(" + attr + ")"
			continue
		}
		conditions[i] = attr + " = :was" + attr
		values[":was"+attr] = was[attr]
	}
	return strings.Join(conditions, " AND ")
}

// OrNone returns the values of an expression, nil if there are none: DynamoDB refuses an empty map.
func OrNone(values Item) Item {
	if len(values) == 0 {
		return nil
	}
	return values
}
