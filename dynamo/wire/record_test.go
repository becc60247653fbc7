package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"
)

// readers are the ways to read items as records.
var readers = map[string]func([]byte, *dynamodb.QueryOutput, func(*Record)) error{"any": Query, "plain": PlainQuery}

// Each record has what its item has, and nothing of the items before it. Of two attributes with one
// name, the last counts.
func TestRecordsAgainstModel(t *testing.T) {
	names := []string{"a", "b", "z", "A", "{", "PK", "é"}
	rapid.Check(t, func(t *rapid.T) {
		var items []string
		var want []map[string]string
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			item, has := []string{}, map[string]string{}
			for range rapid.IntRange(0, 6).Draw(t, "attributes") {
				name, text := rapid.SampledFrom(names[:6]).Draw(t, "name"), rapid.String().Draw(t, "text")
				quoted, _ := json.Marshal(text)
				item, has[name] = append(item, fmt.Sprintf("%q:{\"S\":%s}", name, quoted)), strings.ToValidUTF8(text, "\ufffd")
			}
			items, want = append(items, "{"+strings.Join(item, ",")+"}"), append(want, has)
		}
		body := []byte(`{"Items":[` + strings.Join(items, ",") + `]}`)
		for way, read := range readers {
			number := 0
			err := read(body, &dynamodb.QueryOutput{}, func(r *Record) {
				for _, name := range names {
					text, has := want[number][name]
					if got := r.Get(name); string(got.Bytes) != text || (got.Kind == Text) != has {
						t.Errorf("%s: item %d has %q as %q, want %q", way, number, got.Bytes, name, text)
					}
				}
				number++
			})
			if err != nil || number != len(items) {
				t.Fatalf("%s: %d items, %v", way, number, err)
			}
		}
	})
}

// Items with more attributes than a Record can have are left to the SDK.
func TestManyAttributes(t *testing.T) {
	for _, row := range []struct {
		attributes int
		want       error
	}{{mostAttributes, nil}, {mostAttributes + 1, ErrUnusual}} {
		item := strings.Repeat(`"b":{"S":"x"},`, row.attributes-1) + `"a":{"S":"last"}`
		for way, read := range readers {
			err := read([]byte(`{"Items":[{`+item+`}]}`), &dynamodb.QueryOutput{}, func(r *Record) {
				if string(r.Get("a").Bytes) != "last" {
					t.Errorf("%s: a is %q", way, r.Get("a").Bytes)
				}
			})
			if err != row.want {
				t.Errorf("%s: %d attributes: %v, want %v", way, row.attributes, err, row.want)
			}
		}
	}
}

// A binary is decoded as the standard library decodes it, however long it is and wherever it is
// damaged.
func TestBinaries(t *testing.T) {
	for length := range 120 {
		sound := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x00\x10\x83\xfe"), length)[:length])
		for at := range len(sound) {
			for _, c := range []string{sound[at : at+1], "=", "-", "!", "\x7f", "é"} {
				text := sound[:at] + c + sound[at+1:]
				want, wrong := base64.StdEncoding.DecodeString(text)
				for way, read := range readers {
					err := read([]byte(`{"Items":[{"t":{"B":"`+text+`"}}]}`), &dynamodb.QueryOutput{}, func(r *Record) {
						if got := r.Get("t").Bytes; !bytes.Equal(got, want) {
							t.Errorf("%s: %s is %x, want %x", way, text, got, want)
						}
					})
					if (err != nil) != (wrong != nil) {
						t.Errorf("%s: %s is read with %v, by the standard library with %v", way, text, err, wrong)
					}
				}
			}
		}
	}
}

// Ends of lines in a binary are not skipped: JSON has none in a string.
func TestBinariesWithLines(t *testing.T) {
	for length := range 120 {
		sound := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x00\x10\x83\xfe"), length)[:length])
		for at := range len(sound) + 1 {
			for way, read := range readers {
				text := sound[:at] + "\r\n\n\n" + sound[at:]
				if read([]byte(`{"Items":[{"t":{"B":"`+text+`"}}]}`), &dynamodb.QueryOutput{}, func(*Record) {}) == nil {
					t.Errorf("%s: %q is read", way, text)
				}
			}
		}
	}
}

// A text is read as the standard library reads it, wherever in it escapes and other scripts come.
// Damage is refused, also far behind the first escape.
func TestTexts(t *testing.T) {
	pieces := []string{``, `a`, `plain ascii`, `\"`, `\\`, `\/`, `\b\f\n\r\t`, `\u00e9`, `\u6F22`, `\u0000`, `é`, `漢字`, `😀`, "\x7f"}
	damage := []string{"\xff", "\xc3", "\x1f", "\n", `"`, `\`, `\x`, `\u12`, `\u+123`, `\ud83d`, `\uDE00`}
	for _, before := range pieces {
		for _, between := range []string{``, `plain ascii`} {
			for i, piece := range slices.Concat(damage, pieces) {
				checkText(t, before+between+piece, i >= len(damage))
			}
		}
	}
}

func checkText(t *testing.T, text string, sound bool) {
	var want string
	if err := json.Unmarshal([]byte(`"`+text+`"`), &want); sound && err != nil {
		t.Fatal(err)
	}
	for way, read := range readers {
		var got string
		err := read([]byte(`{"Items":[{"t":{"S":"`+text+`"}}]}`), &dynamodb.QueryOutput{}, func(r *Record) { got = string(r.Get("t").Bytes) })
		if (err == nil) != sound || sound && got != want {
			t.Errorf("%s: %q is read as %q with %v, want %q", way, text, got, err, want)
		}
	}
}
