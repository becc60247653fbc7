package markers

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// atOnce is how many entries one transaction takes. Each needs up to three items, beside the header
// and the product, of the 100 that DynamoDB allows.
const atOnce = 32

// Apply implements pageindex.Store. It also writes to a generation that begins while it works, and
// deletes what it wrote to one that ended.
func (s *Store) Apply(ctx context.Context, entries []pageindex.Entry) error {
	products := pageindex.LatestByProduct(entries)
	var written []string
	for len(products) > 0 {
		g, err := s.ensureCurrent(ctx)
		if err != nil {
			return err
		}
		rest := slices.DeleteFunc(g.used(), func(name string) bool { return slices.Contains(written, name) })
		if len(rest) == 0 {
			return s.deleteGone(ctx, written, g, products)
		}
		for _, generation := range rest {
			if err := s.write(ctx, generation, products); err != nil {
				return err
			}
		}
		written = append(written, rest...)
	}
	return nil
}

// deleteGone deletes the products that were written to generations no longer used.
func (s *Store) deleteGone(ctx context.Context, written []string, g generations, products map[string][]pageindex.Entry) error {
	for _, generation := range written {
		if slices.Contains(g.used(), generation) {
			continue
		}
		for product := range products {
			if err := s.deleteProduct(ctx, generationProduct{s.table, generation, product}); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes entries into a generation, and stamps what they or an earlier, interrupted write
// left unstamped.
func (s *Store) write(ctx context.Context, generation string, products map[string][]pageindex.Entry) error {
	names := slices.Sorted(maps.Keys(products))
	return call.Parallel(ctx, len(names), func(ctx context.Context, i int) error {
		p := generationProduct{s.table, generation, names[i]}
		turn := &s.turns[maphash.String(s.seed, p.product)%uint64(len(s.turns))]
		turn.Lock()
		defer turn.Unlock()
		for chunk := range slices.Chunk(products[p.product], atOnce) {
			if err := call.Retry(ctx, func() (bool, error) { return false, s.enter(ctx, p, chunk) }); err != nil {
				return err
			}
		}
		return s.restamp(ctx, p)
	})
}

// storedEntry is a comment's entry in the store.
type storedEntry struct {
	cell    string // empty for a deleted comment
	follows stream.Position
}

// enter writes entries of a product, all or none. It replaces the header's version on condition
// that it is the one read, so that all writes of a product are serialized.
func (s *Store) enter(ctx context.Context, p generationProduct, entries []pageindex.Entry) error {
	before, err := s.header(ctx, p)
	if err != nil {
		return err
	}
	was, err := s.entries(ctx, p, entries)
	if err != nil {
		return err
	}
	c := changeOf(p, before, was, entries, time.Now())
	if len(c.writes) == 0 {
		return nil
	}
	for cell, lowest := range c.lowest {
		state := c.after.cells[cell]
		state.stamped, state.last, err = s.stampsBelow(state, lowest, func(chunk int) ([]comment.Position, error) { return s.stamps(ctx, p, cell, chunk) })
		if err != nil {
			return err
		}
		c.after.cells[cell] = state
	}
	return call.Transact(ctx, s.client, append(c.writes, headerWrites(p, before, c.after)...))
}

// entries reads the stored entries of comments. The header is read before them: if its version is
// unchanged when it is written, these were its entries.
func (s *Store) entries(ctx context.Context, p generationProduct, entries []pageindex.Entry) (map[comment.Position]storedEntry, error) {
	keys := make([]layout.Item, len(entries))
	for i, e := range entries {
		keys[i] = p.entryKey(e.Position)
	}
	got, err := call.GetItems(ctx, s.client, s.table, types.KeysAndAttributes{Keys: keys, ConsistentRead: aws.Bool(true)})
	if err == nil && len(got.Left) > 0 {
		err = call.ErrBusy
	}
	out := map[comment.Position]storedEntry{}
	for _, in := range got.Items {
		at, err := positionOf(in)
		if err != nil {
			return nil, err
		}
		r := layout.NewReader(in)
		out[at] = storedEntry{cell: r.OptionalText(attrCell), follows: stream.Position(r.OptionalText(attrFollows))}
	}
	return out, call.Wrap(err, "BatchGetItem of %s", comment.Amount(len(keys), "key"))
}

// change is the effect of entries.
type change struct {
	writes []types.TransactWriteItem // without those of the header
	after  header
	// lowest is, for each cell that changes, the lowest position of a change.
	lowest map[string]comment.Position
}

// changeOf decides what to write. The entries ascend by position.
func changeOf(p generationProduct, before header, was map[comment.Position]storedEntry, entries []pageindex.Entry, now time.Time) change {
	c := change{after: before.clone(), lowest: map[string]comment.Position{}}
	for _, e := range entries {
		old, there := was[e.Position]
		if there && e.Follows <= old.follows {
			continue
		}
		cell := ""
		if e.Cell != nil {
			cell = layout.CellText(*e.Cell)
		}
		c.writes = append(c.writes, p.put(entryItem(p, e, cell, now)))
		if cell == old.cell {
			continue
		}
		if old.cell != "" {
			c.writes = append(c.writes, p.remove(p.memberKey(old.cell, e.Position)))
			c.count(old.cell, -1, e.Position)
		}
		if cell != "" {
			c.writes = append(c.writes, p.put(p.memberKey(cell, e.Position)))
			c.count(cell, 1, e.Position)
		}
	}
	return c
}

// count adds to a cell's count, for a change at a position.
func (c *change) count(cell string, by int, at comment.Position) {
	s := c.after.cells[cell]
	s.count += by
	c.after.cells[cell] = s
	if _, lower := c.lowest[cell]; !lower {
		c.lowest[cell] = at
	}
}

func entryItem(p generationProduct, e pageindex.Entry, cell string, now time.Time) layout.Item {
	out := p.entryKey(e.Position)
	if e.Follows != "" {
		out[attrFollows] = layout.Text(string(e.Follows))
	}
	if cell == "" {
		out[layout.AttrTTL] = layout.Number(now.Add(pageindex.Remember).Unix())
		return out
	}
	out[attrCell] = layout.Text(cell)
	return out
}

// building is a build under way.
type building struct {
	store      *Store
	generation string
}

// Build implements pageindex.Store. It deletes the remains of earlier builds.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	g, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	return &building{store: s, generation: g.building}, s.sweep(ctx, g)
}

// Add implements pageindex.Build.
func (b *building) Add(ctx context.Context, entries []pageindex.Entry) error {
	g, err := b.store.generations(ctx)
	if err != nil {
		return err
	}
	if g.building != b.generation {
		return errOvertaken
	}
	return b.store.write(ctx, b.generation, pageindex.LatestByProduct(entries))
}

// Finish implements pageindex.Build. It deletes the store's old content. If that fails, it reports
// no error: the next build tries again.
func (b *building) Finish(ctx context.Context, covers string) error {
	g, err := b.store.finish(ctx, b.generation, covers)
	if err == nil {
		_ = b.store.sweep(ctx, g)
	}
	return err
}

// sweep deletes old generations.
func (s *Store) sweep(ctx context.Context, g generations) error {
	for _, generation := range g.old {
		err := s.eachKey(ctx, pkPrefix+generation, func(keys []layout.Item) error {
			return call.Parallel(ctx, len(keys), func(ctx context.Context, i int) error {
				return s.deleteProduct(ctx, generationProduct{s.table, generation, layout.NewReader(keys[i]).Text(layout.AttrSK)})
			})
		})
		if err != nil {
			return err
		}
	}
	if len(g.old) == 0 {
		return nil
	}
	_, err := s.change(ctx, func(now generations) (generations, error) {
		now.old = slices.DeleteFunc(slices.Clone(now.old), func(generation string) bool { return slices.Contains(g.old, generation) })
		return now, nil
	})
	return err
}
