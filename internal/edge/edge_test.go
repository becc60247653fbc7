package edge

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A tag has no character that separates tags, and is the same in any case.
func TestTags(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"espresso", "Espresso", "a b", "a,b", "ü", strings.Repeat("x", 128)} {
		tag := Tag(id)
		if other := seen[tag]; other != "" || len(tag) != 19 || strings.Trim(tag, "tb-0123456789acdef") != "" {
			t.Errorf("%q has the tag %q, also that of %q", id, tag, other)
		}
		seen[tag] = id
	}
	if got := Tag("espresso"); got != "tb-"+espresso { // as the document has shops compute it
		t.Errorf("the tag is %s", got)
	}
}

const espresso = "3c4ef966f728d7c0"

// An answer is shared for the time given, if it can be purged by tags that fit into a header.
func TestAllow(t *testing.T) {
	products := strings.Split(strings.Repeat("x", MaxProducts-1), "")
	for _, row := range []struct {
		sharing  time.Duration
		products []string
		seconds  string
	}{
		{0, []string{"a"}, ""},
		{5 * time.Second, nil, ""},
		{5 * time.Second, append(products, "a", "b"), ""},
		{5 * time.Second, append(products, "a"), "5"},
		{time.Millisecond, []string{"a", "b"}, "1"},
	} {
		header := http.Header{}
		allowed := Sharing(row.sharing).Allow(header, row.products)
		if want := "public, max-age=0, s-maxage=" + row.seconds + ", stale-while-revalidate=" + row.seconds; allowed != (row.seconds != "") ||
			allowed != Allowed(header) || allowed && header.Get("Cache-Control") != want {
			t.Errorf("%v, %d products: %v", row.sharing, len(row.products), header)
		}
		if len(header.Get("Cache-Tag")) > 1024 || allowed && len(strings.Fields(header.Get("Surrogate-Key"))) != len(row.products) {
			t.Errorf("tags: %v", header)
		}
	}
}
