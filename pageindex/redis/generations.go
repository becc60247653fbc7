package redis

import (
	"context"
	"crypto/rand"
	"slices"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/comment"
)

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
	if err != nil {
		return "", s.name.Failed(err)
	}
	values, err := s.client.HMGet(ctx, s.keys.meta(), metaCovers, metaServers).Result()
	if err != nil {
		return "", s.name.Failed(err)
	}
	if text(values[1]) != servers {
		return "", nil
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

// finish makes a generation the current one if it is still being built.
var finish = goredis.NewScript(`
if redis.call('HGET', KEYS[1], '` + metaBuilding + `') ~= ARGV[1] then
  return 0
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
