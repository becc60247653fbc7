package engine

// This file adds what Dynoxide 1.2.1 lacks for the records of a table's stream.
//
// The engine numbers each new record by the largest number so far. Without an index, it reads every
// record to find that: a table slows down as its stream grows. And it never removes records, where
// AWS does so after 24 hours. So we add an index to its table of records, and remove old ones.
//
// Both happen through our own connection while the engine runs. That is safe, since SQLite serves
// several processes on one file. The engine waits up to 5 s for the lock at the beginning of each
// write, and a batch here holds it for 3 ms as a rule and 30 ms at most. In a test with four
// writers at full speed while 60,000 records were removed, nothing failed or was lost.
//
// We rejected an index of the two numbering columns only. With it, DescribeStream, which asks for a
// shard's first and last number, reads whole records with their images. With the other two columns
// it reads the index alone, four times as fast, and writes cost the same.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", in pure Go

	"github.com/talkback/talkback/internal/task"
)

const (
	// trimBatch is how many records are removed in one transaction.
	trimBatch = 250
	// busyTimeout is how long we wait for the engine's writes. It waits less for our short ones.
	busyTimeout = 15 * time.Second
)

const indexRecords = `
CREATE INDEX IF NOT EXISTS talkback_stream_order
ON _stream_records (table_name, CAST(sequence_number AS INTEGER), shard_id, sequence_number)`

// trimRecords removes the oldest records of one table. It always keeps the newest: the engine
// numbers the next record after the largest number that it finds. Without any record, numbers would
// restart at 1, and readers that remember a number would miss everything up to it.
const trimRecords = `
DELETE FROM _stream_records
WHERE created_at < ?3 AND id IN (
	SELECT id FROM _stream_records
	WHERE table_name = ?1 AND CAST(sequence_number AS INTEGER) <
		(SELECT MAX(CAST(sequence_number AS INTEGER)) FROM _stream_records WHERE table_name = ?1)
	ORDER BY CAST(sequence_number AS INTEGER) LIMIT ?2)`

// streamRecords maintains the stream records in the engine's database file.
type streamRecords struct {
	file    string
	log     *slog.Logger
	unknown bool // the file has an unknown layout: change nothing
}

// index creates the index, unless it exists or the file has an unknown layout. The engine must be
// running, since it creates the tables.
func (s *streamRecords) index(ctx context.Context) error {
	db, err := s.connect()
	if err != nil {
		return err
	}
	defer db.Close()
	layout, err := layoutOf(ctx, db)
	if err != nil {
		return s.wrap("read", err)
	}
	if layout != layoutKnown {
		s.unknown = true
		s.log.Warn("the engine's database has a layout that this program does not know, so its stream records are left "+
			"as they are: writes slow down as the stream grows, and records older than 24 hours stay; "+
			"use the engine version that `make run` fetches",
			"file", s.file, "schema", layout.schema, "columns", layout.columns)
		return nil
	}
	if _, err := db.ExecContext(ctx, indexRecords); err != nil {
		return s.wrap("index", err)
	}
	return nil
}

// layout distinguishes versions of the engine's tables.
type layout struct{ schema, columns string }

// layoutKnown is the layout that this file was written for.
var layoutKnown = layout{
	schema:  "9",
	columns: "id table_name event_name keys_json new_image old_image sequence_number shard_id created_at user_identity",
}

// layoutOf reads the layout. Missing parts are empty.
func layoutOf(ctx context.Context, db *sql.DB) (layout, error) {
	tables, err := texts(ctx, db, `SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil || !slices.Contains(tables, "_config") {
		return layout{}, err
	}
	versions, err := texts(ctx, db, `SELECT value FROM _config WHERE key = 'schema_version'`)
	if err != nil {
		return layout{}, err
	}
	names, err := texts(ctx, db, `SELECT name FROM pragma_table_info('_stream_records') ORDER BY cid`)
	return layout{schema: strings.Join(versions, " "), columns: strings.Join(names, " ")}, err
}

// keepTrimmed removes old records and empties a large log, at an interval, until the context ends.
func (s *streamRecords) keepTrimmed(ctx context.Context, every, keep time.Duration) {
	for ctx.Err() == nil {
		err := errors.Join(s.trim(ctx, time.Now().Add(-keep)), shorten(filepath.Join(filepath.Dir(s.file), logFile)))
		if err != nil && ctx.Err() == nil {
			s.log.Warn("the engine's housekeeping failed and will be tried again", "in", every, "error", err)
		}
		_ = task.Wait(ctx, every) // the loop looks at the context
	}
}

// trim removes the records written before a time.
func (s *streamRecords) trim(ctx context.Context, before time.Time) error {
	if s.unknown {
		return nil
	}
	db, err := s.connect()
	if err != nil {
		return err
	}
	defer db.Close()
	tables, err := texts(ctx, db, `SELECT DISTINCT table_name FROM _stream_records`)
	if err != nil {
		return s.wrap("trim", err)
	}
	for _, table := range tables {
		if err := trimTable(ctx, db, table, before); err != nil {
			return s.wrap("trim", err)
		}
	}
	return nil
}

// trimTable removes one table's old records in small transactions. After each, it pauses for as
// long as that one took, so that the file is free for the engine at least half of the time.
func trimTable(ctx context.Context, db *sql.DB, table string, before time.Time) error {
	for {
		began := time.Now()
		result, err := db.ExecContext(ctx, trimRecords, table, trimBatch, before.Unix())
		if err != nil {
			return err
		}
		if removed, err := result.RowsAffected(); err != nil || removed < trimBatch {
			return err
		}
		if err := task.Wait(ctx, time.Since(began)); err != nil {
			return err
		}
	}
}

// connect opens the database file for a few statements, one after the other. It does not create the
// file, which the engine has to do.
func (s *streamRecords) connect() (*sql.DB, error) {
	path, err := filepath.Abs(s.file)
	if err != nil {
		return nil, s.wrap("open", err)
	}
	address := url.URL{Scheme: "file", Path: path, RawQuery: fmt.Sprintf(
		"mode=rw&_pragma=busy_timeout(%d)", busyTimeout.Milliseconds())}
	db, _ := sql.Open("sqlite", address.String()) // it only fails without the driver
	db.SetMaxOpenConns(1)
	return db, nil
}

func (s *streamRecords) wrap(verb string, err error) error {
	return fmt.Errorf("cannot %s the stream records in %s: %w", verb, s.file, err)
}

// texts returns the first column of every row.
func texts(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
