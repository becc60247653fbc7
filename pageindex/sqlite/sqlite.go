// Package sqlite keeps an index of ranks in a SQLite file, for a single server. See package
// relational.
//
// What is acknowledged survives the end of the process and, as far as the disk keeps its promises, a
// loss of power: the log is synced with each transaction. The file belongs to one process at a time.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex/relational"
)

// Store is an index in a file.
type Store struct {
	*relational.Store
	read, write *sql.DB
	lock        *flock.Flock
}

const (
	// readers bounds the lookups at once. Further ones wait.
	readers = 4
	// busy is how long a transaction waits for another process, such as a backup, in milliseconds.
	busy = 5000
	// private is the mode of the file, which tells how many comments products have.
	private = 0o600
	// cache is how much of the file each connection keeps in memory, in KiB.
	cache = 16 << 10
)

// Open opens the index in a file, and creates it if necessary. It fails if another process has it
// open, or if a newer version of this program made it.
func Open(ctx context.Context, file string) (*Store, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, unusable(file, err)
	}
	lock := flock.New(path+"-lock", flock.SetPermissions(private))
	taken, err := lock.TryLock()
	if err != nil {
		return nil, unusable(file, err)
	}
	if !taken {
		return nil, comment.Errorf(comment.Unavailable,
			"the page index %s is in use by another process: stop that one, or use a file of its own for each server; "+
				"servers can share an index in PostgreSQL", file)
	}
	s := &Store{lock: lock}
	if err := s.open(ctx, file, path); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, file, path string) error {
	created, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, private)
	if err != nil {
		return unusable(file, err)
	}
	if err := created.Close(); err != nil {
		return unusable(file, err)
	}
	if s.write, err = connect(path, 1); err != nil {
		return unusable(file, err)
	}
	if s.read, err = connect(path, readers); err != nil {
		return unusable(file, err)
	}
	s.Store = relational.New(relational.Database{
		Name: file, Read: s.read, Write: s.write,
		ReadOnce:  &sql.TxOptions{ReadOnly: true},
		WriteOnce: &sql.TxOptions{},
		Parameter: "?",
		Words: []string{
			"{bytes}", "BLOB", "{text}", "TEXT", "{small}", "INTEGER", "{covering}", "", "{clustered}", "WITHOUT ROWID",
			"{updated}", "WITHOUT ROWID", "{incoming}", incoming, "{server}", "''",
		},
		Tables:  `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('store', 'entries', 'blocks')`,
		Lock:    func(context.Context, *sql.Tx, []int) error { return nil }, // there is one writer
		Explain: explain,
	})
	_, err = s.Covers(ctx)
	return err
}

// incoming reads a batch.
const incoming = `(
	SELECT value->>'number' AS number, value->>'product' AS product, unhex(value->>'position') AS position,
		value->>'language' AS language, value->>'rating' AS rating, value->>'follows' AS follows,
		value->>'block' AS block, value->>'n' AS n
	FROM json_each(?1))`

// connect opens a pool of connections to the file. Those that write do so one after the other, from
// the beginning of a transaction on.
func connect(path string, connections int) (*sql.DB, error) {
	address := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf(
		"_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cache_size(-%d)",
		busy, cache)}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Close closes the file.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

func unusable(file string, err error) error {
	return comment.Errorf(comment.Unavailable, "cannot use %s as the page index: %v", file, err)
}

// explain says what an error of SQLite means. It reports only the primary code and the code's name:
// the text may hold values.
func explain(err error) (relational.Fault, string) {
	var failed *driver.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return relational.Slow, ""
	case !errors.As(err, &failed):
		return relational.Failed, ""
	}
	text := driver.ErrorCodeString[failed.Code()]
	if strings.Contains(failed.Error(), "no such table") {
		return relational.Missing, text
	}
	switch failed.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return relational.Crossed, text
	case codes.SQLITE_INTERRUPT:
		return relational.Slow, text
	}
	return relational.Failed, text
}
