package layout

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is what DynamoDB keeps: values by attribute name.
type Item = map[string]types.AttributeValue

// Text is a string as an attribute.
func Text(s string) *types.AttributeValueMemberS { return &types.AttributeValueMemberS{Value: s} }

// Number is a whole number as an attribute.
func Number(n int64) *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Flag is a boolean as an attribute.
func Flag(b bool) *types.AttributeValueMemberBOOL { return &types.AttributeValueMemberBOOL{Value: b} }

// Time is a time as an attribute: a number of milliseconds since 1970, rounded down.
func Time(t time.Time) *types.AttributeValueMemberN { return Number(t.UnixMilli()) }

// SetOptionalTime sets an attribute to a time, and leaves it out if the time is zero.
func SetOptionalTime(to Item, attr string, t time.Time) {
	if !t.IsZero() {
		to[attr] = Time(t)
	}
}

// Reader reads the attributes of an item. Text, Number, Time and Flag read attributes that the item must have. OptionalText,
// OptionalNumber and OptionalTime read attributes that it may lack.
//
// An attribute that is missing or of another type reads as its type's zero value, and Err names the first attribute that is
// of another type, or missing though the item must have it. Callers that can do with zero values need not check Err.
type Reader struct {
	item  Item
	wrong string // name of the first attribute that is not as it must be, empty for none
	bytes int    // size of what was read, names included
}

// NewReader returns a Reader of an item.
func NewReader(item Item) *Reader { return &Reader{item: item} }

// Err returns an error that names the first attribute that was not as it must be, or nil. It holds no value of the item.
func (r *Reader) Err() error {
	if r.wrong == "" {
		return nil
	}
	return fmt.Errorf("attribute %q is missing or of another type", r.wrong)
}

// Text reads a string.
func (r *Reader) Text(attr string) string { return *r.text(attr) }

// text returns where the item has the string, which saves a copy to those that keep a pointer.
func (r *Reader) text(attr string) *string {
	value, ok := r.item[attr].(*types.AttributeValueMemberS)
	if !ok {
		r.fail(attr)
		return new(string)
	}
	r.bytes += len(attr) + len(value.Value)
	return &value.Value
}

// OptionalText reads a string, empty if the item lacks it.
func (r *Reader) OptionalText(attr string) string {
	if r.item[attr] == nil {
		return ""
	}
	return r.Text(attr)
}

// TextOrBinary reads an attribute that is either a string or binary. Binary is nil if it is a string.
func (r *Reader) TextOrBinary(attr string) (text string, binary []byte) {
	value, ok := r.item[attr].(*types.AttributeValueMemberB)
	if !ok {
		return r.Text(attr), nil
	}
	r.bytes += len(attr) + len(value.Value)
	return "", value.Value
}

// Number reads a whole number.
func (r *Reader) Number(attr string) int64 {
	n, ok := ParseNumber(r.item[attr])
	if !ok {
		r.fail(attr)
		return 0
	}
	r.bytes += len(attr) + sizeOfNumber(r.item[attr].(*types.AttributeValueMemberN).Value)
	return n
}

// OptionalNumber reads a whole number, 0 if the item lacks it.
func (r *Reader) OptionalNumber(attr string) int64 {
	if r.item[attr] == nil {
		return 0
	}
	return r.Number(attr)
}

// Time reads a time that is a number of milliseconds since 1970. A wrong one is the start of 1970.
func (r *Reader) Time(attr string) time.Time { return time.UnixMilli(r.Number(attr)).UTC() }

// OptionalTime reads a time, the zero time if the item lacks it.
func (r *Reader) OptionalTime(attr string) time.Time {
	if r.item[attr] == nil {
		return time.Time{}
	}
	return r.Time(attr)
}

// Flag reads a boolean.
func (r *Reader) Flag(attr string) bool {
	value, ok := r.item[attr].(*types.AttributeValueMemberBOOL)
	if !ok {
		r.fail(attr)
		return false
	}
	return value.Value
}

func (r *Reader) fail(attr string) {
	if r.wrong == "" {
		r.wrong = attr
	}
}

// ParseNumber returns the whole number that an attribute holds. It is not ok for any other attribute.
func ParseNumber(value types.AttributeValue) (n int64, ok bool) {
	number, ok := value.(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(number.Value, 10, 64)
	if err != nil {
		return 0, false
	}
	return n, true
}

// SizeOf is the size of the named attributes of an item in bytes, names included.
func SizeOf(it Item, names []string) int {
	size := 0
	for _, name := range names {
		switch value := it[name].(type) {
		case *types.AttributeValueMemberS:
			size += len(name) + len(value.Value)
		case *types.AttributeValueMemberB:
			size += len(name) + len(value.Value)
		case *types.AttributeValueMemberN:
			size += len(name) + sizeOfNumber(value.Value)
		}
	}
	return size
}

// sizeOfNumber is the size of a whole number in bytes: one, one more for every two digits, and one for a minus sign. Digits
// are paired from the decimal point, and zero pairs at the end take nothing. DynamoDB's documentation says so in fewer
// words, and DynamoDB Local does so.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func sizeOfNumber(text string) int {
	digits, negative := strings.CutPrefix(text, "-")
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	for strings.HasSuffix(digits, "00") {
		digits = strings.TrimSuffix(digits, "00")
	}
	size := len(digits)/2 + 1
	if negative {
		size++
	}
	return size
}
