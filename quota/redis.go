package quota

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/internal/redisdial"
)

//go:embed change.lua
var changeText string

var changeScript = goredis.NewScript(changeText)

// Redis keeps accounts in Redis, for several servers: one key for each client and policy, which
// expires when the client has its whole burst again. It implements Store and is safe for concurrent
// use.
type Redis struct {
	client goredis.UniversalClient
	name   redisdial.ServerName
	prefix string
}

var _ Store = (*Redis)(nil)

// dialTimeout bounds connecting. Contexts bound the calls.
const dialTimeout = time.Second

// OpenRedis returns the store at a URL such as redis://host:6379/0. It connects when it is first
// used. Servers of the same table share accounts. An error of the kind BadInput says that the URL
// is wrong; it does not hold the URL.
func OpenRedis(target, table string) (*Redis, error) {
	client, name, err := redisdial.Dial(target, redisdial.Bounds{Dial: dialTimeout, Call: dialTimeout, Retries: redisdial.NoRetries})
	if err != nil {
		return nil, err
	}
	return &Redis{client: client, name: name, prefix: "talkback:quota:" + table + ":"}, nil
}

// Name returns where the store is, without user and password.
func (s *Redis) Name() string { return string(s.name) }

// Close closes all connections.
func (s *Redis) Close() error { return s.client.Close() }

// Ping implements Store. It changes an account, because a read-only server answers a PING, too.
func (s *Redis) Ping(ctx context.Context) error {
	_, _, err := s.Change(ctx, examined, Customer(rand.Text()), Cost{Time: time.Millisecond})
	return err
}

// Change implements Store.
func (s *Redis) Change(ctx context.Context, p Policy, c Client, cost Cost) (owed time.Duration, changed bool, err error) {
	key := s.prefix + p.Name + ":" + hex.EncodeToString(c[:])
	reply, err := changeScript.Run(ctx, s.client, []string{key},
		cost.Time.Microseconds(), p.Window().Microseconds(), p.Longest().Microseconds(), cost.Forced).Int64Slice()
	if err != nil {
		return 0, false, s.name.Failed(err)
	}
	if len(reply) != 2 {
		return 0, false, fmt.Errorf("quota: the script in Redis replied %v, want two numbers", reply)
	}
	return time.Duration(reply[1]) * time.Microsecond, reply[0] == 1, nil
}

// examined is a policy whose whole burst is available again after a millisecond.
var examined = Policy{Name: "examined", Rate: 1000, Burst: 1}

// Examine checks that the server permits all commands of Change. Like Ping, it changes the account
// of a made-up client, which expires after a millisecond. It returns the version of the server,
// empty if the server does not tell, and how long a call took without connecting.
func (s *Redis) Examine(ctx context.Context) (version string, took time.Duration, err error) {
	if err := s.client.Ping(ctx).Err(); err != nil {
		return "", 0, s.name.Failed(err)
	}
	_, info, _ := strings.Cut(s.client.Info(ctx, "server").Val(), "redis_version:") // not every user may call INFO
	version, _, _ = strings.Cut(info, "\r")
	began := time.Now()
	err = s.Ping(ctx)
	return version, time.Since(began), err
}
