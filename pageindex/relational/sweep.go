package relational

import (
	"context"
	"database/sql"

	"github.com/talkback/talkback/pageindex"
)

// sweepEntries deletes entries of deleted comments that were remembered for long enough. No count
// includes them. PostgreSQL may wait for the change of a row that it found, and then checks only
// the outer condition again: the comment may have come back. Without COALESCE, an index could serve
// that condition, and each batch might read all old deletions.
const sweepEntries = `
DELETE FROM {entries} WHERE COALESCE(gone, ?1) < ?1 AND (generation, product, position) IN (
	SELECT generation, product, position FROM {entries} WHERE gone < ?1 ORDER BY gone LIMIT ?2)`

// nextGeneration finds the current generation, the one that is being built, and the first one with
// rows after another.
const nextGeneration = `
SELECT current, building, (SELECT COALESCE(MIN(generation), 0) FROM (
	SELECT MIN(generation) AS generation FROM {entries} WHERE generation > ?1 UNION ALL
	SELECT MIN(generation) FROM {blocks} WHERE generation > ?1) AS found)
FROM {store}`

// purges delete rows of a generation.
var purges = []string{
	`DELETE FROM {entries} WHERE (generation, product, position) IN (
		SELECT generation, product, position FROM {entries} WHERE generation = ?1
		ORDER BY product, position LIMIT ?2)`,
	`DELETE FROM {blocks} WHERE (generation, product, language, rating, block) IN (
		SELECT generation, product, language, rating, block FROM {blocks} WHERE generation = ?1
		ORDER BY product, language, rating, block LIMIT ?2)`,
}

// sweep deletes a batch of expired entries, at an interval, or at once if there may be more. It
// ignores errors: the next sweep catches up.
func (s *Store) sweep(ctx context.Context) {
	if !s.sweeping.TryLock() {
		return
	}
	defer s.sweeping.Unlock()
	now := s.now()
	if now.Sub(s.lastSweep) < sweepEvery {
		return
	}
	removed, err := s.remove(ctx, sweepEntries, now.Add(-pageindex.Remember).UnixMilli())
	if err == nil && removed < batch {
		s.lastSweep = now
	}
}

// remove deletes up to a batch of rows, and returns their number.
func (s *Store) remove(ctx context.Context, text string, which any) (removed int64, err error) {
	err = s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, s.sql.Replace(text), which, batch)
		if err != nil {
			return err
		}
		removed, err = result.RowsAffected()
		return err
	})
	return removed, err
}

// purge deletes old generations in small steps. If it fails, the purge of the next build continues.
func (s *Store) purge(ctx context.Context) error {
	for last := 0; ; {
		var g generations
		var next int
		err := s.read(ctx, func(ctx context.Context, tx *sql.Tx) error {
			return tx.QueryRowContext(ctx, s.sql.Replace(nextGeneration), last).Scan(&g.current, &g.building, &next)
		})
		if err != nil || next == 0 {
			return err
		}
		if last = next; next == g.current || next == g.building {
			continue
		}
		for _, text := range purges {
			for removed := int64(batch); removed == batch; {
				if removed, err = s.remove(ctx, text, next); err != nil {
					return err
				}
			}
		}
	}
}
