// Package relational keeps an index of ranks in a relational database: the schema, and all
// operations on it. postgres.go and sqlite.go contribute the connection and the few words in which
// the two databases differ.
//
// Table entries has a row for each comment. Table blocks counts them by language, rating and block
// of some 12 days. A lookup reads the counts of the blocks, and picks the block that contains a
// rank. It finds the position there by OFFSET in an index-only scan, from the nearer end. See
// docs/design/page-index-sql.md.
package relational

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"
)

// database is the connections to a database, and the peculiarities of its SQL.
type database struct {
	// Name names it in messages. It holds no password.
	Name string
	// Read and Write are the connections for read-only transactions, and for others.
	Read, Write *sql.DB
	// ReadOnce and WriteOnce are the options of such transactions. A read-only one sees one state
	// of the database.
	ReadOnce, WriteOnce *sql.TxOptions
	// Frame is how many calls beginning and ending a transaction take.
	Frame int
	// Prefix is put before the name of each table.
	Prefix string
	// Parameter is put before the number of a parameter.
	Parameter string
	// Words replaces the words in braces of this package's SQL, such as {bytes}, in pairs.
	Words []string
	// Before are statements to run before the schema is created.
	Before []string
	// Tables is a query that counts the schema's existing tables.
	Tables string
	// Others is a query for the name of a table of another program where ours belong.
	Others string
	// Lock makes a transaction wait until others that hold one of the same buckets have ended.
	// Buckets are sorted, and less than buckets; exclusive is one more.
	Lock func(ctx context.Context, tx *sql.Tx, buckets []int) error
	// Settle is a statement to run after a build, outside of transactions, empty for none. It may
	// fail: the database does the same by itself some time later.
	Settle string
	// Explain classifies an error of the database, and describes it without any values.
	Explain func(error) (fault, string)
}

// fault is a class of database errors.
type fault int

// The faults.
const (
	faultOther fault = iota
	// faultAway means that the database cannot be reached, or that a connection was lost.
	faultAway
	// faultSlow means that an answer took too long.
	faultSlow
	// faultCrossed means that concurrent transactions were in the way. A retry may succeed at once.
	faultCrossed
	// faultLocked means that another program keeps a lock. Only the caller bounds how long to wait.
	faultLocked
	// faultMissing means that a table or a schema does not exist.
	faultMissing
)

// buckets is how many locks all products share. exclusive is the lock of the schema.
const (
	buckets   = 64
	exclusive = buckets
)

// Limits of a store.
const (
	// findWithin and changeWithin bound one lookup and one changing transaction, retries included.
	findWithin, changeWithin = 10 * time.Second, 30 * time.Second
	// batch is how many entries one transaction applies, and how many rows one removes.
	batch = 1000
	// sweepEvery is the time between two sweeps.
	sweepEvery = time.Minute
)

// Store is a pageindex.Store in a relational database.
type Store struct {
	db     database
	close  func() error
	sql    *strings.Replacer
	now    func() time.Time
	making sync.Mutex // serializes checks of the schema
	made   bool       // the schema exists

	sweeping  sync.Mutex
	lastSweep time.Time
}

// Close closes the connections.
func (s *Store) Close() error { return s.close() }

// newStore makes a store. It makes no call: the schema is created on first use.
func newStore(db database) *Store {
	words := append([]string{
		"{store}", db.Prefix + "store", "{entries}", db.Prefix + "entries", "{blocks}", db.Prefix + "blocks",
		"{prefix}", db.Prefix, "?", db.Parameter,
	}, db.Words...)
	return &Store{db: db, sql: strings.NewReplacer(words...), now: time.Now}
}

// step is the body of a transaction.
type step func(ctx context.Context, tx *sql.Tx) error

// transact runs a step in a transaction of its own.
func transact(ctx context.Context, db *sql.DB, options *sql.TxOptions, do step) error {
	tx, err := db.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	if err := do(ctx, tx); err != nil {
		_ = tx.Rollback() // the error of the step says more
		return err
	}
	return tx.Commit()
}

// exec runs a statement of this package.
func (s *Store) exec(ctx context.Context, tx *sql.Tx, text string, args ...any) error {
	_, err := tx.ExecContext(ctx, s.sql.Replace(text), args...)
	return err
}

// each runs a query of this package, and calls do for each row, whose columns it has read into
// into.
func (s *Store) each(ctx context.Context, tx *sql.Tx, text string, args, into []any, do func()) error {
	rows, err := tx.QueryContext(ctx, s.sql.Replace(text), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		do()
	}
	return rows.Err()
}
