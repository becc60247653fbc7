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

// Outside is a store outside the table, which can be put back to an earlier state without it.
type Outside interface {
	pageindex.Store
	pageindex.Renewer
}

// Kind is a kind of store.
type Kind struct {
	// Scheme is what its targets begin with, up to the colon, or all of a target.
	Scheme string
	// Form shows a target to people.
	Form string
	// Local says that a target names a file or a folder of this machine, else it is a URL. A store of
	// that kind belongs to one process.
	Local bool
	// Open opens the store of a table. An error of the kind BadInput says that it can never succeed.
	// Errors do not hold the password of a URL.
	Open func(ctx context.Context, target, table string) (Outside, error)
}

// Networked returns the kinds of stores that several processes on several machines can share.
func Networked() []Kind {
	return []Kind{
		{Scheme: "redis", Form: "redis://HOST:6379/0", Open: opener(redis.Open)},
		{Scheme: "rediss", Form: "rediss://HOST:6379/0", Open: opener(redis.Open)},
		{Scheme: "postgres", Form: "postgres://HOST/DATABASE", Open: opener(relational.OpenPostgres)},
		{Scheme: "s3", Form: "s3://BUCKET/PREFIX", Open: openerOfOne(objects.OpenBucket)},
	}
}

// Kinds returns all kinds of stores.
func Kinds() []Kind {
	return append(Networked(),
		Kind{Scheme: "sqlite", Form: "sqlite:FILE", Local: true, Open: openerOfOne(relational.OpenSQLite)},
		Kind{Scheme: "files", Form: "files:DIR", Local: true, Open: openerOfOne(objects.OpenFolder)})
}

// openerOfOne is opener for stores whose place holds the comments of one table.
func openerOfOne[S Outside](open func(ctx context.Context, target string) (S, error)) func(context.Context, string, string) (Outside, error) {
	return opener(func(ctx context.Context, target, _ string) (S, error) { return open(ctx, target) })
}

// opener returns a function that opens stores of a type as Outside.
func opener[S Outside](open func(ctx context.Context, target, table string) (S, error)) func(context.Context, string, string) (Outside, error) {
	return func(ctx context.Context, target, table string) (Outside, error) {
		store, err := open(ctx, target, table)
		if err != nil {
			return nil, err // not a nil pointer that looks like a store
		}
		return store, nil
	}
}

// Target is what --pages says. It may hold a password, so it is never printed; Name is.
type Target struct {
	// Name is the target without user, password and parameters: the store's name in the table and in
	// logs.
	Name string
	// Kind is the kind of the store. Its Open is nil for a store in the table, and for none.
	Kind Kind

	text string
}

// Outside reports whether the target is a store outside the table.
func (t Target) Outside() bool { return t.Kind.Open != nil }

// Parse reads a target, which is of one of the kinds unless it is in the table or nowhere. The error lists
// what can be given, and does not hold the target.
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
	} else if u, err := url.Parse(text); err == nil && u.Host != "" {
		t.Name = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	if t.Name == "" {
		return Target{}, comment.Errorf(comment.BadInput, "--pages %s: names no place: give %s", scheme, t.Kind.Form)
	}
	return t, nil
}

// Forms lists what can be given.
func Forms(kinds []Kind) string {
	forms := slices.Clone(words)
	for _, k := range kinds {
		forms = append(forms, k.Form)
	}
	last := len(forms) - 1
	return strings.Join(forms[:last], ", ") + " or " + forms[last]
}
