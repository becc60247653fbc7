package relational

import (
	"context"
	"database/sql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// build is a generation that is being built.
type build struct {
	store      *Store
	generation int
}

// allBuckets locks out all other changes.
var allBuckets = func() []int {
	all := make([]int, buckets)
	for i := range all {
		all[i] = i
	}
	return all
}()

// Build implements pageindex.Store. It begins a generation, which Apply also writes to from then
// on.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	b := &build{store: s}
	err := s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.db.Lock(ctx, tx, allBuckets); err != nil {
			return err
		}
		if err := s.exec(ctx, tx, `UPDATE {store} SET building = last + 1, last = last + 1`); err != nil {
			return err
		}
		g, err := s.generations(ctx, tx)
		b.generation = g.building
		return err
	})
	if err != nil {
		return nil, err
	}
	return b, s.purge(ctx)
}

// Add implements pageindex.Build.
func (b *build) Add(ctx context.Context, entries []pageindex.Entry) error {
	return b.store.inBatches(ctx, entries, func(g generations) ([]int, error) {
		return []int{b.generation}, b.check(g)
	})
}

func (b *build) check(g generations) error {
	if g.building != b.generation {
		return comment.Errorf(comment.Conflict, "another build of the page index in %s has begun, or its tables were dropped", b.store.db.Name)
	}
	return nil
}

// Finish implements pageindex.Build. It makes the generation the current one, and removes the old
// one.
func (b *build) Finish(ctx context.Context, covers string) error {
	s := b.store
	err := s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := s.db.Lock(ctx, tx, allBuckets); err != nil {
			return err
		}
		g, err := s.generations(ctx, tx)
		if err != nil || g.current == b.generation { // by an earlier attempt, whose answer was lost
			return err
		}
		if err := b.check(g); err != nil {
			return err
		}
		return s.exec(ctx, tx, `UPDATE {store} SET current = building, building = 0, covers = ?1, server = {server}`, covers)
	})
	if err != nil {
		return err
	}
	if err := s.purge(ctx); err != nil {
		return err
	}
	if s.db.Settle != "" {
		_, _ = s.db.Write.ExecContext(ctx, s.sql.Replace(s.db.Settle))
	}
	return nil
}
