package keeper

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/objects"
	"github.com/talkback/talkback/pageindex/redis"
	"github.com/talkback/talkback/pageindex/relational"
)

// words are the values of --pages that name no place outside the table.
var words = []string{InTable, InMarkers, Nowhere}

// The values of --pages that name no place outside the table.
const (
	// InTable keeps counts in the table itself, in the transactions that count.
	InTable = "table"
	// InMarkers keeps page markers in the table, beside the transactions that count.
	InMarkers = "markers"
	// Nowhere keeps nothing.
	Nowhere = "none"
)

// Outside is a store outside the table. It can be put back to an earlier state separately from the
// table.
type Outside interface {
	pageindex.Store
	pageindex.Renewer
}

// Kind is a kind of store.
type Kind struct {
	// Scheme is the part of a target before the colon, or the whole target without one.
	Scheme string
	// Form is an example of a target.
	Form string
	// Local means that a target names a file or a folder of this machine, not a URL. One process at
	// a time can use such a store.
	Local bool
	// Open opens the store of a table; what it returns beside an error has no meaning. An error of the
	// kind BadInput means that it can never succeed. Errors do not contain the password of a URL.
	Open func(ctx context.Context, target, table string) (Outside, error)
}

// Networked returns the kinds of stores that processes on several machines can share.
func Networked() []Kind {
	openRedis := func(ctx context.Context, target, table string) (Outside, error) {
		return redis.Open(ctx, target, table)
	}
	openPostgres := func(ctx context.Context, target, table string) (Outside, error) {
		return relational.OpenPostgres(ctx, target, table)
	}
	openS3 := func(ctx context.Context, target, _ string) (Outside, error) { return objects.OpenBucket(ctx, target) }
	return []Kind{
		{Scheme: "redis", Form: "redis://HOST:6379/0", Open: openRedis},
		{Scheme: "rediss", Form: "rediss://HOST:6379/0", Open: openRedis},
		{Scheme: "postgres", Form: "postgres://HOST/DATABASE", Open: openPostgres},
		{Scheme: "s3", Form: "s3://BUCKET/PREFIX", Open: openS3},
	}
}

// Kinds returns all kinds of stores.
func Kinds() []Kind {
	openSQLite := func(ctx context.Context, target, _ string) (Outside, error) {
		return relational.OpenSQLite(ctx, target)
	}
	openFiles := func(ctx context.Context, target, _ string) (Outside, error) { return objects.OpenFolder(ctx, target) }
	return append(Networked(),
		Kind{Scheme: "sqlite", Form: "sqlite:FILE", Local: true, Open: openSQLite},
		Kind{Scheme: "files", Form: "files:DIR", Local: true, Open: openFiles})
}

// Target is the parsed value of --pages. It may hold a password, so print only its Name.
type Target struct {
	// Name is the target without user, password and parameters: the store's name in the table and in
	// logs.
	Name string
	// Kind is the kind of the store. Its Open is nil if there is no store outside the table.
	Kind Kind

	text string
}

// Outside reports whether the target is outside the table.
func (t Target) Outside() bool { return t.Kind.Open != nil }

// Parse parses a target: one of words, or a target of one of the kinds. The error lists the
// possible forms, and does not contain the target.
func Parse(text string, kinds []Kind) (Target, error) {
	if slices.Contains(words, text) {
		return Target{Name: text, Kind: Kind{Scheme: text, Form: text}}, nil
	}
	scheme, rest, _ := strings.Cut(text, ":")
	at := slices.IndexFunc(kinds, func(k Kind) bool { return k.Scheme == scheme })
	if at < 0 {
		return Target{}, comment.Errorf(comment.BadInput, "--pages names no store of page numbers: give %s", Forms(kinds))
	}
	t := Target{Kind: kinds[at], text: text}
	if t.Kind.Local {
		if t.text = rest; rest != "" {
			if absolute, err := filepath.Abs(rest); err == nil {
				rest = absolute
			}
			t.Name = scheme + ":" + rest
		}
	} else if u, err := url.Parse(text); err != nil && strings.Contains(rest, "@") || err == nil && cutOff(u) {
		return Target{}, comment.Errorf(comment.BadInput, "--pages %s: cannot be read: give %s, and in a password %%2F for /, %%3F for ?, %%23 for # and %%25 for %%", scheme, t.Kind.Form)
	} else if err == nil && u.Host != "" {
		t.Name = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	if t.Name == "" {
		return Target{}, comment.Errorf(comment.BadInput, "--pages %s: names no place: give %s", scheme, t.Kind.Form)
	}
	return t, nil
}

// cutOff reports whether a password seems to end the host of a URL, as in redis://:12/34@host and
// redis://:a@b/c@host: names would then show it.
func cutOff(u *url.URL) bool {
	parameter, _, _ := strings.Cut(u.RawQuery, "=")
	return (u.User != nil || strings.Contains(u.Host, ":")) && strings.Contains(u.EscapedPath()+parameter+u.EscapedFragment(), "@")
}

// Forms lists the possible values, as in "table, markers or none".
func Forms(kinds []Kind) string {
	forms := slices.Clone(words)
	for _, k := range kinds {
		forms = append(forms, k.Form)
	}
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}
