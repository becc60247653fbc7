package relational

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// The rows of a batch are the argument ?1, in JSON. Each row is looked up on its own. Otherwise
// either database might read the whole table while its statistics are stale and say that it is
// small.
const (
	readEntries = `
SELECT (SELECT e.language || '/' || e.rating || '/' || e.follows FROM {entries} AS e
	WHERE e.generation = ?2 AND e.product = i.product AND e.position = i.position)
FROM {incoming} AS i ORDER BY i.number`

	writeEntries = `
INSERT INTO {entries} AS e (generation, product, position, language, rating, follows, gone)
SELECT CAST(?2 AS INTEGER), product, position, language, rating, follows,
	CASE WHEN rating = 0 THEN CAST(?3 AS BIGINT) END
FROM {incoming} AS i WHERE true ORDER BY number
ON CONFLICT (generation, product, position) DO UPDATE
SET language = excluded.language, rating = excluded.rating, follows = excluded.follows, gone = excluded.gone
WHERE e.follows < excluded.follows`

	writeBlocks = `
INSERT INTO {blocks} AS b (generation, product, language, rating, block, n)
SELECT CAST(?2 AS INTEGER), product, language, rating, block, n FROM {incoming} AS i WHERE true ORDER BY number
ON CONFLICT (generation, product, language, rating, block) DO UPDATE SET n = b.n + excluded.n
RETURNING product, language, rating, block, n`

	dropBlock = `
DELETE FROM {blocks} WHERE generation = ?1 AND product = ?2 AND language = ?3 AND rating = ?4 AND block = ?5`
)

// row is a row of a batch: an entry, or a change of a counter.
type row struct {
	Number   int    `json:"number"` // in its batch
	Product  string `json:"product"`
	Position string `json:"position"`
	Language string `json:"language"`
	Rating   int    `json:"rating"`
	Follows  string `json:"follows"`
	Block    int    `json:"block"`
	N        int    `json:"n"`
}

// Apply implements pageindex.Store. Each batch of entries is one transaction.
func (s *Store) Apply(ctx context.Context, entries []pageindex.Entry) error {
	err := s.inBatches(ctx, entries, func(g generations) ([]int, error) {
		if g.building != 0 {
			return []int{g.current, g.building}, nil
		}
		return []int{g.current}, nil
	})
	if err == nil {
		s.sweep(ctx)
	}
	return err
}

// inBatches applies entries to the generations that pick returns for each batch. All transactions
// change rows in the order of pageindex.Latest.
func (s *Store) inBatches(ctx context.Context, entries []pageindex.Entry, pick func(generations) ([]int, error)) error {
	for part := range slices.Chunk(pageindex.Latest(entries), batch) {
		var locks []int
		for _, e := range part {
			locks = append(locks, int(hashOf(e.Product)%buckets))
		}
		slices.Sort(locks)
		locks = slices.Compact(locks)
		err := s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
			if err := s.db.Lock(ctx, tx, locks); err != nil {
				return err
			}
			g, err := s.generations(ctx, tx)
			if err != nil {
				return err
			}
			into, err := pick(g)
			if err != nil {
				return err
			}
			for _, generation := range into {
				if err := s.bringIn(ctx, tx, part, generation); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bringIn applies a batch to a generation. The caller's locks keep other writers away from the
// rows.
func (s *Store) bringIn(ctx context.Context, tx *sql.Tx, entries []pageindex.Entry, generation int) error {
	had, err := s.records(ctx, tx, entries, generation)
	if err != nil {
		return err
	}
	accepted, changes := tally(entries, had)
	if len(accepted) == 0 {
		return nil
	}
	if err := s.exec(ctx, tx, writeEntries, encodeEntries(accepted), generation, s.now().UnixMilli()); err != nil {
		return err
	}
	return s.count(ctx, tx, changes, generation)
}

// records reads a generation's records of the comments of a batch, nil for those without.
func (s *Store) records(ctx context.Context, tx *sql.Tx, entries []pageindex.Entry, generation int) ([]*record, error) {
	var had []*record
	var text *string
	err := s.each(ctx, tx, readEntries, []any{encodeEntries(entries), generation}, []any{&text}, func() {
		if text == nil {
			had = append(had, nil)
		} else {
			had = append(had, parseRecord(*text))
		}
	})
	return had, err
}

// count changes counters, and deletes those that become zero.
func (s *Store) count(ctx context.Context, tx *sql.Tx, changes []change, generation int) error {
	if len(changes) == 0 {
		return nil
	}
	incoming := make([]row, len(changes))
	for i, c := range changes {
		language, code := string(c.cell.Language), c.cell.Code()
		incoming[i] = row{Number: i, Product: c.product, Language: language, Rating: code, Block: c.block, N: c.n}
	}
	var zeros []counter
	var c counter
	var language comment.Language
	var code, n int
	err := s.each(ctx, tx, writeBlocks, []any{encode(incoming), generation}, []any{&c.product, &language, &code, &c.block, &n}, func() {
		if n == 0 {
			c.cell, _ = comment.CellOf(language, code)
			zeros = append(zeros, c)
		}
	})
	if err != nil {
		return err
	}
	for _, c := range zeros {
		if err := s.exec(ctx, tx, dropBlock, generation, c.product, string(c.cell.Language), c.cell.Code(), c.block); err != nil {
			return err
		}
	}
	return nil
}

func encodeEntries(entries []pageindex.Entry) string {
	rows := make([]row, len(entries))
	for i, e := range entries {
		rows[i] = row{Number: i, Product: e.Product, Position: hex.EncodeToString(e.Position[:]), Follows: string(e.Follows)}
		if e.Cell != nil {
			rows[i].Language, rows[i].Rating = string(e.Cell.Language), e.Cell.Code()
		}
	}
	return encode(rows)
}

func encode(rows []row) string {
	text, _ := json.Marshal(rows) // never fails for texts and numbers
	return string(text)
}

func hashOf(text string) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(text)) // never fails
	return hash.Sum32()
}

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
