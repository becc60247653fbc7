package layout

import (
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// conditionAttrs are the attributes of items that conditions are about.
var conditionAttrs = map[comment.Attribute]string{
	comment.OfLanguage: AttrLanguage,
	comment.OfRating:   AttrRating,
}

// FilterExpression returns the expression by which DynamoDB filters items that meet all of some
// conditions, empty for none. It adds the values that the expression names to values.
func FilterExpression(conditions []comment.Condition, values Item) string {
	all := make([]string, len(conditions))
	for i, condition := range conditions {
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
