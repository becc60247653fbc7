package graph_test

import (
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// A DateTime is what RFC 3339 allows, and nothing else that package time reads. A leap second is
// refused: package time has none.
func TestUnmarshalDateTime(t *testing.T) {
	for text, want := range map[string]string{
		"2024-05-01T12:00:00Z":                                   "2024-05-01T12:00:00Z",
		"2024-05-01t12:00:00z":                                   "2024-05-01T12:00:00Z",
		"2024-05-01T12:00:00.123456789Z":                         "2024-05-01T12:00:00.123456789Z",
		"2024-05-01T12:00:00.5-00:00":                            "2024-05-01T12:00:00.5Z",
		"2024-05-01T12:00:00+23:59":                              "2024-04-30T12:01:00Z",
		"0000-01-01T00:00:00Z":                                   "0000-01-01T00:00:00Z",
		"0000-01-01T00:00:00+23:59":                              "-0001-12-31T00:01:00Z",
		"9999-12-31T23:59:59.999Z":                               "9999-12-31T23:59:59.999Z",
		"2024-05-01T12:00:00,5Z":                                 "",
		"2024-05-01T12:00:00.Z":                                  "",
		"2024-05-01T9:00:00Z":                                    "",
		"2024-05-01T12:00:00+24:00":                              "",
		"2024-05-01T12:00:00+23:60":                              "",
		"2024-05-01T12:00:00+24:60":                              "",
		"2024-05-01T12:00:00+2:00":                               "",
		"2024-05-01T12:00:00+0200":                               "",
		"2024-05-01T24:00:00Z":                                   "",
		"2016-12-31T23:59:60Z":                                   "",
		"2024-02-30T12:00:00Z":                                   "",
		"2024-05-01T12:00Z":                                      "",
		"2024-05-01 12:00:00Z":                                   "",
		"2024-05-01T12:00:00":                                    "",
		"2024-05-01":                                             "",
		"10000-01-01T00:00:00Z":                                  "",
		"-0001-01-01T00:00:00Z":                                  "",
		" 2024-05-01T12:00:00Z":                                  "",
		"2024-05-01T12:00:00Z\n":                                 "",
		"2024-05-01T12:00:00\u2024\u0665Z":                       "",
		"2024-05-01T12:00:00." + strings.Repeat("0", 1000) + "Z": "",
		"": "",
	} {
		got, err := graph.UnmarshalDateTime(text)
		switch {
		case want == "" && (comment.KindOf(err) != comment.BadInput || !strings.Contains(err.Error(), "RFC 3339")):
			t.Errorf("%.40q: %v, %v, want a refusal with the cure", text, got, err)
		case want != "" && (err != nil || got.UTC().Format(time.RFC3339Nano) != want):
			t.Errorf("%.40q: %v, %v, want %s", text, got, err, want)
		}
	}
}
