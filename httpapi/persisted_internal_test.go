package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
)

// writeManifests writes files, and returns their names.
func writeManifests(t *testing.T, texts ...string) (names []string) {
	t.Helper()
	folder := t.TempDir()
	for i, text := range texts {
		name := filepath.Join(folder, fmt.Sprintf("manifest-%d.json", i))
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
		names = append(names, name)
	}
	return names
}

func anyText(string) error { return nil }

const apollo = `{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "a", "name": "A", "type": "query", "body": "query A { a }"}]}`

func TestManifests(t *testing.T) {
	hash := hashOf("query A { a }")
	for _, row := range []struct {
		files []string
		finds string // an id, of the text query A { a }
		fails string
	}{
		{[]string{apollo}, "a", ""},
		{[]string{apollo}, hash, ""},
		{[]string{apollo}, "sha256:" + hash, ""},
		{[]string{`{"r": "query A { a }"}`}, "r", ""},
		{[]string{`{"operations": "query A { a }"}`}, "operations", ""},
		{[]string{apollo, `{"r": "query A { a }"}`, `{}`}, "r", ""},
		{[]string{`{"` + hash + `": "query A { a }"}`}, "sha256:" + hash, ""},
		{[]string{apollo, `{"a": "query A { b }"}`}, "", `have different documents with the id "a"`},
		{[]string{`{"sha256:12": "query A { a }"}`}, "", "not the SHA-256"},
		{[]string{`{"": "query A { a }"}`}, "", "needs an id"},
		{[]string{`{"a": "x", "a": "y"}`}, "", `("a" stands twice, the second time after byte 11): build it anew`},
		{[]string{`{"a": {"name": "A"}}`}, "", `member "a" is not the text`},
		{[]string{`{"operations": [], "version": 1}`}, "", "not the format"},
		{[]string{strings.Replace(apollo, `"version": 1`, `"version": 2`, 1)}, "", "not the format"},
		{[]string{apollo[:40]}, "", "(it is not JSON after byte 40: unexpected EOF): build it anew"},
		{[]string{strings.Replace(apollo, `"id": "`, `"id": 1, "x": "`, 1)}, "", "(/operations/0/id has another type than in such a manifest): build it anew"},
		{[]string{`[]`}, "", "(it is not a JSON object): build it anew"},
		{[]string{``}, "", "build it anew"},
	} {
		names := writeManifests(t, row.files...)
		trusted, err := OpenTrustedDocuments(names, nil, false, anyText)
		if row.fails != "" {
			if err == nil || !strings.Contains(err.Error(), row.fails) || !strings.Contains(err.Error(), names[len(names)-1]) {
				t.Errorf("%v: %v, want %q and the file", row.files, err, row.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", row.files, err)
			continue
		}
		if text, found := trusted.Find(row.finds); !found || text != "query A { a }" || !trusted.holds(text) {
			t.Errorf("%v: %s is %q", row.files, row.finds, text)
		}
	}
	if _, err := OpenTrustedDocuments([]string{"no/such.json"}, nil, false, anyText); err == nil || !strings.Contains(err.Error(), "no/such.json") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// Operations of the server's pages are trusted beside those of manifests, unless they cannot run.
func TestOwnDocuments(t *testing.T) {
	names := writeManifests(t, `{"a": "query A { a }"}`)
	trusted, err := OpenTrustedDocuments(names, []byte(`{"own": "query B { b }", "large": "query C { c }"}`), true, func(text string) error {
		if strings.Contains(text, "C") {
			return errors.New("it is too large")
		}
		return nil
	})
	must.Do(t, err)
	for id, want := range map[string]bool{"a": true, "own": true, "large": false} {
		if _, found := trusted.Find(id); found != want {
			t.Errorf("%s: %v, want %v", id, found, want)
		}
	}
}

// A manifest that cannot be used leaves all documents unchanged.
func TestReload(t *testing.T) {
	names := writeManifests(t, `{"a": "query A { a }"}`)
	trusted, err := OpenTrustedDocuments(names, nil, false, func(text string) error {
		if text == "bad" {
			return errors.New("it does not fit")
		}
		return nil
	})
	must.Do(t, err)
	for _, row := range []struct{ text, fails, finds string }{
		{`{"b": "bad"}`, `the document "b" cannot be served: it does not fit`, "a"},
		{`{"b"`, "build it anew", "a"},
		{`{"b": "query B { b }"}`, "", "b"},
	} {
		must.Do(t, os.WriteFile(names[0], []byte(row.text), 0o600))
		if err := trusted.Reload(); (err == nil) != (row.fails == "") || err != nil && !strings.Contains(err.Error(), row.fails) {
			t.Errorf("%s: %v, want %q", row.text, err, row.fails)
		}
		if _, found := trusted.Find(row.finds); !found || trusted.Len() != 1 {
			t.Errorf("after %s: %s is not found", row.text, row.finds)
		}
	}
	must.Do(t, errors.Join(os.Remove(names[0]), os.Symlink(os.DevNull, names[0])))
	if err := trusted.Reload(); err == nil || !strings.Contains(err.Error(), "put a file in its place") || trusted.Len() != 1 {
		t.Errorf("in place of a file that waits: %v, %d documents", err, trusted.Len())
	}
}

// AutomaticQueries finds the latest additions, and never holds more bytes than allowed.
func TestAutomaticAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := 100 * rapid.IntRange(0, 50).Draw(t, "limit") // often exactly the size of some queries
		a := NewAutomaticQueries(limit, nil)
		var model []string // the latest last
		use := func(text string) (known bool) {
			for i, other := range model {
				if other == text {
					model = append(append(model[:i:i], model[i+1:]...), text)
					return true
				}
			}
			return false
		}
		text := func(t *rapid.T) string {
			return strings.Repeat("x", 100*rapid.IntRange(0, 9).Draw(t, "length"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				added := text(t)
				a.Add(t.Context(), hashOf(added), added)
				if queryBytes(added) > limit || use(added) {
					return
				}
				model = append(model, added)
				for held := bytesOf(model); held > limit; held = bytesOf(model) {
					model = model[1:]
				}
			},
			"find": func(t *rapid.T) {
				wanted := text(t)
				got, found := a.Find(t.Context(), hashOf(wanted))
				if known := use(wanted); found != known || found && got != wanted {
					t.Fatalf("found %v, want %v", found, known)
				}
			},
			"": func(t *rapid.T) {
				if a.held != bytesOf(model) || a.held > limit || a.kept.Len() != len(model) {
					t.Fatalf("%d bytes in %d queries, want %d in %d of %d", a.held, a.kept.Len(), bytesOf(model), len(model), limit)
				}
			},
		})
	})
}

func bytesOf(texts []string) (bytes int) {
	for _, text := range texts {
		bytes += queryBytes(text)
	}
	return bytes
}

// elsewhere is a store that answers anything.
type elsewhere map[string]string

func (e elsewhere) Find(_ context.Context, hash string) string { return e[hash] }
func (e elsewhere) Add(_ context.Context, hash, text string)   { e[hash] = text }

// One server finds what another one has registered. If the store answers with another text, the
// server ignores it.
func TestShared(t *testing.T) {
	store := elsewhere{}
	one, other := NewAutomaticQueries(1000, store), NewAutomaticQueries(1000, store)
	one.Add(t.Context(), hashOf("{ a }"), "{ a }")
	if text, found := other.Find(t.Context(), hashOf("{ a }")); !found || text != "{ a }" {
		t.Errorf("found %q", text)
	}
	store[hashOf("{ b }")] = "{ forged }"
	if text, found := other.Find(t.Context(), hashOf("{ b }")); found {
		t.Errorf("found %q", text)
	}
}

// A Redis that is away costs a request one attempt at most, and the log one line.
func TestRedisAway(t *testing.T) {
	var log strings.Builder
	store, err := OpenQueriesInRedis("redis://127.0.0.1:1/0", "comments", slog.New(slog.NewTextHandler(&log, nil)))
	must.Do(t, err)
	defer store.Close()
	for range 100 {
		store.Add(t.Context(), hashOf("{ a }"), "{ a }")
		if text := store.Find(t.Context(), hashOf("{ a }")); text != "" {
			t.Fatalf("found %q", text)
		}
	}
	if lines := strings.Count(log.String(), "is away"); lines != 1 {
		t.Errorf("%d lines: %s", lines, log.String())
	}
	store.lose(errors.New("again"), time.Now())
	if !store.away(time.Now()) || store.away(time.Now().Add(redisPause)) {
		t.Error("it is not left alone for a while")
	}
	store.try(t.Context(), hashOf("{ a }"), func(context.Context, string) error { t.Error("it is asked meanwhile"); return nil })
	store.alone = time.Time{}
	store.try(t.Context(), "ab", func(context.Context, string) error { t.Error("it is asked for what is no hash"); return nil })
	if _, err := OpenQueriesInRedis("http://x", "comments", slog.Default()); err == nil {
		t.Error("a wrong URL is taken")
	}
}

// Two servers share registered queries. In Redis a new query may replace another one, so clients
// can fill a bounded space only.
func TestRedisIsShared(t *testing.T) {
	server := redistest.Start(t)
	open := func() *AutomaticQueries {
		store := must.Get(OpenQueriesInRedis(server.URL()+"/0?dial_timeout=1m&read_timeout=1m&write_timeout=1m", "comments", slog.Default()))(t)
		store.patience = time.Minute
		t.Cleanup(func() { _ = store.Close() })
		return NewAutomaticQueries(1<<20, store)
	}
	one, other := open(), open()
	one.Add(t.Context(), hashOf("{ a }"), "{ a }")
	if text, found := other.Find(t.Context(), hashOf("{ a }")); !found || text != "{ a }" {
		t.Errorf("found %q", text)
	}
	if text, found := other.Find(t.Context(), hashOf("{ b }")); found {
		t.Errorf("found %q, which nobody sent", text)
	}
	key, _ := querySlot("talkback:queries:comments:", hashOf("{ a }"))
	ttl, _ := server.Do("TTL", key)
	if left, err := strconv.Atoi(strings.TrimPrefix(ttl, ":")); err != nil || left < 23*60*60 || left > 24*60*60 {
		t.Errorf("it is forgotten in %s s, want a day", ttl)
	}
	server.Must(t, "SET", key, "{another}")
	if text, found := open().Find(t.Context(), hashOf("{ a }")); found {
		t.Errorf("found %q in its place", text)
	}
	server.Must(t, "DEL", key)
	server.Must(t, "LPUSH", key, "x") // of another program: Redis stays in use, and the value is replaced
	third := open()
	if text, found := third.Find(t.Context(), hashOf("{ a }")); found {
		t.Errorf("found %q in a list", text)
	}
	third.Add(t.Context(), hashOf("{ a }"), "{ a }")
	if text, found := open().Find(t.Context(), hashOf("{ a }")); !found {
		t.Errorf("found %q after a list was there", text)
	}
	long := strings.Repeat("x", longestShared+1)
	one.Add(t.Context(), hashOf(long), long)
	if _, found := other.Find(t.Context(), hashOf(long)); found {
		t.Error("a text that is too long is shared")
	}
}
