// Package redis keeps a page index in Redis: one sorted set for each product, language and rating.
// A lookup merges the sets that a filter selects. docs/design/page-index-redis.md gives the
// reasons.
//
// Start with keys.go: what is stored. The generations below decide which of two contents is read
// and written. apply.go and apply.lua write entries, and replace one content by the other; find.go
// answers lookups.
package redis

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/comment"
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

// servers returns a text that changes once a master may have lost writes: it was restarted, failed
// over, or evicted keys. It refuses a server that is configured to evict keys, that does not report
// its run_id, or that is a replica: it may have been the master, and has that name still.
func (s *Store) servers(ctx context.Context) (string, error) {
	var mu sync.Mutex
	var ids []string
	err := s.eachMaster(ctx, func(ctx context.Context, client goredis.Cmdable) error {
		info, err := client.Info(ctx).Result()
		if err != nil {
			return err
		}
		field := map[string]string{}
		for line := range strings.Lines(info) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			field[name] = value
		}
		if field["run_id"] == "" {
			return comment.Errorf(comment.Unavailable, "%s does not tell its run_id (INFO), so a restart would go unnoticed; connect to Redis itself, not through a proxy that hides it", s.name)
		}
		if field["role"] == "slave" {
			return comment.Errorf(comment.Unavailable, "%s is a replica, whose master may have other data; connect to the master", s.name)
		}
		if policy := field["maxmemory_policy"]; field["maxmemory"] != "0" && policy != "noeviction" {
			return comment.Errorf(comment.Unavailable, "%s deletes keys when its memory is full (maxmemory-policy %s), and page numbers would be wrong; set maxmemory-policy noeviction", s.name, policy)
		}
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, field["run_id"]+"/"+field["master_replid2"]+"/"+field["evicted_keys"])
		return nil
	})
	slices.Sort(ids)
	return strings.Join(ids, " "), err
}

// eachMaster calls a function for each server that takes writes, possibly in parallel.
func (s *Store) eachMaster(ctx context.Context, call func(context.Context, goredis.Cmdable) error) error {
	if cluster, ok := s.client.(*goredis.ClusterClient); ok {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, client *goredis.Client) error { return call(ctx, client) })
	}
	return call(ctx, s.client)
}

func (s *Store) inCluster() bool {
	_, is := s.client.(*goredis.ClusterClient)
	return is
}

// scripted returns the keys that a script about a product in a generation names: its state, its
// entries, and the set of products or, in a cluster, a key that never exists. It also returns the
// prefix of the product's keys.
func (s *Store) scripted(product, generation string) (keys []string, of string) {
	of = s.keys.of(product, generation)
	products := s.keys.products()
	if s.inCluster() {
		products = of + neverName
	}
	return []string{of + stateName, of + entriesName, products}, of
}

// The store has one content that answers and, during a build, a second one. Each has a unique name,
// its generation. A hash names both.
const (
	metaCurrent  = "current"  // generation that answers
	metaBuilding = "building" // generation of the build that is under way
	metaCovers   = "covers"   // what the current generation is complete for
	metaServers  = "servers"  // identifies the servers when its build began
)

// generations are the names of a store's two contents; empty for none.
type generations struct{ current, building string }

func (g generations) all() []string {
	return slices.DeleteFunc([]string{g.current, g.building}, func(name string) bool { return name == "" })
}

// Covers implements pageindex.Store. It returns an empty text once the servers may have lost
// changes.
func (s *Store) Covers(ctx context.Context) (string, error) {
	servers, err := s.servers(ctx)
	var values []any
	if err == nil {
		values, err = s.client.HMGet(ctx, s.keys.meta(), metaCovers, metaServers).Result()
	}
	if err != nil || text(values[1]) != servers {
		return "", s.name.Failed(err)
	}
	return text(values[0]), nil
}

// renew replaces the text that the store covers.
var renew = goredis.NewScript(`
if redis.call('HGET', KEYS[1], '` + metaCovers + `') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], '` + metaCovers + `', ARGV[2])
return 1
`)

// Renew implements pageindex.Renewer.
func (s *Store) Renew(ctx context.Context, was, covers string) error {
	done, err := renew.Run(ctx, s.client, []string{s.keys.meta()}, was, covers).Int()
	if err == nil && done == 0 {
		return s.overtaken()
	}
	return s.name.Failed(err)
}

func (s *Store) generations(ctx context.Context) (generations, error) {
	values, err := s.client.HMGet(ctx, s.keys.meta(), metaCurrent, metaBuilding).Result()
	if err != nil {
		return generations{}, err
	}
	return generations{current: text(values[0]), building: text(values[1])}, nil
}

// ensureCurrent returns the generations, and creates a current one if there is none.
func (s *Store) ensureCurrent(ctx context.Context) (generations, error) {
	g, err := s.generations(ctx)
	if err != nil || g.current != "" {
		return g, err
	}
	if err := s.client.HSetNX(ctx, s.keys.meta(), metaCurrent, rand.Text()).Err(); err != nil {
		return generations{}, err
	}
	return s.generations(ctx)
}

// finish makes a generation the current one if it is still being built. An earlier attempt may have
// done so, whose answer was lost.
var finish = goredis.NewScript(`
if redis.call('HGET', KEYS[1], '` + metaBuilding + `') ~= ARGV[1] then
  return redis.call('HGET', KEYS[1], '` + metaCurrent + `') == ARGV[1] and 1 or 0
end
redis.call('HSET', KEYS[1], '` + metaCurrent + `', ARGV[1], '` + metaCovers + `', ARGV[2], '` + metaServers + `', ARGV[3])
redis.call('HDEL', KEYS[1], '` + metaBuilding + `')
return 1
`)

// text returns a value of a hash, empty if it is missing.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// overtaken returns the error for a build that has ended.
func (s *Store) overtaken() error {
	return comment.Errorf(comment.Conflict, "this build of page numbers in %s has ended: another one has begun, or the store was emptied", s.name)
}
