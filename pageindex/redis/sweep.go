package redis

import (
	"context"
	"slices"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// scanned is how many members of a set, or keys, Redis scans in one call.
const scanned = 1000

// eachListed passes on the products that have comments, as listedAs names them in each generation,
// part by part. It may repeat some.
func (s *Store) eachListed(ctx context.Context, do func(listed []string) error) error {
	if !s.inCluster() {
		return scan(func(cursor uint64) ([]string, uint64, error) {
			return s.client.SScan(ctx, s.keys.products(), cursor, "", scanned).Result()
		}, do)
	}
	// There is no set of products: it would be in another slot than the keys that a script writes.
	var mu sync.Mutex
	return s.eachMaster(ctx, func(ctx context.Context, client goredis.Cmdable) error {
		return scan(func(cursor uint64) ([]string, uint64, error) {
			return client.Scan(ctx, cursor, prefix+s.keys.table+":{*:"+stateName, scanned).Result()
		}, func(keys []string) error {
			mu.Lock()
			defer mu.Unlock()
			return do(s.keys.listed(keys))
		})
	})
}

// scan passes on what Redis lists, part by part.
func scan(next func(cursor uint64) ([]string, uint64, error), do func([]string) error) error {
	for cursor := uint64(0); ; {
		found, following, err := next(cursor)
		if err != nil {
			return err
		}
		if err := do(found); err != nil || following == 0 {
			return err
		}
		cursor = following
	}
}

// forgetScript deletes the keys of a product in a generation atomically: nothing can be written
// between listing and deleting them, and a lookup under way notices that the state is gone.
var forgetScript = goredis.NewScript(`
for _, cell in ipairs(redis.call('HKEYS', KEYS[1])) do
  redis.call('UNLINK', ARGV[1] .. cell)
end
redis.call('UNLINK', KEYS[1], KEYS[2])
redis.call('SREM', KEYS[3], ARGV[2])
return 1
`)

// sweep deletes keys of generations that are neither current nor being built. What it misses, such
// as a concurrent write, the next build sweeps. Keys of deleted comments expire by themselves.
func (s *Store) sweep(ctx context.Context) error {
	return s.eachListed(ctx, func(listed []string) error {
		// A generation that is not in use after its products were listed will never be again.
		g, err := s.generations(ctx)
		if err != nil {
			return err
		}
		_, err = s.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
			for _, member := range listed {
				if generation, product, _ := strings.Cut(member, " "); !slices.Contains(g.all(), generation) {
					keys, of := s.scripted(product, generation)
					forgetScript.Eval(ctx, pipe, keys, of, member)
				}
			}
			return nil
		})
		return err
	})
}

// Products implements pageindex.Store.
func (s *Store) Products(ctx context.Context, tell func(product string)) error {
	g, err := s.generations(ctx)
	if err == nil {
		err = s.eachListed(ctx, func(listed []string) error {
			for _, member := range listed {
				if generation, product, _ := strings.Cut(member, " "); generation == g.current {
					tell(product)
				}
			}
			return nil
		})
	}
	return s.name.Failed(err)
}
