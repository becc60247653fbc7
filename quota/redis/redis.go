// Package redis keeps what clients used in Redis, for several servers: one key for each client and
// policy, which expires when the client has its whole burst again.
package redis

import (
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/internal/redisdial"
	"github.com/talkback/talkback/quota"
)

//go:embed change.lua
var changeText string

var changeScript = goredis.NewScript(changeText)

// Store implements quota.Store. Safe for concurrent use.
type Store struct {
	client goredis.UniversalClient
	name   redisdial.ServerName
	prefix string
}

var _ quota.Store = (*Store)(nil)

// dialTimeout bounds connecting. Calls have the time of their contexts.
const dialTimeout = time.Second

// Open returns the store at a URL such as redis://host:6379/0. It connects when it is first used.
// Servers of the same table share accounts. An error of the kind BadInput says that the URL is
// wrong; it does not hold the URL.
func Open(target, table string) (*Store, error) {
	client, name, err := redisdial.Dial(target, redisdial.Bounds{Dial: dialTimeout, Call: dialTimeout, Retries: redisdial.NoRetries})
	if err != nil {
		return nil, err
	}
	return &Store{client: client, name: name, prefix: "talkback:quota:" + table + ":"}, nil
}

// Name returns where the store is, without user and password.
func (s *Store) Name() string { return string(s.name) }

// Close closes all connections.
func (s *Store) Close() error { return s.client.Close() }

// Ping implements quota.Store.
func (s *Store) Ping(ctx context.Context) error { return s.name.Failed(s.client.Ping(ctx).Err()) }

// Change implements quota.Store.
func (s *Store) Change(ctx context.Context, p quota.Policy, c quota.Client, cost quota.Cost) (owed time.Duration, changed bool, err error) {
	key := s.prefix + p.Name + ":" + hex.EncodeToString(c[:])
	forced := 0
	if cost.Forced {
		forced = 1
	}
	reply, err := changeScript.Run(ctx, s.client, []string{key},
		cost.Time.Microseconds(), p.Window().Microseconds(), p.Longest().Microseconds(), forced).Int64Slice()
	if err != nil {
		return 0, false, s.name.Failed(err)
	}
	if len(reply) != 2 {
		return 0, false, fmt.Errorf("quota/redis: the script replied %v, want two numbers", reply)
	}
	return time.Duration(reply[1]) * time.Microsecond, reply[0] == 1, nil
}
