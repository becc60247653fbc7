package redis

import (
	"context"
	"crypto/rand"

	"github.com/talkback/talkback/pageindex"
)

// building is a build under way.
type building struct {
	store      *Store
	generation string
	// servers identifies the servers when the build began.
	servers string
}

// Build implements pageindex.Store. It deletes the remains of earlier builds.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	servers, err := s.servers(ctx)
	if err != nil {
		return nil, s.name.Failed(err)
	}
	b := &building{store: s, generation: rand.Text(), servers: servers}
	if err := s.client.HSet(ctx, s.keys.meta(), metaBuilding, b.generation).Err(); err != nil {
		return nil, s.name.Failed(err)
	}
	return b, s.name.Failed(s.sweep(ctx))
}

// Add implements pageindex.Build.
func (b *building) Add(ctx context.Context, entries []pageindex.Entry) error {
	g, err := b.store.generations(ctx)
	if err != nil {
		return b.store.name.Failed(err)
	}
	if g.building != b.generation {
		return b.store.overtaken()
	}
	return b.store.name.Failed(b.store.write(ctx, []string{b.generation}, entries))
}

// Finish implements pageindex.Build. It deletes the store's old content. If that fails, it reports
// no error: the next build tries again.
func (b *building) Finish(ctx context.Context, covers string) error {
	s := b.store
	done, err := finish.Run(ctx, s.client, []string{s.keys.meta()}, b.generation, covers, b.servers).Int()
	if err != nil {
		return s.name.Failed(err)
	}
	if done == 0 {
		return s.overtaken()
	}
	_ = s.sweep(ctx)
	return nil
}
