package comment

import (
	"slices"
	"strconv"
)

// Attribute is the subject of a condition: each comment has one value of it.
type Attribute string

// The attributes of conditions: a closed list.
const (
	OfLanguage Attribute = "languages"
	OfRating   Attribute = "ratings"
	// OfVerified is whether the author bought the product: the text True or False.
	OfVerified Attribute = "verified"
	// OfMedia is whether the comment has pictures or videos: the text True or False.
	OfMedia Attribute = "withMedia"
	// OfVotes is whether more people found the comment helpful than not: the text True or False.
	OfVotes Attribute = "helpful"
	// OfDates is when the comment was written, for an index whose sort key does not begin with the
	// date. The values are the earliest and the latest allowed position.
	OfDates Attribute = "created"
)

// Texts of the values of a condition on a trait.
const (
	True  = "true"
	False = "false"
)

// Attributes returns the attributes of a filter's conditions, in their order. Dates are not among
// them: a filter bounds them separately.
func Attributes() []Attribute {
	return []Attribute{OfLanguage, OfRating, OfVerified, OfMedia, OfVotes}
}

// Trait returns the trait that a condition on the attribute tests, 0 if it tests none.
func (a Attribute) Trait() Traits {
	switch a {
	case OfVerified:
		return IsVerified
	case OfMedia:
		return HasMedia
	case OfVotes:
		return IsHelpful
	}
	return 0
}

// Value is a value of an attribute: a text or, if that is empty, a number.
type Value struct {
	Text   string
	Number int
}

// String returns the text, or the digits of the number.
func (v Value) String() string {
	if v.Text == "" {
		return strconv.Itoa(v.Number)
	}
	return v.Text
}

// Condition is one condition of a filter: the attribute of a comment has one of some values.
type Condition struct {
	Attribute Attribute
	// Values are ascending, at least one.
	Values []Value
}

// OfCell returns the value of the attribute that all comments of a cell have, and false if they may
// have several.
func (a Attribute) OfCell(cell Cell) (Value, bool) {
	switch a {
	case OfLanguage:
		return Value{Text: string(cell.Language)}, true
	case OfRating:
		return Value{Number: cell.Rating}, true
	case OfVerified, OfMedia, OfVotes:
		return truth(cell.Traits&a.Trait() != 0), true
	}
	return Value{}, false
}

// truth is the value of a condition on a trait.
func truth(has bool) Value {
	if has {
		return Value{Text: True}
	}
	return Value{Text: False}
}

// AllowsCell reports whether a comment of a cell can meet the condition.
func (c Condition) AllowsCell(cell Cell) bool {
	value, one := c.Attribute.OfCell(cell)
	return !one || slices.Contains(c.Values, value)
}

// ValuesOf returns the values of an attribute that conditions allow, none if they allow all.
func ValuesOf(conditions []Condition, attribute Attribute) []Value {
	for i := range conditions {
		if conditions[i].Attribute == attribute {
			return conditions[i].Values
		}
	}
	return nil
}

// values are the values of an attribute that a filter allows, none if it allows all.
func (f Filter) values(attribute Attribute) (values []Value) {
	switch attribute {
	case OfLanguage:
		for _, language := range f.Languages {
			values = append(values, Value{Text: string(language)})
		}
	case OfRating:
		for _, rating := range f.Ratings {
			values = append(values, Value{Number: rating})
		}
	case OfVerified, OfMedia, OfVotes:
		if wanted := *f.wants(attribute.Trait()); wanted != nil {
			values = append(values, truth(*wanted))
		}
	}
	return values
}

// Conditions returns the conditions of a normalized filter, without its dates, in the order of
// Attributes.
func (f Filter) Conditions() (conditions []Condition) {
	for _, attribute := range Attributes() {
		if values := f.values(attribute); len(values) > 0 {
			conditions = append(conditions, Condition{attribute, values})
		}
	}
	return conditions
}

// Dated reports whether the filter restricts dates.
func (f Filter) Dated() bool { return f.CreatedAfter != nil || f.CreatedBefore != nil }

// OfCells reports whether a comment's cell alone decides all conditions of the filter.
func (f Filter) OfCells() bool {
	return !slices.ContainsFunc(f.Conditions(), func(c Condition) bool {
		_, one := c.Attribute.OfCell(Cell{})
		return !one
	})
}

// Counted reports whether Stats have exact counts of the comments that the filter allows.
func (f Filter) Counted() bool { return !f.Dated() && f.OfCells() }

// RestrictsOnly reports whether the filter has no conditions except on the attribute.
func (f Filter) RestrictsOnly(attribute Attribute) bool {
	return !f.Dated() && !slices.ContainsFunc(f.Conditions(), func(c Condition) bool { return c.Attribute != attribute })
}
