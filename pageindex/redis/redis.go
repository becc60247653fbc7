// Package redis keeps a page index in Redis: one sorted set for each product, language and rating.
// A lookup merges the sets that a filter selects. docs/design/page-index-redis.md gives the
// reasons.
//
// Start with keys.go: what is stored. apply.go and apply.lua write entries, generations.go decides
// which of two contents is read and written, build.go replaces one by the other, and find.go
// answers lookups.
package redis

import (
	"context"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/internal/redisdial"
)

// bounds are a second each: Redis answers in less than a millisecond, and lists can be paged
// through by cursor without it. The keeper retries for longer.
var bounds = redisdial.Bounds{Dial: time.Second, Call: time.Second, Retries: 1}

// Store is a page index in Redis. Any number of processes may share it, and several tables may
// share a server.
type Store struct {
	client goredis.UniversalClient
	name   redisdial.ServerName
	keys   keys
}

// Open returns the store of a table in the Redis server or cluster at a URL, such as
// rediss://user:password@host:6379/0 or redis://host:7000?cluster=true. It does not connect yet.
// The error is of the kind BadInput and does not contain the URL, which may hold a password.
func Open(_ context.Context, target, table string) (*Store, error) {
	client, name, err := redisdial.Dial(target, bounds)
	if err != nil {
		return nil, err
	}
	return &Store{client: client, name: name, keys: keys{table: table}}, nil
}

// Close ends all connections.
func (s *Store) Close() error { return s.client.Close() }
