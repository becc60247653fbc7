package component

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/web"
)

// pieces are parts of addresses, some of them invalid.
var pieces = map[string][]string{
	"page":     {"1", "3", "0", "-2", "007", "2.5", "999999999", "9999999999", ""},
	"rating":   {"5", "4", "1", "0", "6", "5.0", "x", ""},
	"language": {"de", "DE", "en-us", "zh-hant", "sr-Cyrl-RS", "iw", "d", "de_AT", "waytoolongtag", "*", "cmn", "CMN_hans", "deu", "GER-at", "zho-hant", "arb", "tlh", "x-Klingon", "x-", ""},
	"only":     {"verified", "media", "Verified", ""},
	"order":    {"oldest", "newest", "highest", "lowest", "helpful", ""},
	"from":     {"2026-05-20", "2026-08-01", "2026-02-30", "1969-12-31", "1970-01-01", "9999-01-01", "2026-5-1", ""},
	"to":       {"2026-05-10", "2026-07-31", "2026-12-31", "9998-12-31", "today", ""},
	"after":    {"c19", "a b", strings.Repeat("c", 65), ""},
	"before":   {"c30", "", "c+3"},
	"colour":   {"red"},
}

// randomQuery returns a query of some pieces, in any order.
func randomQuery(random *rand.Rand) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(pieces)) {
		values := pieces[name]
		for random.IntN(2) == 0 {
			parts = append(parts, name+"="+url.QueryEscape(values[random.IntN(len(values))]))
		}
	}
	return strings.Join(parts, "&")
}

// The element parses an address as the server does, whatever it contains: both query with the same
// variables.
func readsAddresses(t *testing.T, ctx context.Context, s shop) {
	pages, random := web.Options{}.Handler(s.forServer()), rand.New(rand.NewPCG(1, 2))
	var queries []string
	for range 100 {
		queries = append(queries, randomQuery(random))
	}
	s.requests("read")
	for _, query := range queries {
		pages.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/products/read?"+query, nil))
	}
	server := s.requests("read")
	// One after the other, so that requests come in this order.
	const inTurn = `async (queries) => {
		for (const query of queries) {
			history.replaceState(null, '', '?' + query);
			const element = document.createElement('talkback-comments');
			element.setAttribute('product', 'read');
			element.setAttribute('navigate', '');
			const answered = new Promise((done) => element.addEventListener('talkback-answer', done, { once: true }));
			document.body.append(element);
			await answered;
			element.remove();
		}
	}`
	list := must.Get(json.Marshal(queries))(t)
	run(t, ctx, chromedp.Navigate(s.address+"/shop/lamp"), holds(idle), chromedp.Evaluate("("+inTurn+")("+string(list)+")", nil, awaited))
	element := s.requests("read")
	if len(server) != len(queries) || len(element) != len(queries) {
		t.Fatalf("%d requests of the server and %d of the element, want %d of each", len(server), len(element), len(queries))
	}
	for i, query := range queries {
		if !reflect.DeepEqual(server[i].given, element[i].given) {
			t.Errorf("?%s: the server asked with\n%v\nthe element with\n%v", query, server[i].given, element[i].given)
		}
	}
}
