package relational

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

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

// escape and unescape encode the ids of products: a text of PostgreSQL cannot hold a zero byte. No
// id of Talkback has one, but other programs may have written such comments.
var (
	escape   = strings.NewReplacer("\x00", "\x01"+"0", "\x01", "\x01"+"1")
	unescape = strings.NewReplacer("\x01"+"0", "\x00", "\x01"+"1", "\x01")
)

// row is a row of a batch: an entry, or a change of a counter, which has neither Position nor
// Follows. A deleted comment has the rating 0.
type row struct {
	Number   int    `json:"number"` // in its batch
	Product  string `json:"product"`
	Position string `json:"position"`
	Language string `json:"language"`
	Rating   int    `json:"rating"` // the code of the cell
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
	incoming := make([]row, len(entries))
	for i, e := range entries {
		incoming[i] = row{Product: escape.Replace(e.Product), Position: hex.EncodeToString(e.Position[:]), Follows: string(e.Follows), Block: blockOf(e.Position)}
		if e.Cell != nil {
			incoming[i].Language, incoming[i].Rating = string(e.Cell.Language), e.Cell.Code()
		}
	}
	var stored []*string
	var text *string
	err := s.each(ctx, tx, readEntries, []any{encode(incoming), generation}, []any{&text}, func() { stored = append(stored, text) })
	if err != nil {
		return err
	}
	accepted, changes := tally(incoming, stored)
	if len(accepted) == 0 {
		return nil
	}
	if err := s.exec(ctx, tx, writeEntries, encode(accepted), generation, s.now().UnixMilli()); err != nil {
		return err
	}
	if len(changes) == 0 {
		return nil
	}
	var zeros []row // counters to delete
	var c row
	err = s.each(ctx, tx, writeBlocks, []any{encode(changes), generation}, []any{&c.Product, &c.Language, &c.Rating, &c.Block, &c.N}, func() {
		if c.N == 0 {
			zeros = append(zeros, c)
		}
	})
	if err != nil {
		return err
	}
	for _, c := range zeros {
		if err := s.exec(ctx, tx, dropBlock, generation, c.Product, c.Language, c.Rating, c.Block); err != nil {
			return err
		}
	}
	return nil
}

// tally computes the effect of entries. stored has, for each, the language, rating and follows that
// readEntries found, or nil. It accepts entries that are later by Follows, and returns the changes
// of counters in the order of their table's key.
func tally(entries []row, stored []*string) (accepted, changes []row) {
	sums := map[row]int{}
	count := func(of row, n int) {
		if of.Rating > 0 {
			sums[row{Product: of.Product, Language: of.Language, Rating: of.Rating, Block: of.Block}] += n
		}
	}
	for i, e := range entries {
		if stored[i] != nil {
			was, fields := e, strings.SplitN(*stored[i], "/", 3) // no language contains a slash
			if fields[2] >= e.Follows {
				continue
			}
			was.Language = fields[0]
			was.Rating, _ = strconv.Atoi(fields[1])
			count(was, -1)
		}
		count(e, 1)
		accepted = append(accepted, e)
	}
	for _, c := range slices.SortedFunc(maps.Keys(sums), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Product, b.Product), cmp.Compare(a.Language, b.Language), a.Rating-b.Rating, a.Block-b.Block)
	}) {
		if c.N = sums[c]; c.N != 0 {
			changes = append(changes, c)
		}
	}
	return accepted, changes
}

// encode numbers rows, and returns them as JSON.
func encode(rows []row) string {
	for i := range rows {
		rows[i].Number = i
	}
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
// one. If that fails, it reports no error: the next build tries again.
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
	_ = s.purge(ctx)
	if s.db.Settle != "" {
		_, _ = s.db.Write.ExecContext(ctx, s.sql.Replace(s.db.Settle))
	}
	return nil
}
