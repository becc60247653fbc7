package relational

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

const (
	// readers bounds concurrent lookups. Further ones wait.
	readers = 4
	// busy is how long SQLite waits for another process, such as a repair, in milliseconds. It cannot
	// be interrupted meanwhile, so this is short, and transactions are tried again while their caller
	// waits.
	busy = 500
	// private is the mode of the file, which reveals how many comments products have.
	private = 0o600
	// cache is how much of the file each connection keeps in memory, in KiB.
	cache = 16 << 10
)

// OpenSQLite opens the index in a file, which belongs to one process at a time, and creates it if
// necessary. It fails if another process has it open, or if another program or a newer version of
// this one made it.
//
// Acknowledged changes survive a crash of the process and, if the disk honours syncs, a power
// failure: the log is synced with each transaction.
func OpenSQLite(ctx context.Context, file string) (*Store, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, unusable(file, err)
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf("mode=ro&_pragma=busy_timeout(%d)", busy)}
	if _, err := os.Lstat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		address.RawQuery += "&immutable=1" // the file has all: else SQLite puts files of a log beside it, and leaves them there
	}
	before, _ := sql.Open("sqlite", address.String()) // it only fails without the driver
	err = refuseOthers(ctx, before, file, sqliteOthers)
	_ = before.Close() // it was only read
	if failed, ok := errors.AsType[*sqlite.Error](err); ok && failed.Code() == codes.SQLITE_NOTADB {
		return nil, comment.Errorf(comment.BadInput, "%s is no database of SQLite: name a file of its own for page numbers", file)
	}
	if comment.KindOf(err) == comment.BadInput { // why else it cannot be read, opening says
		return nil, err
	}
	lock := flock.New(path+"-lock", flock.SetPermissions(private))
	taken, err := lock.TryLock()
	if err != nil {
		return nil, unusable(file, err)
	}
	if !taken {
		return nil, &comment.Error{Kind: comment.Unavailable, Message: fmt.Sprintf("cannot open the page index %s", file), Cause: pageindex.ErrInUse}
	}
	created, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, private)
	if err != nil {
		return nil, errors.Join(unusable(file, err), lock.Close())
	}
	write, read := connect(path, 1), connect(path, readers)
	s := newStore(database{
		Name: file, Read: read, Write: write,
		ReadOnce:  &sql.TxOptions{ReadOnly: true},
		WriteOnce: &sql.TxOptions{},
		Parameter: "?",
		Words: []string{
			"{bytes}", "BLOB", "{text}", "TEXT", "{small}", "INTEGER", "{covering}", "", "{clustered}", "WITHOUT ROWID",
			"{updated}", "WITHOUT ROWID", "{incoming}", sqliteIncoming, "{server}", "''",
		},
		Tables:  `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('store', 'entries', 'blocks')`,
		Others:  sqliteOthers,
		Lock:    func(context.Context, *sql.Tx, []int) error { return nil }, // there is one writer
		Explain: explainSQLite,
	})
	s.close = func() error { return errors.Join(read.Close(), write.Close(), lock.Close()) }
	if err := created.Close(); err != nil {
		return nil, errors.Join(unusable(file, err), s.Close())
	}
	if _, err := s.Covers(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// sqliteOthers finds a table of another program in the file.
const sqliteOthers = `SELECT name FROM (SELECT name, (SELECT group_concat(name) FROM pragma_table_info(t.name)) AS columns
	FROM sqlite_master AS t WHERE type = 'table' AND name NOT GLOB 'sqlite_*') WHERE ` + ours + ` IS NOT TRUE`

// sqliteIncoming turns a batch into rows.
const sqliteIncoming = `(
	SELECT value->>'number' AS number, value->>'product' AS product, unhex(value->>'position') AS position,
		value->>'language' AS language, value->>'rating' AS rating, value->>'follows' AS follows,
		value->>'block' AS block, value->>'n' AS n
	FROM json_each(?1))`

// connect opens a pool of connections to the file. Writing transactions run one after the other,
// from their beginning on.
func connect(path string, connections int) *sql.DB {
	address := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf(
		"_txlock=immediate&_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cache_size(-%d)",
		busy, cache)}
	db, _ := sql.Open("sqlite", address.String()) // it only fails without the driver
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}

// unusable returns the error that a file cannot be written, with the cure.
func unusable(file string, err error) error {
	cure := "see that its folder can be written to and its disk has room, or name another file"
	if errors.Is(err, fs.ErrNotExist) {
		cure = "make the folder " + filepath.Dir(file) + ", or name another file"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return comment.Errorf(comment.Unavailable, "cannot use %s as the page index (%v): %s", file, err, cure)
}

// explainSQLite classifies an error of SQLite. It returns only the name of its code: the message
// may contain values.
func explainSQLite(err error) (fault, string) {
	var failed *sqlite.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return faultSlow, ""
	case !errors.As(err, &failed):
		return faultOther, ""
	}
	text := sqlite.ErrorCodeString[failed.Code()]
	if strings.Contains(failed.Error(), "no such table") {
		return faultMissing, text
	}
	switch failed.Code() & 0xff {
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return faultLocked, text
	case codes.SQLITE_FULL:
		return faultOther, "its disk is full: make room there"
	case codes.SQLITE_INTERRUPT:
		return faultSlow, text
	}
	return faultOther, text
}
