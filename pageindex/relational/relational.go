// Package relational keeps an index of ranks in a relational database: the schema, and all that is
// done with it. postgres.go and sqlite.go bring the connection and the few words in which the two
// databases differ.
//
// Table entries has a row for each comment. Table blocks counts them by language, rating and block
// of some 12 days. A lookup reads the counts of the blocks, picks the block that holds a rank, and
// finds the position in it by OFFSET over an index alone, from the nearer end. See
// docs/design/page-index-sql.md.
package relational

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"time"
)

// database is the connections to a database, and how its SQL differs from that of others.
type database struct {
	// Name names it in messages. It holds no password.
	Name string
	// Read and Write are the connections for transactions that only read, and for others.
	Read, Write *sql.DB
	// ReadOnce and WriteOnce begin such transactions. One that reads sees one state of the database.
	ReadOnce, WriteOnce *sql.TxOptions
	// Frame is how many calls it takes to begin and to end a transaction.
	Frame int
	// Prefix stands before the name of each table.
	Prefix string
	// Parameter stands before the number of a parameter.
	Parameter string
	// Words replaces the words in braces of this package's SQL, such as {bytes}, in pairs.
	Words []string
	// Before are statements that a schema is created after.
	Before []string
	// Tables is a query for how many of the schema's tables exist.
	Tables string
	// Lock makes a transaction wait for others that have one of the buckets in common, until these
	// end. Buckets are sorted, and below buckets; exclusive is a bucket beyond them.
	Lock func(ctx context.Context, tx *sql.Tx, buckets []int) error
	// Settle is a statement that follows a build, outside of transactions, empty for none. The database
	// would do what it says by itself some time later, so it may fail.
	Settle string
	// Explain says what an error of the database means, and describes it without any value.
	Explain func(error) (fault, string)
}

// fault is what an error of a database means for us.
type fault int

// The faults.
const (
	// faultOther is any other fault.
	faultOther fault = iota
	// faultAway is a database that cannot be reached, or a connection that was lost.
	faultAway
	// faultSlow is an answer that took too long.
	faultSlow
	// faultCrossed is a transaction that others were in the way of. The same may succeed at once.
	faultCrossed
	// faultMissing is a table or a schema that does not exist.
	faultMissing
)

// buckets is how many locks the products share. exclusive is the lock of the schema.
const (
	buckets   = 64
	exclusive = buckets
)

// Limits of a store.
const (
	// findWithin and changeWithin bound one lookup and one transaction that changes, retries included.
	findWithin, changeWithin = 10 * time.Second, 30 * time.Second
	// batch is how many entries are brought in by one transaction, and how many rows one removes.
	batch = 1000
	// sweepEvery is the pause between two looks for what need not be remembered any longer.
	sweepEvery = time.Minute
)

// Store is a pageindex.Store in a relational database.
type Store struct {
	db     database
	close  func() error
	sql    *strings.Replacer
	now    func() time.Time
	making sync.Mutex // lets one goroutine at a time look for the schema
	made   bool       // the schema was seen to be there

	sweeping  sync.Mutex
	lastSweep time.Time
}

// Close closes the connections.
func (s *Store) Close() error { return s.close() }

// newStore makes a store. It makes no call: the schema is created when it is first needed.
func newStore(db database) *Store {
	words := append([]string{
		"{store}", db.Prefix + "store", "{entries}", db.Prefix + "entries", "{blocks}", db.Prefix + "blocks",
		"{prefix}", db.Prefix, "?", db.Parameter,
	}, db.Words...)
	return &Store{db: db, sql: strings.NewReplacer(words...), now: time.Now}
}

// step is what a transaction does.
type step func(ctx context.Context, tx *sql.Tx) error

// transact does a step in a transaction, which ends with it.
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
