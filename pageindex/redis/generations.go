package redis

import (
	"context"
	"crypto/rand"
	"slices"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/comment"
)

// The store has one content that answers, and beside it the one that a build makes. Each has a name
// of its own, its generation, which never comes back. A hash says which is which.
const (
	metaCurrent  = "current"  // generation that answers
	metaBuilding = "building" // generation of the build that is under way
	metaCovers   = "covers"   // what the current generation is complete for
	metaServers  = "servers"  // who held the data when its build began
)

// generations are those of a store; empty where there is none.
type generations struct{ current, building string }

func (g generations) all() []string {
	return slices.DeleteFunc([]string{g.current, g.building}, func(name string) bool { return name == "" })
}

// Covers implements pageindex.Store. It is empty once the servers may have lost changes.
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

// renew replaces what the store covers.
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

// ensured is generations of a store that has a current one from now on.
func (s *Store) ensured(ctx context.Context) (generations, error) {
	g, err := s.generations(ctx)
	if err != nil || g.current != "" {
		return g, err
	}
	if err := s.client.HSetNX(ctx, s.keys.meta(), metaCurrent, rand.Text()).Err(); err != nil {
		return generations{}, err
	}
	return s.generations(ctx)
}

// finish makes a generation the current one, if it is still the one that is being built.
var finish = goredis.NewScript(`
if redis.call('HGET', KEYS[1], '` + metaBuilding + `') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], '` + metaCurrent + `', ARGV[1], '` + metaCovers + `', ARGV[2], '` + metaServers + `', ARGV[3])
redis.call('HDEL', KEYS[1], '` + metaBuilding + `')
return 1
`)

// text returns a value of a hash, empty if it has none.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// overtaken is the error of a build that cannot be finished any more.
func (s *Store) overtaken() error {
	return comment.Errorf(comment.Conflict, "this build of page numbers in %s has ended: another one has begun, or the store was emptied", s.name)
}
