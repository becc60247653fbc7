package wire

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/go-faster/jx"
)

// maxDepth is how many levels of lists and maps an item may have.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const maxDepth = 32

// usualItems, usualAttributes and usualKey are how much room is made for items, for their attributes
// and for those of a key in an index before they are counted.
const (
	usualItems      = 24
	usualAttributes = 12
	usualKey        = 4
)

// items reads a list of items, unless each gets them.
func items(d *jx.Decoder, each func(*Record)) ([]map[string]types.AttributeValue, error) {
	if each != nil {
		return nil, records(d, each)
	}
	out := make([]map[string]types.AttributeValue, 0, usualItems)
	err := elements(d, func(d *jx.Decoder) error {
		it, err := item(d, 0, usualAttributes)
		out = append(out, it)
		return err
	})
	return out, err
}

// item reads an item, or a map within one at a depth, with room for so many attributes.
func item(d *jx.Decoder, depth, room int) (map[string]types.AttributeValue, error) {
	all, err := d.ObjIter()
	if err != nil {
		return nil, err
	}
	out := make(map[string]types.AttributeValue, room)
	for all.Next() {
		name := string(all.Key())
		if out[name], err = value(d, depth); err != nil {
			return nil, err
		}
	}
	return out, all.Err()
}

// value reads a value: an object whose only member has the type for its name.
func value(d *jx.Decoder, depth int) (out types.AttributeValue, err error) {
	all, err := d.ObjIter()
	if err != nil {
		return nil, err
	}
	if !all.Next() {
		return nil, ErrUnusual
	}
	switch string(all.Key()) {
	case "S":
		v := &types.AttributeValueMemberS{}
		v.Value, err = d.Str()
		out = v
	case "N":
		v := &types.AttributeValueMemberN{}
		v.Value, err = d.Str()
		out = v
	case "B":
		v := &types.AttributeValueMemberB{}
		v.Value, err = binary(d)
		out = v
	case "BOOL":
		v := &types.AttributeValueMemberBOOL{}
		v.Value, err = d.Bool()
		out = v
	default:
		out, err = container(d, string(all.Key()), depth+1)
	}
	if err != nil || all.Next() {
		return nil, ErrUnusual
	}
	return out, all.Err()
}

// container reads a list or a map. Sets are not usual.
func container(d *jx.Decoder, kind string, depth int) (out types.AttributeValue, err error) {
	switch {
	case depth > maxDepth:
		return nil, ErrUnusual
	case kind == "M":
		v := &types.AttributeValueMemberM{}
		v.Value, err = item(d, depth, usualAttributes)
		return v, err
	case kind == "L":
		v := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
		err = elements(d, func(d *jx.Decoder) error {
			element, err := value(d, depth)
			v.Value = append(v.Value, element)
			return err
		})
		return v, err
	}
	return nil, ErrUnusual
}
