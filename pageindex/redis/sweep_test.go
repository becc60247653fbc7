package redis

import (
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/pageindex"
)

// A build deletes the store's earlier content, including the rest of an unfinished build, without
// reading other keys of the server. These may be many millions.
func TestSweepLooksAtOwnKeysOnly(t *testing.T) {
	server := redistest.Start(t)
	s := builtStore(t, server.URL())
	gone := entry(5, 200)
	gone.Cell = nil
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{gone}))
	must.Do(t, must.Get(s.Build(t.Context()))(t).Add(t.Context(), entries(40))) // and is left unfinished
	server.Must(t, "SET", "another", "1")
	b := must.Get(s.Build(t.Context()))(t)
	other := entry(7, 1)
	other.Product = "a product {of} two words"
	must.Do(t, b.Add(t.Context(), []pageindex.Entry{entry(1, 1), other}))
	must.Do(t, b.Finish(t.Context(), "anew"))
	checkTotal(t, s, 1)

	g := must.Get(s.generations(t.Context()))(t)
	keys := must.Get(s.client.Keys(t.Context(), "*").Result())(t)
	for _, key := range keys {
		if strings.Contains(key, "{") && !strings.Contains(key, ":"+goneName) && generationOf(key) != g.current {
			t.Errorf("%q is left", key)
		}
	}
	if len(keys) != 10 || !slices.Contains(keys, "another") { // two of the store, 3 of each product, the foreign one, and that of the deleted comment
		t.Errorf("%d keys: %q", len(keys), keys)
	}
	stats := must.Get(s.client.Info(t.Context(), "commandstats").Result())(t)
	if strings.Contains(stats, "cmdstat_scan:") || !strings.Contains(stats, "cmdstat_sscan:") {
		t.Errorf("the server was asked for:\n%s", stats)
	}

	other.Cell, other.Follows = nil, follow(300)
	must.Do(t, s.Apply(t.Context(), []pageindex.Entry{other}))
	if listed := must.Get(s.client.SMembers(t.Context(), s.keys.products()).Result())(t); len(listed) != 1 || listed[0] != listedAs(product, g.current) {
		t.Errorf("the set of products has %q, and one of the two has a comment", listed)
	}
}
