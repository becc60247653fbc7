package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// collect returns the rows that a reader finds, the last of each name.
func collect(json string, read func([]byte, func(string, []int64)) error) (map[string][]int64, error) {
	rows := map[string][]int64{}
	err := read([]byte(json), func(name string, numbers []int64) { rows[name] = append([]int64{}, numbers...) })
	return rows, err
}

func plain(json []byte, row func(string, []int64)) error {
	if !plainRows(json, row) {
		return ErrUnusual
	}
	return nil
}

// checkPlain checks that rows which are read the short way are those that JSON has.
func checkPlain(t *testing.T, json string) (isPlain bool) {
	t.Helper()
	got, err := collect(json, plain)
	if err != nil {
		return false
	}
	if want, err := collect(json, anyRows); err != nil || !cmp.Equal(want, got) {
		t.Errorf("%q: %v, want %v, %v", json, got, want, err)
	}
	return true
}

// Statistics as the table holds them are read the short way, anything else is not.
func TestPlainRows(t *testing.T) {
	for _, row := range []struct {
		json  string
		plain bool
	}{
		{`{}`, true},
		{`{"en":{"L":[{"N":"1"},{"N":"0"},{"N":"3"},{"N":"0"},{"N":"912345678901234567"}]}}`, true},
		{`{"en":{"L":[{"N":"1"}]},"*":{"L":[{"N":"2"}]},"zh-Hans":{"L":[]}}`, true},
		{`{"en":{"L":[{"N":"1"}]},"en":{"L":[{"N":"2"}]}}`, true},
		{`{"en":{"L":[{"N":"1"}]},}`, false},
		{`{"en":{"L":[{"N":"1"},]}}`, false},
		{`{"en":{"L":[{"N":"1"}]}} `, false},
		{`{"en":{"L":[{"N":"1"}]}`, false},
		{`{"en":{"L":[{"N":"1"}]}}}`, false},
		{`{"en":{"L":[{"N":""}]}}`, false},
		{`{"en":{"L":[{"N":"-1"}]}}`, false},
		{`{"en":{"L":[{"N":"9223372036854775808"}]}}`, false},
		{`{"en":{"L":[ {"N":"1"}]}}`, false},
		{`{"\u0065n":{"L":[{"N":"1"}]}}`, false},
		{"{\"\x7f\":{\"L\":[]}}", false},
		{`{"é":{"L":[]}}`, false},
		{`{"en":{"S":"1"}}`, false},
		{`[]`, false},
		{`}`, false},
		{``, false},
	} {
		if got := checkPlain(t, row.json); got != row.plain {
			t.Errorf("%s: %t", row.json, got)
		}
	}
}

// FuzzRows checks that the short way of reading rows finds what JSON has.
func FuzzRows(f *testing.F) {
	f.Add(`{"en":{"L":[{"N":"1"},{"N":"20"}]},"de":{"L":[]}}`)
	f.Fuzz(func(t *testing.T, json string) { checkPlain(t, json) })
}

// BenchmarkRows reads the statistics of 20 products in four languages.
func BenchmarkRows(b *testing.B) {
	var rows []string
	for _, language := range []string{"en", "de", "fr", "ja"} {
		rows = append(rows, fmt.Sprintf(`"%s":{"L":[{"N":"12"},{"N":"3"},{"N":"45"},{"N":"0"},{"N":"678"}]}`, language))
	}
	json := []byte("{" + strings.Join(rows, ",") + "}")
	for name, read := range map[string]func([]byte, func(string, []int64)) error{"plain": plain, "any": anyRows} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for range 20 {
					if read(json, func(string, []int64) {}) != nil {
						b.Fatal("not read")
					}
				}
			}
		})
	}
}
