package layout

import (
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
