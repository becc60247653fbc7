package engine

import (
	"bytes"
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// database opens an engine's database file while it runs.
func database(t testing.TB, e *Engine) *sql.DB {
	t.Helper()
	db := must.Get(e.records.connect())(t)
	t.Cleanup(func() { db.Close() })
	return db
}

// written starts an engine with a table of n items.
func written(t *testing.T, s settings, n int) (*Engine, api, *sql.DB) {
	t.Helper()
	e := must.Get(start(t.Context(), options(t), s))(t)
	t.Cleanup(func() { stop(t, e) })
	a := apiOf(t, e)
	a.createTable("comments")
	a.write("comments", 0, n)
	return e, a, database(t, e)
}

func execute(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	must.Get(db.ExecContext(t.Context(), statement, args...))(t)
}

// number returns the one number that a query selects.
func number(t *testing.T, db *sql.DB, query string, args ...any) int {
	t.Helper()
	var n int
	must.Do(t, db.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}

// TestIndexServesTheEngine asks SQLite for the plans of the engine's own statements. None may read
// every record.
func TestIndexServesTheEngine(t *testing.T) {
	db := database(t, running(t, options(t)))
	const search = "SEARCH _stream_records USING %s talkback_stream_order (table_name=?%s)"
	for _, c := range []struct{ statement, want string }{
		{ // the next record's number
			`SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = ?1`,
			fmt.Sprintf(search, "COVERING INDEX", ""),
		},
		{ // GetRecords
			`SELECT event_name FROM _stream_records WHERE table_name = ?1 AND shard_id = ?2
			 AND CAST(sequence_number AS INTEGER) > ?3 ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT ?4`,
			fmt.Sprintf(search, "INDEX", " AND <expr>>?"),
		},
		{ // DescribeStream
			`SELECT MIN(sequence_number), MAX(sequence_number) FROM _stream_records WHERE table_name = ?1 AND shard_id = ?2`,
			fmt.Sprintf(search, "COVERING INDEX", ""),
		},
	} {
		var id, parent, unused int
		var plan string
		row := db.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN "+c.statement, "comments", "shard", 1, 1)
		must.Do(t, row.Scan(&id, &parent, &unused, &plan))
		if plan != c.want {
			t.Errorf("%s\nruns as   %s\nand not as %s", c.statement, plan, c.want)
		}
	}
}

func TestTrimRemovesWhatIsOld(t *testing.T) {
	const last = 2*trimBatch + 100
	const young = last - 30
	e, a, db := written(t, defaults, last)
	const age = `UPDATE _stream_records SET created_at = created_at - ?1 WHERE CAST(sequence_number AS INTEGER) <= ?2`
	execute(t, db, age, 25*3600, young)
	execute(t, db, age, 23*3600, last)
	must.Do(t, e.records.trim(t.Context(), time.Now().Add(-defaults.keep)))
	left := a.records("comments")
	if len(left) != 30 || left[0] != fmt.Sprint(young+1) {
		t.Errorf("%d records are left, from %s on, want 30 from %d on", len(left), left[0], young+1)
	}
}

func TestNumbersGoOnAfterAllWasOld(t *testing.T) {
	e := running(t, options(t))
	a := apiOf(t, e)
	for _, table := range []string{"comments", "others"} {
		a.createTable(table)
		a.write(table, 0, 40)
	}
	must.Do(t, e.records.trim(t.Context(), time.Now().Add(time.Hour)))
	for _, table := range []string{"comments", "others"} {
		a.write(table, 40, 1)
		if got := strings.Join(a.records(table), " "); got != "40 41" {
			t.Errorf("%s: the records are %q, want the newest and the one after it, 40 41", table, got)
		}
	}
}

// TestTrimWhileOthersWrite trims again and again while writers run at full speed. No write fails
// and no young record is lost.
func TestTrimWhileOthersWrite(t *testing.T) {
	const writers, batches = 4, 40
	e, a, db := written(t, defaults, 1000)
	execute(t, db, `UPDATE _stream_records SET created_at = created_at - 90000`)

	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for b := range batches {
				if err := a.batch("comments", 1000+25*(w*batches+b), 25); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 10 {
		if err := e.records.trim(t.Context(), time.Now().Add(-defaults.keep)); err != nil {
			t.Error(err)
		}
	}
	writing.Wait()
	const all = 1000 + writers*batches*25
	if n := number(t, db, `SELECT COUNT(*) FROM comments`); n != all {
		t.Errorf("the table has %d items, want %d", n, all)
	}
	young := number(t, db, `SELECT COUNT(*) FROM _stream_records WHERE created_at > ?`, time.Now().Unix()-3600)
	first := number(t, db, `SELECT MIN(CAST(sequence_number AS INTEGER)) FROM _stream_records`)
	newest := number(t, db, `SELECT MAX(CAST(sequence_number AS INTEGER)) FROM _stream_records`)
	if young != all-1000 || newest != all || first < 1000 {
		t.Errorf("%d records, numbered %d to %d, want %d up to %d", young, first, newest, all-1000, all)
	}
}

// TestHousekeepingGoesOn checks that old records are removed while the engine runs, not only when
// it starts.
func TestHousekeepingGoesOn(t *testing.T) {
	s := defaults
	s.trimEvery = time.Millisecond
	_, _, db := written(t, s, 50)
	execute(t, db, `UPDATE _stream_records SET created_at = created_at - 90000`)
	must.Wait(t, "the old records are gone", func() bool { return number(t, db, `SELECT COUNT(*) FROM _stream_records`) == 1 })
}

func TestUnknownLayoutIsLeftAlone(t *testing.T) {
	for name, change := range map[string]string{
		"another column":  `ALTER TABLE _stream_records ADD COLUMN approximate_size INTEGER`,
		"another version": `UPDATE _config SET value = '10' WHERE key = 'schema_version'`,
		"no version":      `DROP TABLE _config`,
	} {
		t.Run(name, func(t *testing.T) {
			e, _, db := written(t, defaults, 30)
			execute(t, db, `DROP INDEX talkback_stream_order`)
			execute(t, db, change)

			var log bytes.Buffer
			other := &streamRecords{file: e.records.file, log: slog.New(slog.NewTextHandler(&log, nil))}
			must.Do(t, other.index(t.Context()))
			must.Do(t, other.trim(t.Context(), time.Now().Add(time.Hour)))
			if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "does not know") {
				t.Errorf("want one warning, got %d:\n%s", n, log.String())
			}
			if n := number(t, db, `SELECT COUNT(*) FROM _stream_records`); n != 30 {
				t.Errorf("%d records are left of 30", n)
			}
			if n := number(t, db, `SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'talkback%'`); n != 0 {
				t.Error("an index was made all the same")
			}
		})
	}
}

// BenchmarkWrites compares writes with our index on the stream records and without it, which is the
// engine's default. The metrics are items per second at the start and after 10,000 items.
//
//	go test ./internal/engine -run - -bench Writes -benchtime 1x
func BenchmarkWrites(b *testing.B) {
	const batch, between = 1000, 10_000
	for _, c := range []struct {
		name    string
		indexed bool
	}{{"indexed", true}, {"as it comes", false}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				e := running(b, options(b))
				if !c.indexed {
					execute(b, database(b, e), "DROP INDEX talkback_stream_order")
				}
				a := apiOf(b, e)
				a.createTable("comments")
				speed := func(first int) float64 {
					start := time.Now()
					a.write("comments", first, batch)
					return batch / time.Since(start).Seconds()
				}
				b.ReportMetric(speed(0), "items/s-first")
				a.write("comments", batch, between-batch)
				b.ReportMetric(speed(between), "items/s-later")
			}
		})
	}
}
