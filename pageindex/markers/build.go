package markers

import (
	"context"
	"errors"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex"
)

// building is a build under way.
type building struct {
	store      *Store
	generation string
}

// Build implements pageindex.Store. It deletes the remains of earlier builds.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	name, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	return &building{store: s, generation: name}, s.sweep(ctx)
}

// Add implements pageindex.Build.
func (b *building) Add(ctx context.Context, entries []pageindex.Entry) error {
	g, err := b.store.generations(ctx)
	if err != nil {
		return err
	}
	if g.building != b.generation {
		return overtaken()
	}
	return b.store.write(ctx, b.generation, byProduct(entries))
}

// Finish implements pageindex.Build. It deletes the store's old content. If that fails, it reports
// no error: the next build tries again.
func (b *building) Finish(ctx context.Context, covers string) error {
	if err := b.store.finish(ctx, b.generation, covers); err != nil {
		return err
	}
	_ = b.store.sweep(ctx)
	return nil
}

// sweep deletes old generations.
func (s *Store) sweep(ctx context.Context) error {
	g, err := s.generations(ctx)
	if err != nil {
		return err
	}
	for _, generation := range g.old {
		err := s.eachKey(ctx, pkPrefix+generation, func(keys []layout.Item) error {
			return call.Parallel(ctx, len(keys), func(ctx context.Context, i int) error {
				return s.deleteProduct(ctx, generationProduct{s.table, generation, layout.NewReader(keys[i]).Text(layout.AttrSK)})
			})
		})
		if err != nil {
			return err
		}
		err = s.swap(ctx, "DELETE #o :old", "attribute_exists(#o)", map[string]string{"#o": attrOld}, layout.Item{":old": setOf(generation)})
		if err != nil && !errors.Is(err, errSwapped) { // another build may have removed it first
			return err
		}
	}
	return nil
}
