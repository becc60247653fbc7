package layout

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// conditionAttrs maps conditions, except those on traits, to attributes of items.
var conditionAttrs = map[comment.Attribute]string{
	comment.OfLanguage: AttrLanguage,
	comment.OfRating:   AttrRating,
}

// IfAbsent is the condition that no item has the key.
const IfAbsent = "attribute_not_exists(" + AttrPK + ")"

// FilterExpression returns the filter expression for items that meet all conditions; empty if there
// are none. It adds the values of the expression to values.
func FilterExpression(conditions []comment.Condition, values Item) string {
	all := make([]string, len(conditions))
	for i, condition := range conditions {
		if trait := condition.Attribute.Trait(); trait != 0 {
			all[i] = TraitExpression(trait, condition.Values[0].Text == comment.True, values)
			continue
		}
		if condition.Attribute == comment.OfDates {
			values[":from"], values[":to"] = Text(CommentPKPrefix+condition.Values[0].Text), Text(CommentPKPrefix+condition.Values[1].Text)
			all[i] = AttrPK + " >= :from AND " + AttrPK + " <= :to"
			continue
		}
		attr := conditionAttrs[condition.Attribute]
		names := make([]string, len(condition.Values))
		for j, value := range condition.Values {
			names[j] = ":" + attr + strconv.Itoa(j)
			if value.Text != "" {
				values[names[j]] = Text(value.Text)
			} else {
				values[names[j]] = Number(int64(value.Number))
			}
		}
		all[i] = attr + " IN (" + strings.Join(names, ",") + ")"
	}
	return strings.Join(all, " AND ")
}

// TraitExpression returns the condition that a comment has a trait, or that it does not. It adds
// the value of the condition to values.
func TraitExpression(trait comment.Traits, has bool, values Item) string {
	name := ":" + AttrTraits + trait.String()
	values[name] = Text(trait.String())
	contains := "contains(" + AttrTraits + "," + name + ")"
	if has {
		return contains
	}
	return "(attribute_not_exists(" + AttrTraits + ") OR NOT " + contains + ")"
}

// SameVersion returns the condition that a comment exists and has a version, or any if it is 0. The
// item of a first version has no version attribute. It adds the value of the condition to values.
func SameVersion(version int, values Item) string {
	const exists = "attribute_exists(" + AttrPK + ") AND attribute_not_exists(" + AttrDeleted + ")"
	switch version {
	case 0:
		return exists
	case 1:
		return exists + " AND attribute_not_exists(" + AttrVersion + ")"
	}
	values[":version"] = Number(int64(version))
	return AttrVersion + " = :version"
}

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

// SameNumber returns the condition that an item has a number; for 0, that it has none. The item may
// be missing.
func SameNumber(attr string, n int64) (condition string, values Item) {
	if n > 0 {
		return attr + " = :n", Item{":n": Number(n)}
	}
	return "attribute_not_exists(" + attr + ") OR NOT attribute_type(" + attr + ", :type)", Item{":type": Text("N")}
}

// AsRead returns the condition that an item is as it was read: missing if it is empty, else present
// with the same values of the given attributes. It adds nothing about other attributes.
func AsRead(it Item, attrs ...string) (condition string, values Item) {
	if len(it) == 0 {
		return IfAbsent, nil
	}
	values = Item{}
	return "attribute_exists(" + AttrPK + ") AND " + SameAttrs(it, values, attrs...), values
}

// OrNone returns the values of an expression, nil if there are none: DynamoDB refuses an empty map.
func OrNone(values Item) Item {
	if len(values) == 0 {
		return nil
	}
	return values
}
