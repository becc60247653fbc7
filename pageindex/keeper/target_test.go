package keeper

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex/conformance"
)

func kinds() []Kind {
	open := func(context.Context, string, string) (Outside, error) { return conformance.NewModel(), nil }
	return []Kind{
		{Scheme: "redis", Form: "redis://HOST:6379/0", Open: open},
		{Scheme: "s3", Form: "s3://BUCKET/PREFIX", Open: open},
		{Scheme: "sqlite", Form: "sqlite:FILE", Local: true, Open: open},
	}
}

// The name of a store contains no password, nor does the error of an invalid target.
func TestParse(t *testing.T) {
	for _, row := range []struct {
		why, text, name, passed string // passed on to Open
	}{
		{"a word", "table", "table", ""},
		{"password", "redis://user:secret@cache:6379/0?password=secret#secret", "redis://cache:6379/0", "redis://user:secret@cache:6379/0?password=secret#secret"},
		{"a bucket", "s3://bucket/a/b", "s3://bucket/a/b", "s3://bucket/a/b"},
		{"a path", "sqlite:/var/lib/a b.db", "sqlite:/var/lib/a b.db", "/var/lib/a b.db"},
		{"a path like a URL", "sqlite:///var/x", "sqlite:/var/x", "///var/x"},
		{"no path", "sqlite:", "", ""},
		{"no host", "redis:///secret", "", ""},
		{"no slashes", "redis:secret@host", "", ""},
		{"not a URL", "redis://user:sec ret@host:secret/", "", ""},
		{"a control character", "redis://secret\x7f", "", ""},
		{"a slash in a password", "redis://user:12/secret@host/0", "", ""},
		{"a slash at its beginning", "redis://:/secret@host/0", "", ""},
		{"a question mark in a password", "redis://user:12?secret@host/0?read_timeout=1s", "", ""},
		{"a slash behind an at sign", "redis://user:p@ss/secret@host/shop", "", ""},
		{"a question mark behind an at sign", "redis://user:secret@12?ab@host/shop", "", ""},
		{"an at sign in a password", "redis://user@tenant:p@ss@host/shop?user=me@x", "redis://host/shop", "redis://user@tenant:p@ss@host/shop?user=me@x"},
		{"several hosts", "redis://user:pw@a:5432,b:5432/shop", "redis://a:5432,b:5432/shop", "redis://user:pw@a:5432,b:5432/shop"},
		{"a number sign in a password", "redis://:12#secret@host/0", "", ""},
		{"an at sign behind a port", "redis://cache:6379/a%40b?user=me@shop", "redis://cache:6379/a@b", "redis://cache:6379/a%40b?user=me@shop"},
		{"an at sign in a prefix", "s3://bucket/a@b", "s3://bucket/a@b", "s3://bucket/a@b"},
		{"unknown", "memcached://user:secret@host", "", ""},
		{"nothing like it", "secret", "", ""},
		{"a word with more", "table:secret", "", ""},
		{"another case", "Table", "", ""},
	} {
		got, err := Parse(row.text, kinds())
		if got.Name != row.name || got.text != row.passed || (err == nil) != (row.name != "") || got.Outside() != (row.passed != "") {
			t.Errorf("%s: %q, %q, %v", row.why, got.Name, got.text, err)
		}
		if err != nil && (comment.KindOf(err) != comment.BadInput || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "give ")) {
			t.Errorf("%s: %v", row.why, err)
		}
	}
	_, err := Parse("?", kinds())
	if want := "--pages names no store of page numbers: give table, markers, none, redis://HOST:6379/0, s3://BUCKET/PREFIX or sqlite:FILE"; err.Error() != want {
		t.Error(err)
	}
}

// A caller that leaves while the store is being opened leaves it to the next one to open, at once.
func TestLazyWhoseCallerLeaves(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	target := Target{Kind: Kind{Open: func(ctx context.Context, _, _ string) (Outside, error) {
		leave()
		return conformance.NewModel(), ctx.Err()
	}}}
	l := NewLazy(target, "comments")
	if _, err := l.Covers(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := l.Covers(t.Context()); err != nil {
		t.Error(err)
	}
}

// A store that cannot be opened is retried once a second, and opened once.
func TestLazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries, away := 0, errors.New("away")
		target := Target{Kind: Kind{Open: func(ctx context.Context, _, table string) (Outside, error) {
			tries++
			if _, bounded := ctx.Deadline(); !bounded || table != "comments" {
				t.Errorf("opening %q, bounded: %v", table, bounded)
			}
			return conformance.NewModel(), away
		}}}
		l := NewLazy(target, "comments")
		for range 10 {
			if _, err := l.Covers(t.Context()); !errors.Is(err, away) || tries != 1 {
				t.Error(tries, err)
			}
		}
		time.Sleep(retryAfter)
		away = nil
		for range 10 {
			if _, err := l.Build(t.Context()); err != nil || tries != 2 {
				t.Error(tries, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}
