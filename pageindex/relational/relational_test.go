package relational

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/postgrestest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// sql fills in the prefix of table names and the parameters.
func (db testDatabase) sql(text string) string {
	return strings.NewReplacer("{}", db.prefix, "?", db.first).Replace(text)
}

func TestConformance(t *testing.T) {
	for name, in := range map[string]func(*testing.T) testDatabase{"SQLite": inSQLite, "PostgreSQL": inPostgres} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T) conformance.Place {
				db := in(t)
				return conformance.Place{
					Shared: db.shared,
					Open:   func(t *testing.T) pageindex.Store { return db.open(t) },
					Held: func(t *testing.T, product string) []string {
						return db.texts(t, `SELECT 'block ' || block FROM {}blocks WHERE product = ?1
							UNION ALL SELECT 'follows ' || follows FROM {}entries WHERE product = ?1 AND rating > 0`, product)
					},
				}
			})
		})
	}
}

// entries returns n comments of one product, one every 7 hours: 3 years of them are in 90 blocks.
func entries(n int) []pageindex.Entry {
	out := make([]pageindex.Entry, n)
	for i := range out {
		var distinct [10]byte
		binary.BigEndian.PutUint64(distinct[:], uint64(i))
		out[i] = pageindex.Entry{
			Product:  product,
			Position: comment.PositionAt(time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i)*7*time.Hour), distinct),
			Cell:     &comment.Cell{Language: []comment.Language{"de", "en", "ja"}[i%3], Rating: i%5 + 1},
			Follows:  stream.PositionOf("label", fmt.Sprint(i)),
		}
	}
	return out
}

// count returns the number of comments of the product.
func count(t *testing.T, s pageindex.Index) int {
	t.Helper()
	return find(t, s, pageindex.List{Product: product, Order: comment.NewestFirst}, nil).Counts.Total()
}

// Comments that other programs wrote may have products that Talkback would refuse. They keep nobody
// from page numbers.
func TestProductsOfOtherPrograms(t *testing.T) {
	each(t, func(t *testing.T, db testDatabase) {
		s := db.opening(t)
		products := []string{"a", "a\x00", "a\x00b", "a\x01", "a\x01" + "0"}
		for i, product := range products {
			apply(t, s, entry(product, i, 1), entry(product, i+10, 2))
			gone := entry(product, i, 3)
			gone.Cell = nil
			apply(t, s, gone)
		}
		var told []string
		must.Do(t, s.Products(t.Context(), func(product string) { told = append(told, product) }))
		if slices.Sort(told); !slices.Equal(told, products) {
			t.Errorf("the products are %q", told)
		}
		for _, product := range products {
			checkTotal(t, s, product, 1)
		}
	})
}

// A deleted comment is forgotten once no older entry of it can arrive.
func TestGoneIsForgotten(t *testing.T) {
	each(t, func(t *testing.T, db testDatabase) {
		s, now := db.opening(t), time.Now()
		s.now = func() time.Time { return now }
		gone := entries(1)[0]
		gone.Cell = nil
		apply(t, s, gone)
		for _, step := range []struct {
			why  string
			wait time.Duration
			want int
		}{
			{"it is remembered for long enough", pageindex.Remember - time.Hour, 1},
			{"it is forgotten", time.Hour + time.Minute, 0},
		} {
			now = now.Add(step.wait)
			apply(t, s)
			if got := len(db.texts(t, `SELECT follows FROM {}entries`)); got != step.want {
				t.Errorf("%s: %d entries are left, want %d", step.why, got, step.want)
			}
		}
	})
}

// Once the next generation answers, nothing is left of the one before, nor of a build that never
// ended.
func TestOldGenerationsGo(t *testing.T) {
	each(t, func(t *testing.T, db testDatabase) {
		s, all := db.opening(t), entries(1200)
		apply(t, s, all...)
		abandoned := must.Get(s.Build(t.Context()))(t)
		must.Do(t, abandoned.Add(t.Context(), all[:500]))
		conformance.Build(t, s, all[:3], "token")
		if got := len(db.texts(t, `SELECT follows FROM {}entries`)); got != 3 {
			t.Errorf("%d entries are left, want 3", got)
		}
		if got := len(db.texts(t, `SELECT product FROM {}blocks WHERE generation <> (SELECT current FROM {}store)`)); got != 0 {
			t.Errorf("%d counts of other generations are left", got)
		}
		right := purges
		purges = []string{`DELETE FROM {blocks} WHERE nothing = ?1 OR nothing = ?2`}
		conformance.Build(t, s, all[:4], "left to the next build")
		conformance.CheckCovers(t, s, "left to the next build")
		purges = right
		conformance.Build(t, s, all[:5], "again")
		if got := len(db.texts(t, `SELECT follows FROM {}entries`)); got != 5 {
			t.Errorf("%d entries are left, want 5", got)
		}
		if err := abandoned.Add(t.Context(), all); comment.KindOf(err) != comment.Conflict {
			t.Errorf("the abandoned build goes on: %v", err)
		}
	})
}

// A schema of a newer program is refused and left alone. An older one is dropped.
func TestOtherSchemas(t *testing.T) {
	each(t, func(t *testing.T, db testDatabase) {
		s := db.opening(t)
		conformance.Build(t, s, entries(3), "token")

		db.exec(t, `UPDATE {}store SET version = 99`)
		_, err := s.Find(t.Context(), pageindex.List{Product: "p", Order: comment.NewestFirst}, nil)
		if !errors.Is(err, ErrNewer) || comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "upgrade") {
			t.Errorf("a lookup in a newer schema ends with %v", err)
		}
		if err := s.Apply(t.Context(), entries(4)); !errors.Is(err, ErrNewer) {
			t.Errorf("a change of a newer schema ends with %v", err)
		}
		if got := len(db.texts(t, `SELECT follows FROM {}entries`)); got != 3 {
			t.Errorf("of the newer schema, %d entries are left, want 3", got)
		}

		db.exec(t, `UPDATE {}store SET version = 0`)
		apply(t, s, entries(4)...)
		conformance.CheckCovers(t, s, "")
		if got := count(t, s); got != 4 {
			t.Errorf("an older schema was kept: there are %d comments, want 4", got)
		}
	})
}

// If tables are dropped while a store is open, it creates new ones, and is no longer complete.
func TestDroppedTables(t *testing.T) {
	for _, drop := range []string{
		`DROP TABLE {}store`, `DROP TABLE {}entries`, `DROP TABLE {}blocks`, `DELETE FROM {}store`,
	} {
		t.Run(drop, func(t *testing.T) {
			each(t, func(t *testing.T, db testDatabase) {
				s := db.opening(t)
				conformance.Build(t, s, entries(3), "token")
				db.exec(t, drop)
				if got := count(t, s); got != 0 && drop != `DROP TABLE {}entries` {
					t.Errorf("%d comments are counted", got)
				}
				apply(t, s, entries(1)...)
				conformance.CheckCovers(t, s, "")
				if got := count(t, s); got != 1 {
					t.Errorf("%d comments are counted, want 1", got)
				}
			})
		})
	}
}

// A caller that stops waiting gets Canceled, and one that waited too long gets Timeout.
func TestContexts(t *testing.T) {
	each(t, func(t *testing.T, db testDatabase) {
		s := db.opening(t)
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		late, cancel := context.WithTimeout(t.Context(), -1)
		defer cancel()
		for _, row := range []struct {
			ctx  context.Context
			want comment.Kind
		}{{canceled, comment.Canceled}, {late, comment.Timeout}} {
			_, err := s.Find(row.ctx, pageindex.List{Product: "p"}, nil)
			if kinds := []comment.Kind{comment.KindOf(err), comment.KindOf(s.Apply(row.ctx, entries(1)))}; !slices.Equal(kinds, []comment.Kind{row.want, row.want}) {
				t.Errorf("a lookup and a change end with the kinds %v, want %v: %v", kinds, row.want, err)
			}
		}
	})
}

// testDatabase is an empty database with an extra connection for the test.
type testDatabase struct {
	open   func(t *testing.T) *Store
	raw    *sql.DB
	prefix string // of table names
	first  string // sign before the number of a parameter
	shared bool
}

// each runs a test with both databases.
func each(t *testing.T, body func(t *testing.T, db testDatabase)) {
	t.Run("SQLite", func(t *testing.T) { body(t, inSQLite(t)) })
	t.Run("PostgreSQL", func(t *testing.T) { body(t, inPostgres(t)) })
}

func inSQLite(t *testing.T) testDatabase {
	file := filepath.Join(t.TempDir(), "what?is#this%20.db")
	address := url.URL{Scheme: "file", Path: file}
	return testDatabase{
		open: func(t *testing.T) *Store {
			return must.Get(OpenSQLite(t.Context(), file))(t)
		},
		raw: connected(t, "sqlite", address.String()), first: "?",
	}
}

func inPostgres(t *testing.T) testDatabase {
	address := postgrestest.Database(t)
	return testDatabase{
		open: func(t *testing.T) *Store {
			return must.Get(OpenPostgres(t.Context(), address, "comments"))(t)
		},
		raw: connected(t, "pgx", address), prefix: "talkback_comments.", first: "$", shared: true,
	}
}

func connected(t *testing.T, driver, address string) *sql.DB {
	db := must.Get(sql.Open(driver, address))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

// exec runs a statement, with {} replaced by the prefix of table names.
func (db testDatabase) exec(t *testing.T, text string, args ...any) {
	t.Helper()
	must.Get(db.raw.ExecContext(t.Context(), db.sql(text), args...))(t)
}

// texts returns the last column of each row.
func (db testDatabase) texts(t *testing.T, text string, args ...any) (out []string) {
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
func (db testDatabase) opening(t *testing.T) *Store {
	t.Helper()
	return closing(t, db.open(t))
}
