package httpapi

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// body reads the members of a body.
func (m *members) body(text []byte) *refusal { return readJSON(text, m.readBody) }

// Variables are read as encoding/json reads them, whatever their content, surroundings and spacing.
func TestVariablesLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		variables := "{" + space(t) + `"a": ` + value(t, 4) + "}"
		text := `{"x":` + value(t, 2) + `, "v\u0061riables"` + space(t) + ":" + space(t) + variables + space(t) + `, "query": "` +
			strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{`\n`, `\t`, `\b`, `\f`, `\"`, `\/`, `\\`, `\u0041`, `\ud83D\uDE00`, "a", "ü"})).Draw(t, "query"), "") + `"}` + space(t)
		var want struct {
			Query     string
			Variables map[string]any
		}
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.UseNumber()
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var got members
		if refused := got.body([]byte(text)); refused != nil {
			t.Fatalf("%s is refused: %v", text, refused)
		}
		if diff := cmp.Diff(want.Variables, got.Variables); diff != "" || got.Query != want.Query {
			t.Fatalf("%s is read differently: %q\n%s", text, got.Query, diff)
		}
	})
}

func space(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space")
}

// value draws a JSON value.
func value(t *rapid.T, depth int) string {
	kinds := []string{"null", "true", "-1.5e3", `""`, `"a,]}:{["`, `"\\"`, `"\"}\\\""`, `"\u00e9ü"`, "[]", "{}"}
	if depth == 0 || rapid.Bool().Draw(t, "leaf") {
		return rapid.SampledFrom(kinds).Draw(t, "value")
	}
	inner := value(t, depth-1)
	if rapid.Bool().Draw(t, "list") {
		return "[" + space(t) + inner + space(t) + "," + value(t, depth-1) + "]"
	}
	return "{" + space(t) + `"k\"":` + inner + `,"k":` + value(t, depth-1) + space(t) + "}"
}

// This server accepts a member as JSON exactly if encoding/json does, except for strings with half
// a surrogate pair.
func FuzzJSON(f *testing.F) {
	f.Add(`{"query": "{ a(b: \"c\\u00e9\") }", "variables": {"a": [1, -0.5e+3, {"b": "]"}, true, null]}}`)
	for _, text := range []string{
		"", " ", "{", "{} x", "[1,]", `{"a":1,}`, `{"a"}`, "tru", "nulls", " null\n", "\f1", "\ufeff1",
		"-", "-0", "01", "1.", ".5", "1e", "1e+", "+1", "--1", "0x1", "NaN", "1E400",
		`"\u12"`, `"\x"`, `"\`, "\"\x01\"", "\"\x7f\xff\"", `"\ud800"`, "\"\n\"", "'a'",
	} {
		f.Add(text)
	}
	for _, depth := range []int{9_999, 10_000, 10_001, 32_000} {
		f.Add(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		f.Add(strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth))
	}
	f.Fuzz(func(t *testing.T, text string) {
		object := []byte(`{"a":` + text + `}`)
		refused := new(members).body(object)
		if want := json.Valid(object); !utf8.ValidString(text) || want && refused == halfPair {
			return // encoding/json replaces invalid text
		} else if want == (refused == badJSON || refused == nestedTooDeep) {
			t.Fatalf("%.200q is JSON to encoding/json: %t; refused: %v", object, want, refused)
		}
	})
}

// Anything but a JSON object is refused, wherever it is broken.
func TestReadObjectRefuses(t *testing.T) {
	whole := `{"query": "{ a(b: \"c\") }", "variables": {"a": [1, {"b": "]"}]}}`
	for end := range len(whole) {
		if refused := new(members).body([]byte(whole[:end])); refused == nil {
			t.Errorf("%s is not refused", whole[:end])
		}
	}
	for _, text := range []string{whole + "}", whole + whole, "7", `{"query" "a"}`, `{"query":}`, `{query: 1}`, `{"a":1,}`} {
		if refused := new(members).body([]byte(text)); refused == nil {
			t.Errorf("%s is not refused", text)
		}
	}
}
