package layout

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item as DynamoDB stores it: attribute values by attribute name.
type Item = map[string]types.AttributeValue

// Text returns a string as an attribute value.
func Text(s string) *types.AttributeValueMemberS { return &types.AttributeValueMemberS{Value: s} }

// Binary returns bytes as an attribute value.
func Binary(b []byte) *types.AttributeValueMemberB { return &types.AttributeValueMemberB{Value: b} }

// Number returns a whole number as an attribute value.
func Number(n int64) *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Flag returns a boolean as an attribute value.
func Flag(b bool) *types.AttributeValueMemberBOOL { return &types.AttributeValueMemberBOOL{Value: b} }

// Time returns a time as an attribute value: a number of milliseconds since 1970, rounded down.
func Time(t time.Time) *types.AttributeValueMemberN { return Number(t.UnixMilli()) }

// Reader reads the attributes of an item. Text, Number, Time and Flag read required attributes.
// OptionalText, OptionalNumber and OptionalTime read attributes that the item may lack.
//
// An attribute of another type, or a required one that is missing, reads as the zero value of its
// type. Err then names the first such attribute. Callers that accept zero values need not check
// Err.
type Reader struct {
	item  Item
	wrong string // name of the first attribute that is missing or of another type, else empty
	bytes int    // size of the attributes that were read, names included
}

// NewReader returns a Reader of an item.
func NewReader(item Item) *Reader { return &Reader{item: item} }

func (r *Reader) has(attr string) bool { return r.item[attr] != nil }

// Err returns an error that names the first attribute that was missing or of another type, or nil.
// The error holds no value of the item.
func (r *Reader) Err() error {
	if r.wrong == "" {
		return nil
	}
	return fmt.Errorf("attribute %q is missing or of another type", r.wrong)
}

// Text reads a string.
func (r *Reader) Text(attr string) string {
	text, ok := r.item[attr].(*types.AttributeValueMemberS)
	if !ok {
		r.fail(attr)
		return ""
	}
	r.bytes += len(attr) + len(text.Value)
	return text.Value
}

// OptionalText reads a string. It returns "" if the item lacks the attribute.
func (r *Reader) OptionalText(attr string) string {
	if !r.has(attr) {
		return ""
	}
	return r.Text(attr)
}

// TextOrBinary reads an attribute that is either a string or binary. For a string, binary is nil.
func (r *Reader) TextOrBinary(attr string) (text string, binary []byte) {
	value, ok := r.item[attr].(*types.AttributeValueMemberB)
	if !ok {
		return r.Text(attr), nil
	}
	r.bytes += len(attr) + len(value.Value)
	return "", value.Value
}

// BytesOf returns a binary attribute; nil if it is missing or of another type.
func BytesOf(it Item, attr string) []byte {
	if value, ok := it[attr].(*types.AttributeValueMemberB); ok {
		return value.Value
	}
	return nil
}

// Number reads a whole number.
func (r *Reader) Number(attr string) int64 {
	n, ok := ParseNumber(r.item[attr])
	if !ok {
		r.fail(attr)
		return 0
	}
	r.bytes += len(attr) + sizeOfValue(r.item[attr])
	return n
}

// OptionalNumber reads a whole number. It returns 0 if the item lacks the attribute.
func (r *Reader) OptionalNumber(attr string) int64 {
	if !r.has(attr) {
		return 0
	}
	return r.Number(attr)
}

// Time reads a time, stored as milliseconds since 1970. It returns the start of 1970 if the
// attribute is missing or of another type.
func (r *Reader) Time(attr string) time.Time { return time.UnixMilli(r.Number(attr)).UTC() }

// OptionalTime reads a time. It returns the zero time if the item lacks the attribute.
func (r *Reader) OptionalTime(attr string) time.Time {
	if !r.has(attr) {
		return time.Time{}
	}
	return r.Time(attr)
}

// Flag reads a boolean.
func (r *Reader) Flag(attr string) bool {
	flag, ok := r.item[attr].(*types.AttributeValueMemberBOOL)
	if !ok {
		r.fail(attr)
		return false
	}
	return flag.Value
}

func (r *Reader) fail(attr string) {
	if r.wrong == "" {
		r.wrong = attr
	}
}

// Fields are pointers to variables by the attributes that hold them: texts, whole numbers, flags
// and times. They write and read a record of an item in the same terms. A zero time has no
// attribute.
type Fields map[string]any

// Write sets the attributes of an item to the values of the variables.
func (f Fields) Write(to Item) {
	for attr, field := range f {
		switch field := field.(type) {
		case *string:
			to[attr] = Text(*field)
		case *int:
			to[attr] = Number(int64(*field))
		case *int64:
			to[attr] = Number(*field)
		case *bool:
			to[attr] = Flag(*field)
		case *time.Time:
			if !field.IsZero() {
				to[attr] = Time(*field)
			}
		default:
			panic(fmt.Sprintf("attribute %q cannot hold a %T", attr, field))
		}
	}
}

// Read sets the variables to the attributes of a reader's item, of which only times are optional.
func (f Fields) Read(r *Reader) {
	for attr, field := range f {
		switch field := field.(type) {
		case *string:
			*field = r.Text(attr)
		case *int:
			*field = int(r.Number(attr))
		case *int64:
			*field = r.Number(attr)
		case *bool:
			*field = r.Flag(attr)
		case *time.Time:
			*field = r.OptionalTime(attr)
		}
	}
}

// ParseNumber returns the whole number that an attribute holds. ok is false for any other value.
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

// SizeOf returns the size of the named attributes of an item in bytes, names included. Without
// names, it is the size of the whole item.
func SizeOf(it Item, names []string) int {
	if names == nil {
		names = slices.Collect(maps.Keys(it))
	}
	size := 0
	for _, name := range names {
		if it[name] != nil {
			size += len(name) + sizeOfValue(it[name])
		}
	}
	return size
}

// containerBytes is the size of a list or a map without its elements, and elementBytes is the
// overhead of each element.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const (
	containerBytes = 3
	elementBytes   = 1
)

// sizeOfValue returns the size of a value of one of the types that the table uses.
func sizeOfValue(value types.AttributeValue) int {
	size := 0
	switch value := value.(type) {
	case *types.AttributeValueMemberS:
		size = len(value.Value)
	case *types.AttributeValueMemberB:
		size = len(value.Value)
	case *types.AttributeValueMemberN:
		size = sizeOfNumber(value.Value)
	case *types.AttributeValueMemberBOOL:
		size = 1
	case *types.AttributeValueMemberL:
		size = containerBytes
		for _, element := range value.Value {
			size += elementBytes + sizeOfValue(element)
		}
	case *types.AttributeValueMemberM:
		size = containerBytes
		for name, element := range value.Value {
			size += elementBytes + len(name) + sizeOfValue(element)
		}
	}
	return size
}

// sizeOfNumber returns the size of a whole number in bytes: one, one more for every two digits, and
// one for a minus sign. Digits are paired from the decimal point, and pairs of zeros at the end
// take no space. DynamoDB's documentation says this in fewer words; DynamoDB Local does it this
// way.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func sizeOfNumber(text string) int {
	digits, negative := strings.CutPrefix(text, "-")
	zeros := len(digits) - len(strings.TrimRight(digits, "0"))
	size := 1
	if zeros < len(digits) {
		size += (len(digits)+1)/2 - zeros/2
	}
	if negative {
		size++
	}
	return size
}
