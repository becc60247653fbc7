package redis

import (
	"context"
	"slices"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"
)

// servers returns the identities of all servers that take writes. Redis makes one up at each start.
func (s *Store) servers(ctx context.Context) (string, error) {
	var mu sync.Mutex
	var ids []string
	err := s.eachMaster(ctx, func(ctx context.Context, client goredis.Cmdable) error {
		id, err := infoField(ctx, client, "server", "run_id")
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, id)
		return err
	})
	slices.Sort(ids)
	return strings.Join(ids, " "), err
}

// eachMaster calls a function for each server that takes writes, perhaps at the same time.
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

// infoField returns what a server says of itself.
func infoField(ctx context.Context, client goredis.Cmdable, section, field string) (string, error) {
	info, err := client.Info(ctx, section).Result()
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			return strings.TrimSpace(value), nil
		}
	}
	return "", err
}
