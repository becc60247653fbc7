package counts

import "github.com/talkback/talkback/dynamo/layout"

// andEqual returns a further condition: that an attribute has a value, or is missing if the value
// is empty.
func andEqual(attr, text string, values layout.Item) string {
	if text == "" {
		return " AND attribute_not_exists(" + attr + ")"
	}
	values[":"+attr] = layout.Text(text)
	return " AND " + attr + " = :" + attr
}

// sameAttributes returns the condition that an item exists, and that some attributes are as they
// were, with any content.
func sameAttributes(was layout.Item, attrs ...string) (condition string, values layout.Item) {
	condition, values = "attribute_exists("+layout.AttrPK+")", layout.Item{}
	for _, attr := range attrs {
		if was[attr] == nil {
			condition += " AND attribute_not_exists(" + attr + ")"
			continue
		}
		condition += " AND " + attr + " = :" + attr
		values[":"+attr] = was[attr]
	}
	return condition, values
}
