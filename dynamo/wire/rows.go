package wire

import (
	"strconv"

	"github.com/go-faster/jx"
)

// Rows calls row for each member of a Map whose members are lists of whole numbers. Of two calls
// with one name, the last counts. The numbers are valid until row returns. It returns ErrUnusual for
// any other JSON, perhaps after some rows.
func Rows(json []byte, row func(name string, numbers []int64)) error {
	if plainRows(json, row) {
		return nil
	}
	return anyRows(json, row)
}

// anyRows reads rows in any JSON.
func anyRows(json []byte, row func(name string, numbers []int64)) error {
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

// plainRows reads rows as DynamoDB writes them: without white space and escapes. It reports false
// for any other JSON, perhaps after some rows. It takes a quarter of the time of anyRows.
func plainRows(json []byte, row func(name string, numbers []int64)) bool {
	s := plainScanner{text: json}
	return s.rows(func(name []byte, numbers []int64) { row(string(name), numbers) }) && s.at == len(json)
}

// rows reads a map of rows, and reports false if it is not plain. The arguments of row are valid
// until it returns.
func (s *plainScanner) rows(row func(name []byte, numbers []int64)) bool {
	if s.skip("{}") {
		return true
	}
	var room [usualNumbers]int64
	numbers := room[:0]
	start := byte('{')
	for ; s.take(start); start = ',' {
		name, ok := s.name()
		if !ok || !s.skip(`:{"L":[`) {
			return false
		}
		if numbers, ok = s.numbers(numbers[:0]); !ok || !s.skip("]}") {
			return false
		}
		row(name, numbers)
	}
	return start == ',' && s.take('}')
}

// usualNumbers is how many numbers a row has: one for each rating.
const usualNumbers = 5

// plainScanner takes apart JSON from its beginning.
type plainScanner struct {
	text []byte
	at   int // where the rest begins
}

// rest returns what was not yet taken.
func (s *plainScanner) rest() []byte { return s.text[s.at:] }

// next reports whether a byte comes next.
func (s *plainScanner) next(c byte) bool { return s.at < len(s.text) && s.text[s.at] == c }

// take takes a byte, if it comes next.
func (s *plainScanner) take(c byte) bool {
	if !s.next(c) {
		return false
	}
	s.at++
	return true
}

// skip skips a text, if it comes next.
func (s *plainScanner) skip(text string) bool {
	end := s.at + len(text)
	if end > len(s.text) || string(s.text[s.at:end]) != text {
		return false
	}
	s.at = end
	return true
}

// name reads a string of ASCII letters, digits and marks without escapes.
func (s *plainScanner) name() (name []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	rest := s.rest()
	for i, c := range rest {
		switch {
		case c == '"':
			s.at += i + 1
			return rest[:i], true
		case c < ' ' || c >= 0x7f || c == '\\':
			return nil, false
		}
	}
	return nil, false
}

// numbers appends the elements of a list, up to its end.
func (s *plainScanner) numbers(to []int64) (numbers []int64, ok bool) {
	for start := `{"N":"`; s.skip(start); start = `,{"N":"` {
		n, digits := int64(0), 0
		for ; s.at < len(s.text) && s.text[s.at]-'0' <= 9; s.at++ {
			n = 10*n + int64(s.text[s.at]-'0')
			digits++
		}
		if digits == 0 || digits > maxDigits || !s.skip(`"}`) {
			return nil, false
		}
		to = append(to, n)
	}
	return to, true
}

// maxDigits is how many digits any number of 64 bits can have.
const maxDigits = 18

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
