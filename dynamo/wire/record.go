package wire

import "github.com/go-faster/jx"

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
	Flag bool   // of a Flag
	Text string // of a Text or a Number
	// Bytes are those of a Binary. Of a List or a Map they are JSON, and valid as long as the Record.
	Bytes []byte
}

// Record is an item of an answer, decoded as far as most of its readers need. It is valid until the
// function returns that it is given to; its strings and bytes remain. It is not a map, because making
// a map takes longer than finding a few of ten attributes in a list.
type Record struct {
	attributes []attribute
	strings    []byte // of the attributes, one after the other
	text       string // the same, once all are read
}

// attribute is one of a Record. A string has its place in the text of all.
type attribute struct {
	name     []byte
	value    Value
	from, to int
}

// Get returns the value of an attribute.
func (r *Record) Get(name string) Value {
	a := r.find(name)
	if a == nil {
		return Value{}
	}
	v := a.value
	if v.Kind == Text || v.Kind == Number {
		v.Text = r.text[a.from:a.to]
	}
	return v
}

// Has reports whether the item has an attribute.
func (r *Record) Has(name string) bool { return r.find(name) != nil }

// find returns an attribute, nil for none.
func (r *Record) find(name string) *attribute {
	for i := len(r.attributes) - 1; i >= 0; i-- { // of two with one name, the last counts
		a := &r.attributes[i]
		if string(a.name) == name {
			return a
		}
	}
	return nil
}

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

// read reads an item. Its strings are allocated together.
func (r *Record) read(d *jx.Decoder) error {
	r.attributes, r.strings = r.attributes[:0], r.strings[:0]
	all, err := d.ObjIter()
	if err != nil {
		return err
	}
	for all.Next() {
		r.attributes = append(r.attributes, attribute{name: all.Key()})
		if err := r.value(d, &r.attributes[len(r.attributes)-1]); err != nil {
			return err
		}
	}
	r.text = string(r.strings)
	return all.Err()
}

// value reads the value of an attribute.
func (r *Record) value(d *jx.Decoder, a *attribute) error {
	all, err := d.ObjIter()
	if err != nil {
		return err
	}
	if !all.Next() {
		return ErrUnusual
	}
	switch string(all.Key()) {
	case "S":
		a.value.Kind = Text
		err = r.string(d, a)
	case "N":
		a.value.Kind = Number
		err = r.string(d, a)
	case "B":
		a.value.Kind = Binary
		a.value.Bytes, err = binary(d)
	case "BOOL":
		a.value.Kind = Flag
		a.value.Flag, err = d.Bool()
	case "L":
		a.value.Kind = List
		a.value.Bytes, err = nested(d, jx.Array)
	case "M":
		a.value.Kind = Map
		a.value.Bytes, err = nested(d, jx.Object)
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

// string reads a string into the text of all.
func (r *Record) string(d *jx.Decoder, a *attribute) (err error) {
	a.from = len(r.strings)
	r.strings, err = d.StrAppend(r.strings)
	a.to = len(r.strings)
	return err
}
