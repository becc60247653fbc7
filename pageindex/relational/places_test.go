package relational_test

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/postgrestest"
	"github.com/talkback/talkback/pageindex/relational"
)

// database is an empty database with an extra connection for the test.
type database struct {
	open   func(t *testing.T) *relational.Store
	raw    *sql.DB
	prefix string // of table names
	first  string // sign before the number of a parameter
	shared bool
}

// each runs a test with both databases.
func each(t *testing.T, body func(t *testing.T, db database)) {
	t.Run("SQLite", func(t *testing.T) { body(t, sqliteDatabase(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { body(t, postgresDatabase(t)) })
}

func sqliteDatabase(t *testing.T) database {
	file := filepath.Join(t.TempDir(), "what?is#this%20.db")
	address := url.URL{Scheme: "file", Path: file}
	return database{
		open: func(t *testing.T) *relational.Store {
			s, err := relational.OpenSQLite(t.Context(), file)
			return opened(t, s, err)
		},
		raw: connected(t, "sqlite", address.String()), first: "?",
	}
}

func postgresDatabase(t *testing.T) database {
	address := postgrestest.Database(t)
	return database{
		open: func(t *testing.T) *relational.Store {
			s, err := relational.OpenPostgres(t.Context(), address, "comments")
			return opened(t, s, err)
		},
		raw: connected(t, "pgx", address), prefix: "talkback_comments.", first: "$", shared: true,
	}
}

func opened[S any](t *testing.T, s S, err error) S {
	t.Helper()
	must.Do(t, err)
	return s
}

func connected(t *testing.T, driver, address string) *sql.DB {
	db := must.Get(sql.Open(driver, address))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

// exec runs a statement, with {} replaced by the prefix of table names.
func (db database) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	must.Get(db.raw.ExecContext(t.Context(), db.sql(text), args...))(t)
}

// texts returns the last column of each row.
func (db database) texts(t *testing.T, text string, args ...any) (out []string) {
	t.Helper()
	rows := must.Get(db.raw.QueryContext(context.WithoutCancel(t.Context()), db.sql(text), args...))(t)
	defer rows.Close()
	columns := must.Get(rows.Columns())(t)
	for rows.Next() {
		into := make([]any, len(columns))
		for i := range into {
			into[i] = new(any)
		}
		var last string
		into[len(into)-1] = &last
		must.Do(t, rows.Scan(into...))
		out = append(out, last)
	}
	must.Do(t, rows.Err())
	return out
}

// opening opens the store until the test ends.
func (db database) opening(t *testing.T) *relational.Store {
	t.Helper()
	s := db.open(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
