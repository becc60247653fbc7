package reviewfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonRecords reads one JSON object per line.
type jsonRecords struct{ lines *lineReader }

func (j *jsonRecords) next() (record, error) {
	next, err := j.lines.next()
	if err != nil {
		return record{}, err
	}
	bad := func(reason string) (record, error) { return record{}, next.bad(reason) }
	in := json.NewDecoder(bytes.NewReader(next.text))
	in.UseNumber()
	var object map[string]any // of a name's values, the last counts
	if err := in.Decode(&object); err != nil || object == nil {
		return bad("the line is not a JSON object; each review stands on a line of its own, as jq -c writes them")
	}
	if _, err := in.Token(); err != io.EOF {
		return bad("the line goes on after its JSON object; each review stands on a line of its own, as jq -c writes them")
	}
	if !jsontext.Value(next.text).IsValid(jsontext.AllowDuplicateNames(true)) {
		return bad(halfOf("line", `an escape such as \uD83D`))
	}
	if len(object) > maxColumns {
		return bad(fmt.Sprintf("the object has %d names; at most %d are read", len(object), maxColumns))
	}
	maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
	r := record{
		line:    next.number,
		raw:     next.text,
		columns: slices.Sorted(maps.Keys(object)),
		values:  make([]string, len(object)),
		nested:  make([]bool, len(object)),
	}
	if _, marked := object[exportMark].(json.Number); marked {
		r.exported = object
	}
	for i, column := range r.columns {
		switch v := object[column].(type) {
		case string:
			r.values[i] = v
		case json.Number, bool:
			r.values[i] = fmt.Sprint(v)
		default: // an object or a list
			inner, err := json.Marshal(v)
			if err != nil {
				panic(fmt.Sprintf("what was read as JSON can be written: %v", err))
			}
			r.values[i], r.nested[i] = string(inner), true
		}
	}
	return r, nil
}
