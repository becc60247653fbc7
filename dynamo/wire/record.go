package wire

import (
	"math"

	"github.com/go-faster/jx"

	"github.com/talkback/talkback/internal/slab"
)

// Kind is the type of a value.
type Kind byte

// The types of values that a [Record] has. A missing attribute is of the kind Missing.
const (
	Missing Kind = iota
	Text
	Number
	Binary
	Flag
	List
	Map
)

// Value is the value of an attribute.
type Value struct {
	Kind Kind
	Flag bool // of a Flag
	// Bytes are those of a Binary. Those of a Text, a Number, a List or a Map are valid as long as the
	// Record; of the last two they are JSON. [Record.Join] makes a string that remains.
	Bytes []byte
}

// Record is an item of an answer, decoded as far as most of its readers need. It is valid until the
// function returns that it is given to; binaries remain. It is not a map, because making a map takes
// longer than finding a few of ten attributes in a list.
type Record struct {
	attributes []attribute // after one that stands for those that are missing
	// letters are the numbers of the attributes that have one byte for their name. Of two with one
	// name, the last counts.
	letters [256]uint8

	strings slab.Strings
	text    []byte // of the strings with escapes
}

// attribute is one of a Record.
type attribute struct {
	name  []byte
	value Value
}

// mostAttributes is how many attributes a Record has at most. Items with more are not usual.
const mostAttributes = math.MaxUint8

// begin begins the next item.
func (r *Record) begin() {
	r.attributes = append(r.attributes[:0], attribute{})
	r.letters, r.text = [256]uint8{}, r.text[:0]
}

// clear forgets the item, and keeps room for another.
func (r *Record) clear() {
	clear(r.attributes[:cap(r.attributes)])
	if cap(r.text) > largestKept {
		r.text = nil
	}
}

// largestKept is the size in bytes of the largest strings with escapes that room is kept for.
const largestKept = 4 << 10

// add adds an attribute, and returns where its value belongs.
func (r *Record) add(name []byte) (*Value, error) {
	number := len(r.attributes)
	if number > mostAttributes {
		return nil, ErrUnusual
	}
	r.attributes = append(r.attributes, attribute{name: name})
	if len(name) == 1 {
		r.letters[name[0]] = uint8(number)
	}
	return &r.attributes[number].value, nil
}

// Get returns the value of an attribute. It is valid as long as the Record, and must not be changed.
func (r *Record) Get(name string) *Value {
	if len(name) == 1 {
		return &r.attributes[r.letters[name[0]]].value
	}
	return r.named(name)
}

// named returns the value of an attribute that has any name.
func (r *Record) named(name string) *Value {
	last := len(r.attributes) - 1
	for ; last > 0 && string(r.attributes[last].name) != name; last-- { // of two with one name, the last counts
	}
	return &r.attributes[last].value
}

// Join returns the two parts as one string, which shares its memory with others of the Record.
func (r *Record) Join(before string, after []byte) string { return r.strings.Join(before, after) }

// records calls each for each item of a list, with the same Record.
func records(d *jx.Decoder, each func(*Record)) error {
	var r Record
	return elements(d, func(d *jx.Decoder) error {
		if err := r.read(d); err != nil {
			return err
		}
		each(&r)
		return nil
	})
}

// read reads an item.
func (r *Record) read(d *jx.Decoder) error {
	r.begin()
	all, err := d.ObjIter()
	if err != nil {
		return err
	}
	for all.Next() {
		value, err := r.add(all.Key())
		if err != nil {
			return err
		}
		if err := r.value(d, value); err != nil {
			return err
		}
	}
	return all.Err()
}

// value reads the value of an attribute.
func (r *Record) value(d *jx.Decoder, to *Value) error {
	all, err := d.ObjIter()
	if err != nil {
		return err
	}
	if !all.Next() {
		return ErrUnusual
	}
	switch string(all.Key()) {
	case "S":
		to.Kind = Text
		err = r.string(d, to)
	case "N":
		to.Kind = Number
		err = r.string(d, to)
	case "B":
		to.Kind = Binary
		to.Bytes, err = binary(d)
	case "BOOL":
		to.Kind = Flag
		to.Flag, err = d.Bool()
	case "L":
		to.Kind = List
		to.Bytes, err = nested(d, jx.Array)
	case "M":
		to.Kind = Map
		to.Bytes, err = nested(d, jx.Object)
	default:
		err = ErrUnusual
	}
	if err != nil || all.Next() {
		return ErrUnusual
	}
	return all.Err()
}

// nested reads a list or a map as JSON.
func nested(d *jx.Decoder, as jx.Type) ([]byte, error) {
	if d.Next() != as {
		return nil, ErrUnusual
	}
	return d.Raw()
}

// string reads a string.
func (r *Record) string(d *jx.Decoder, to *Value) (err error) {
	from := len(r.text)
	r.text, err = d.StrAppend(r.text)
	to.Bytes = r.text[from:]
	return err
}
