package layout

import (
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// conditionAttrs are the attributes of items that conditions are about, unless they are about
// traits.
var conditionAttrs = map[comment.Attribute]string{
	comment.OfLanguage: AttrLanguage,
	comment.OfRating:   AttrRating,
}

// IfAbsent is the condition that no item has the key.
const IfAbsent = "attribute_not_exists(" + AttrPK + ")"

// FilterExpression returns the expression by which DynamoDB filters items that meet all of some
// conditions, empty for none. It adds the values that the expression names to values.
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

// TraitExpression returns the expression of a comment that has a trait, or has it not. It adds the
// value that the expression names to values.
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
// item of a first version has no version attribute. It adds the value that the condition names.
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
