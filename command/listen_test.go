package command_test

import (
	"strings"
	"testing"
)

// Each flag sets what it is named for.
func TestFlagsOfHTTP(t *testing.T) {
	t.Parallel()
	s := serving(t, append(onTable(t), "--listen", "127.0.0.1:0",
		"--max-body", "100", "--max-query", "50", "--cors-origin", "https://shop.example", "--cors-origin", "https://m.shop.example")...)
	for _, test := range []struct{ body, origin, want string }{
		{`{"query": "{ __typename }"}`, "https://m.shop.example", `{"data":{"__typename":"Query"}}`},
		{strings.Repeat(" ", 101), "https://shop.example", `BODY_TOO_LARGE`},
		{`{"query": "` + strings.Repeat(" ", 51) + `"}`, "https://shop.example", `QUERY_TOO_LONG`},
	} {
		got := post(t, s.address, test.body, "Origin: "+test.origin)
		if allowed := got.header.Get("Access-Control-Allow-Origin"); !strings.Contains(got.body, test.want) || allowed != test.origin {
			t.Errorf("%s, allowed origin %q; want %s and %q", got.body, allowed, test.want, test.origin)
		}
	}
}
