package httpapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// An object is taken apart as encoding/json does, whatever is in it and however it is spaced.
func TestReadObjectLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "{"
		names := []string{`\u0071uery`, "operationName", "variables", "extensions", "other", `a\"b`, "Query"}
		for i, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 7, rapid.ID).Draw(t, "names") {
			if i > 0 {
				text += ","
			}
			text += space(t) + `"` + name + `"` + space(t) + ":" + space(t) + value(t, 3) + space(t)
		}
		text += "}" + space(t)
		var plain map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &plain); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := members{plain["query"], plain["operationName"], plain["variables"], plain["extensions"]}
		got, refused := readObject([]byte(text))
		if refused != nil {
			t.Fatalf("%s is refused: %v", text, refused)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(members{})); diff != "" {
			t.Fatalf("%s is read differently:\n%s", text, diff)
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

// A member is JSON to this server if it is to encoding/json.
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
		_, refused := readObject(object)
		if want := json.Valid(object); want == (refused == badJSON) {
			t.Fatalf("%.200q is JSON to encoding/json: %t; refused: %v", object, want, refused)
		}
	})
}

// What is no JSON object is refused, wherever it is broken.
func TestReadObjectRefuses(t *testing.T) {
	whole := `{"query": "{ a(b: \"c\") }", "variables": {"a": [1, {"b": "]"}]}}`
	for end := range len(whole) {
		if _, refused := readObject([]byte(whole[:end])); refused == nil {
			t.Errorf("%s is not refused", whole[:end])
		}
	}
	for _, text := range []string{whole + "}", whole + whole, "7", `{"query" "a"}`, `{"query":}`, `{query: 1}`, `{"a":1,}`} {
		if _, refused := readObject([]byte(text)); refused == nil {
			t.Errorf("%s is not refused", text)
		}
	}
}
