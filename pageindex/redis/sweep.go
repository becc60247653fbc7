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

// sweep deletes keys of generations that are neither current nor being built. What it misses, such
// as a concurrent write, the next build sweeps. Keys of deleted comments expire by themselves.
func (s *Store) sweep(ctx context.Context) error {
	if s.inCluster() {
		// There is no set of products: it would be in another slot than the keys that a script
		// writes.
		return s.eachKey(ctx, s.unlink)
	}
	return s.eachListed(ctx, func(listed []string) error { return s.forget(ctx, listed) })
}

// eachListed passes on the members of the set of products.
func (s *Store) eachListed(ctx context.Context, do func(listed []string) error) error {
	return scan(func(cursor uint64) ([]string, uint64, error) {
		return s.client.SScan(ctx, s.keys.products(), cursor, "", scanned).Result()
	}, do)
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
// between listing and deleting them.
var forgetScript = goredis.NewScript(`
for _, cell in ipairs(redis.call('HKEYS', KEYS[1])) do
  redis.call('UNLINK', ARGV[1] .. cell)
end
redis.call('UNLINK', KEYS[1], KEYS[2])
redis.call('SREM', KEYS[3], ARGV[2])
return 1
`)

// forget deletes listed products of unused generations. It reads the generations after the products
// were listed: a generation that is not in use by then will never be again.
func (s *Store) forget(ctx context.Context, listed []string) error {
	g, err := s.generations(ctx)
	if err != nil {
		return err
	}
	_, err = s.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		for _, member := range listed {
			generation, product, _ := strings.Cut(member, " ")
			if slices.Contains(g.all(), generation) {
				continue
			}
			of := s.keys.of(product, generation)
			forgetScript.Eval(ctx, pipe, []string{of + stateName, of + entriesName, s.keys.products()}, of, member)
		}
		return nil
	})
	return err
}

// Products implements pageindex.Store.
func (s *Store) Products(ctx context.Context, tell func(product string)) error {
	g, err := s.generations(ctx)
	if err != nil {
		return s.name.Failed(err)
	}
	if s.inCluster() {
		return s.name.Failed(s.productsOfKeys(ctx, g.current, tell))
	}
	return s.name.Failed(s.eachListed(ctx, func(listed []string) error {
		for _, member := range listed {
			if generation, product, _ := strings.Cut(member, " "); generation == g.current {
				tell(product)
			}
		}
		return nil
	}))
}

// productsOfKeys finds the products of a generation by scanning a cluster's keys.
func (s *Store) productsOfKeys(ctx context.Context, generation string, tell func(product string)) error {
	var mu sync.Mutex
	return s.eachKey(ctx, func(_ context.Context, _ goredis.Cmdable, keys []string) error {
		mu.Lock()
		defer mu.Unlock()
		for _, key := range keys {
			if product, ok := s.keys.productOf(key, generation); ok {
				tell(product)
			}
		}
		return nil
	})
}

// eachKey passes on the keys of all products on each server, possibly of several servers in
// parallel.
func (s *Store) eachKey(ctx context.Context, do func(context.Context, goredis.Cmdable, []string) error) error {
	return s.eachMaster(ctx, func(ctx context.Context, client goredis.Cmdable) error {
		return scan(func(cursor uint64) ([]string, uint64, error) {
			return client.Scan(ctx, cursor, prefix+s.keys.table+":{*", scanned).Result()
		}, func(keys []string) error { return do(ctx, client, keys) })
	})
}

// unlink deletes keys of unused generations. It reads the generations after the keys were listed,
// as forget does.
func (s *Store) unlink(ctx context.Context, client goredis.Cmdable, keys []string) error {
	g, err := s.generations(ctx)
	if err != nil {
		return err
	}
	_, err = client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
		for _, key := range keys {
			if !slices.Contains(g.all(), generationOf(key)) {
				pipe.Unlink(ctx, stateOf(key)) // first, which a lookup under way notices
				pipe.Unlink(ctx, key)
			}
		}
		return nil
	})
	return err
}
