package wire

import (
	"strconv"

	"github.com/go-faster/jx"
)

// Rows calls row for each member of a Map whose members are lists of whole numbers. The numbers are
// valid until row returns. It returns ErrUnusual for any other JSON, perhaps after some rows.
func Rows(json []byte, row func(name string, numbers []int64)) error {
	var numbers []int64
	return decode(json, func(d *jx.Decoder, name []byte) error {
		numbers = numbers[:0]
		err := only(d, "L", func(d *jx.Decoder) error {
			return elements(d, func(d *jx.Decoder) error {
				return only(d, "N", func(d *jx.Decoder) error {
					text, err := d.StrBytes()
					if err != nil {
						return err
					}
					n, err := strconv.ParseInt(string(text), 10, 64)
					numbers = append(numbers, n)
					return err
				})
			})
		})
		if err == nil {
			row(string(name), numbers)
		}
		return err
	})
}

// only reads a value of one type.
func only(d *jx.Decoder, kind string, read func(d *jx.Decoder) error) error {
	value, err := d.ObjIter()
	if err != nil {
		return err
	}
	if !value.Next() || string(value.Key()) != kind {
		return ErrUnusual
	}
	if err := read(d); err != nil || value.Next() {
		return ErrUnusual
	}
	return value.Err()
}
