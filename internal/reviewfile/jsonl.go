package reviewfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonRecords reads one JSON object per line.
type jsonRecords struct{ lines *lineReader }

// newJSONRecords rejects a JSON list at once: all of its lines would be bad.
func newJSONRecords(lines *lineReader) (*jsonRecords, error) {
	head, _ := lines.in.Peek(kindBytes) // a later read meets the same error
	if beginsWith(head, "[") {
		return nil, errors.New("the file is one JSON list: write one object on each line, for example by jq -c '.[]'")
	}
	return &jsonRecords{lines: lines}, nil
}

func (j *jsonRecords) next() (record, error) {
	for {
		next, err := j.lines.next()
		if err != nil {
			return record{}, err
		}
		if len(bytes.TrimSpace(next.text)) == 0 {
			continue
		}
		object, reason := parseObject(next.text)
		if reason != "" {
			return record{}, next.bad(reason)
		}
		return recordOf(next, object), nil
	}
}

// parseObject parses a line that must contain one object. Of a name's values, the last counts.
func parseObject(text []byte) (object map[string]any, reason string) {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&object); err != nil || object == nil {
		return nil, "the line is not a JSON object; each review stands on a line of its own"
	}
	if _, err := in.Token(); err != io.EOF {
		return nil, "the line goes on after its JSON object; each review stands on a line of its own"
	}
	if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
		return nil, halfOf("line", `an escape such as \uD83D`)
	}
	if len(object) > maxColumns {
		return nil, fmt.Sprintf("the object has %d names; at most %d are read", len(object), maxColumns)
	}
	return object, ""
}

// recordOf converts an object to a record. It leaves out null members.
func recordOf(from line, object map[string]any) record {
	maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
	r := record{
		line:    from.number,
		raw:     from.text,
		columns: slices.Sorted(maps.Keys(object)),
		values:  make([]string, len(object)),
		nested:  make([]bool, len(object)),
	}
	if _, marked := object[exportMark].(json.Number); marked {
		r.exported = object
	}
	for i, column := range r.columns {
		r.values[i], r.nested[i] = textOf(object[column])
	}
	return r
}

// textOf returns a JSON value as text, a string unchanged, and whether it is an object or a list.
func textOf(value any) (text string, nested bool) {
	switch v := value.(type) {
	case string:
		return v, false
	case json.Number, bool:
		return fmt.Sprint(v), false
	}
	inner, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("what was read as JSON can be written: %v", err))
	}
	return string(inner), true
}
