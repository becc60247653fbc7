package httpapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A value is read as encoding/json reads it, whatever is in it and however it is spaced.
func TestValuesLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := space(t) + value(t, 4) + space(t)
		if rapid.Bool().Draw(t, "escapes") {
			parts := rapid.SliceOf(rapid.SampledFrom([]string{`\n`, `\t`, `\r`, `\b`, `\f`, `\"`, `\/`, `\\`, `\u0041`, "a", "ü"})).Draw(t, "parts")
			text = `"` + strings.Join(parts, "") + `"`
		}
		var want any
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		object, isObject := objectOf([]byte(text))
		if wanted, ok := want.(map[string]any); ok != isObject || ok && !cmp.Equal(wanted, object) {
			t.Fatalf("%s is read as the object %v, %t; want %v", text, object, isObject, want)
		}
		got, isText := textOf([]byte(text))
		if wanted, ok := want.(string); ok != isText || wanted != got {
			t.Fatalf("%s is read as the text %q, %t; want %v", text, got, isText, want)
		}
		reader := valueReader{[]byte(text)}
		if diff := cmp.Diff(want, reader.value()); diff != "" {
			t.Fatalf("%s is read differently:\n%s", text, diff)
		}
	})
}
