package relational

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/task"
)

// version is the version of the schema. It rises with each change of the schema or of the meaning
// of rows. An older schema is dropped and the store built anew; a newer one is refused.
const version = 2

// tables is how many tables the schema has.
const tables = 3

// schema creates the tables. All rows of one build have its generation: the store answers from the
// current one while the next is being built.
//
// The column rating holds comment.Cell.Code: the rating, and the traits above it. A deleted comment
// has the rating 0, no language, and the time when the deletion became known, in milliseconds since
// 1970. The key of entries has all columns that a lookup reads.
var schema = []string{
	`CREATE TABLE {store} (
		id INTEGER PRIMARY KEY CHECK (id = 1),
		version INTEGER NOT NULL,
		current INTEGER NOT NULL, -- the generation that answers
		building INTEGER NOT NULL, -- the one that is being built; 0: none
		last INTEGER NOT NULL, -- the highest that was ever used
		covers TEXT NOT NULL,
		server TEXT NOT NULL DEFAULT '' -- which server it was, and since which failover, when it became complete
		)`,
	`CREATE TABLE {entries} (
		generation INTEGER NOT NULL,
		product {text} NOT NULL,
		position {bytes} NOT NULL,
		language {text} NOT NULL,
		rating {small} NOT NULL,
		follows {text} NOT NULL,
		gone BIGINT,
		PRIMARY KEY (generation, product, position) {covering}) {clustered}`,
	`CREATE INDEX entries_gone ON {entries} (gone) WHERE gone IS NOT NULL`,
	`CREATE TABLE {blocks} (
		generation INTEGER NOT NULL,
		product {text} NOT NULL,
		language {text} NOT NULL,
		rating {small} NOT NULL,
		block INTEGER NOT NULL,
		n INTEGER NOT NULL,
		PRIMARY KEY (generation, product, language, rating, block)) {updated}`,
}

// ours tells the tables of any version of the schema from those of other programs.
const ours = `(name = 'store' AND columns LIKE 'id,version,current,building,%' OR
	name IN ('entries', 'blocks') AND columns LIKE 'generation,product,%')`

// drops removes the tables.
var drops = []string{`DROP TABLE IF EXISTS {blocks}`, `DROP TABLE IF EXISTS {entries}`, `DROP TABLE IF EXISTS {store}`}

// ensure creates the schema if it is missing. It checks once, and again after faultMissing.
func (s *Store) ensure(ctx context.Context) error {
	s.making.Lock()
	defer s.making.Unlock()
	if s.made {
		return nil
	}
	err := transact(ctx, s.db.Write, s.db.WriteOnce, s.create)
	s.made = err == nil
	return err
}

// create creates the schema unless it is complete. It drops the rest of an incomplete one, whose
// rows are inconsistent.
func (s *Store) create(ctx context.Context, tx *sql.Tx) error {
	if err := s.db.Lock(ctx, tx, []int{exclusive}); err != nil {
		return err
	}
	if err := refuseOthers(ctx, tx, s.db.Name, s.db.Others); err != nil {
		return err
	}
	var count int
	if err := tx.QueryRowContext(ctx, s.sql.Replace(s.db.Tables)).Scan(&count); err != nil {
		return err
	}
	if count >= tables {
		if _, err := s.generations(ctx, tx); !errors.Is(err, sql.ErrNoRows) {
			return err // nil if the schema is complete, or ErrNewer
		}
	}
	for _, text := range slices.Concat(s.db.Before, drops, schema) {
		if err := s.exec(ctx, tx, text); err != nil {
			return err
		}
	}
	return s.exec(ctx, tx, `INSERT INTO {store} (id, version, current, building, last, covers) VALUES (1, ?1, 1, 0, 1, '')`, version)
}

// refuseOthers refuses a database in which a query finds a table of another program.
func refuseOthers(ctx context.Context, in interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, name, others string) error {
	var table string
	switch err := in.QueryRowContext(ctx, others).Scan(&table); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return comment.Errorf(comment.BadInput, "%s has a table of another program, %.120q: name a database of its own for page numbers", name, table)
}

// generations are the existing generations, except those being removed.
type generations struct {
	current, building int // building is 0 for none
}

// ErrNewer is wrapped by errors about a schema that is too new for this program.
var ErrNewer = errors.New("the schema is a newer one")

// generations reads the store's row, and checks its version: the schema may have been replaced
// meanwhile.
func (s *Store) generations(ctx context.Context, tx *sql.Tx) (g generations, err error) {
	var found int
	err = tx.QueryRowContext(ctx, s.sql.Replace(`SELECT version, current, building FROM {store}`)).
		Scan(&found, &g.current, &g.building)
	if err != nil {
		return g, err
	}
	return g, s.check(found)
}

// check returns an error if the schema has another version than ours. An older schema counts as
// none.
func (s *Store) check(found int) error {
	switch {
	case found > version:
		err := comment.Errorf(comment.Unavailable,
			"the page index in %s was made by a newer version of this program (schema %d, this one knows %d): "+
				"upgrade, or use another database", s.db.Name, found, version)
		err.Cause = ErrNewer
		return err
	case found < version:
		return sql.ErrNoRows
	}
	return nil
}

const (
	// attempts bounds how often a transaction is tried, except while another program keeps a lock.
	// After a conflict with other transactions, it waits for a random part of pause, which doubles
	// each time.
	attempts = 8
	pause    = 5 * time.Millisecond
)

// read runs a read-only step, which sees one state of the database.
func (s *Store) read(ctx context.Context, do step) error {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	return s.persist(ctx, func() error { return transact(ctx, s.db.Read, s.db.ReadOnce, do) })
}

// change runs a step that changes the database.
func (s *Store) change(ctx context.Context, do step) error {
	ctx, cancel := context.WithTimeout(ctx, changeWithin)
	defer cancel()
	return s.persist(ctx, func() error { return transact(ctx, s.db.Write, s.db.WriteOnce, do) })
}

// persist runs a transaction, and retries after faults that may pass: conflicts, stale connections,
// dropped tables. A step may run twice.
func (s *Store) persist(ctx context.Context, do func() error) error {
	away := false
	for try := 1; ; try++ {
		err := s.ensure(ctx)
		if err == nil {
			err = do()
		}
		if err == nil {
			return nil
		}
		fault, _ := s.db.Explain(err)
		if errors.Is(err, sql.ErrNoRows) { // the store's only row is missing if all tables were emptied
			fault = faultMissing
		}
		switch {
		case ctx.Err() != nil || try >= attempts && fault != faultLocked:
			return s.explain(ctx, err)
		case fault == faultMissing:
			s.making.Lock()
			s.made = false
			s.making.Unlock()
		case fault == faultCrossed || fault == faultLocked:
			if task.Wait(ctx, rand.N(pause<<min(try, attempts))) != nil {
				return s.explain(ctx, err)
			}
		case fault == faultAway && !away:
			away = true
		default:
			return s.explain(ctx, err)
		}
	}
}

// explain turns an error into one of a known kind. Its text contains neither values nor a password.
func (s *Store) explain(ctx context.Context, err error) error {
	if errors.As(err, new(*comment.Error)) {
		return err
	}
	fault, text := s.db.Explain(err)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case fault == faultSlow, ctx.Err() != nil:
		return comment.Errorf(comment.Timeout, "the page index in %s did not answer in time", s.db.Name)
	case fault == faultAway:
		return s.unavailable("cannot be reached", text)
	case fault == faultMissing:
		return s.unavailable("has no tables, although they were just created", text)
	case fault == faultCrossed:
		return s.unavailable("is busy with other changes", text)
	}
	return s.unavailable("failed", text)
}

func (s *Store) unavailable(what, text string) error {
	err := comment.Errorf(comment.Unavailable, "the page index in %s %s", s.db.Name, what)
	if text != "" {
		err.Cause = errors.New(text)
	}
	return err
}
