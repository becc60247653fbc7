package keeper

import (
	"context"

	"github.com/talkback/talkback/pageindex/objects"
	"github.com/talkback/talkback/pageindex/redis"
	"github.com/talkback/talkback/pageindex/relational"
)

// Networked returns the kinds of stores that several processes on several machines can share.
func Networked() []Kind {
	return []Kind{
		{Scheme: "redis", Form: "redis://HOST:6379/0", Open: opener(redis.Open)},
		{Scheme: "rediss", Form: "rediss://HOST:6379/0", Open: opener(redis.Open)},
		{Scheme: "postgres", Form: "postgres://HOST/DATABASE", Open: opener(relational.OpenPostgres)},
		{Scheme: "s3", Form: "s3://BUCKET/PREFIX", Open: opener(func(ctx context.Context, target, _ string) (*objects.Store, error) {
			return objects.OpenBucket(ctx, target)
		})},
	}
}

// File returns the kind of a store in a file or a folder, which belongs to one process.
func File[S Store](scheme, form string, open func(ctx context.Context, path string) (S, error)) Kind {
	return Kind{Scheme: scheme, Form: form, Local: true, Open: opener(func(ctx context.Context, path, _ string) (S, error) { return open(ctx, path) })}
}

// opener returns a function that opens stores of a type as a Store.
func opener[S Store](open func(ctx context.Context, target, table string) (S, error)) func(context.Context, string, string) (Store, error) {
	return func(ctx context.Context, target, table string) (Store, error) {
		store, err := open(ctx, target, table)
		if err != nil {
			return nil, err // not a nil pointer that looks like a store
		}
		return store, nil
	}
}
