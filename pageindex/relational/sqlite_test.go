package relational

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/postgrestest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// The test binary is also the writing process that is killed.
const (
	writesTo   = "TALKBACK_TEST_WRITES_TO"
	writesFrom = "TALKBACK_TEST_WRITES_FROM"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(writesTo); file != "" {
		fmt.Fprintln(os.Stderr, write(file))
		os.Exit(1)
	}
	os.Exit(postgrestest.Run(m))
}

func openFile(t *testing.T, file string) *Store {
	t.Helper()
	return closing(t, must.Get(OpenSQLite(t.Context(), file))(t))
}

const product = "espresso-machine"

// madeAt is the time of all comments, within a day.
var madeAt = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// batchOf returns the n-th batch of the writing process: comments that are added, moved to another
// cell, and removed.
func batchOf(n int) []pageindex.Entry {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	entries := make([]pageindex.Entry, 1+r.IntN(12))
	for i := range entries {
		which := r.IntN(200)
		entries[i] = pageindex.Entry{
			Product:  product,
			Position: comment.PositionAt(madeAt.Add(time.Duration(which%40)*24*time.Hour), [10]byte{9: byte(which)}),
			Follows:  stream.PositionOf("label", fmt.Sprint(100*n+i)),
		}
		if r.IntN(4) > 0 {
			entries[i].Cell = &comment.Cell{Language: []comment.Language{"de", "en"}[r.IntN(2)], Rating: 1 + r.IntN(5)}
		}
	}
	return entries
}

// write applies batches to a file, and prints the number of each acknowledged one.
func write(file string) error {
	from, err := strconv.Atoi(os.Getenv(writesFrom))
	if err != nil {
		return err
	}
	s, err := OpenSQLite(context.Background(), file)
	if err != nil {
		return err
	}
	for n := from; ; n++ {
		if err := s.Apply(context.Background(), batchOf(n)); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// kills is the number of times that the writing process is killed.
const kills = 40

// However often a process is killed while it writes, every acknowledged batch is there, and the
// batch under way is there as a whole or not at all.
func TestKilledWhileWriting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pages.db")
	r, model, next := commenttest.Rand(t), conformance.NewModel(), 0
	for range kills {
		acknowledged := next
		for _, n := range writeUntilKilled(t, file, next, 1+r.IntN(20)) {
			if n != acknowledged {
				t.Fatalf("batch %d was acknowledged after %d", n, acknowledged-1)
			}
			acknowledged++
		}
		for ; next < acknowledged; next++ {
			apply(t, model, batchOf(next)...)
		}
		s := openFile(t, file)
		if differs(t, s, model) != "" {
			apply(t, model, batchOf(next)...) // written, but the process was killed before it could report it
			next++
		}
		if difference := differs(t, s, model); difference != "" {
			t.Fatalf("after %d acknowledged batches: %s", acknowledged, difference)
		}
		must.Do(t, s.Close())
	}
}

// writeUntilKilled kills a writing process after a number of batches, and returns the acknowledged
// ones.
func writeUntilKilled(t *testing.T, file string, from, after int) (acknowledged []int) {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Env = append(os.Environ(), writesTo+"="+file, writesFrom+"="+strconv.Itoa(from))
	var said strings.Builder
	process.Stderr = &said
	output := must.Get(process.StdoutPipe())(t)
	must.Do(t, process.Start())
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		n := must.Get(strconv.Atoi(lines.Text()))(t)
		if acknowledged = append(acknowledged, n); len(acknowledged) == after {
			_ = process.Process.Kill() // the rest of its output is read all the same
		}
	}
	if err := process.Wait(); err == nil || said.Len() > 0 || lines.Err() != nil {
		t.Fatalf("the process was not killed: %v: %s%v", err, said.String(), lines.Err())
	}
	return acknowledged
}

func apply(t *testing.T, s pageindex.Store, entries ...pageindex.Entry) {
	t.Helper()
	must.Do(t, s.Apply(t.Context(), entries))
}

// differs compares the place and the cell of each comment in two indexes.
func differs(t *testing.T, a, b pageindex.Index) string {
	t.Helper()
	for _, language := range []comment.Language{"de", "en"} {
		for rating := 1; rating <= comment.MaxRating; rating++ {
			list := pageindex.List{
				Product: product, Order: comment.OldestFirst, Filter: comment.Filter{Languages: []comment.Language{language}, Ratings: []int{rating}},
			}
			var targets []pageindex.Target
			for rank := range find(t, b, list, nil).Counts.Total() {
				targets = append(targets, pageindex.Target{Rank: rank + 1, Exact: true})
			}
			one, other := describe(find(t, a, list, targets)), describe(find(t, b, list, targets))
			if one != other {
				return fmt.Sprintf("of %s %d, the store has %s, want %s", language, rating, one, other)
			}
		}
	}
	return ""
}

func find(t *testing.T, index pageindex.Index, list pageindex.List, targets []pageindex.Target) pageindex.Found {
	t.Helper()
	return must.Get(index.Find(t.Context(), list, targets))(t)
}

func describe(found pageindex.Found) string {
	text := fmt.Sprint(found.Counts)
	for _, b := range found.Boundaries {
		text += fmt.Sprint(" ", b.Rank, b.After)
	}
	return text
}

// A second process is refused, and can open the file once the first has closed it.
func TestOneProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pages.db")
	first := openFile(t, file)
	_, err := OpenSQLite(t.Context(), file)
	if comment.KindOf(err) != comment.Unavailable || !errors.Is(err, pageindex.ErrInUse) || !strings.Contains(err.Error(), file) {
		t.Errorf("opening it again ends with %v", err)
	}
	must.Do(t, first.Close())
	openFile(t, file)
}

// Only its owner can read the file. A file of a newer program is not opened.
func TestOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pages.db")
	s := openFile(t, file)
	for _, name := range []string{file, file + "-wal", file + "-lock"} {
		if info, err := os.Stat(name); err != nil || info.Mode() != private {
			t.Errorf("%s has the mode %v (%v)", name, info, err)
		}
	}
	must.Get(s.db.Write.ExecContext(t.Context(), `UPDATE store SET version = version + 1`))(t)
	must.Do(t, s.Close())
	if _, err := OpenSQLite(t.Context(), file); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer schema is opened: %v", err)
	}
	for path, want := range map[string]string{
		"/missing/pages.db": "cannot use /missing/pages.db as the page index (no such file or directory): make the folder /missing, or name another file",
		"/dev/null/db":      "cannot use /dev/null/db as the page index (not a directory): see that its folder can be written to and its disk has room, or name another file",
	} {
		if _, err := OpenSQLite(t.Context(), path); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A file of another program, such as the database of the local engine, is left as it is. Its tables
// may have the names of ours.
func TestFileOfAnotherProgram(t *testing.T) {
	const cure = " of its own for page numbers"
	for _, row := range []struct{ content, want string }{
		{`CREATE TABLE store (name TEXT); CREATE TABLE orders (id INTEGER)`, ` has a table of another program, "store": name a database` + cure},
		{`CREATE TABLE store (id INTEGER, version INTEGER, name TEXT)`, ` has a table of another program, "store": name a database` + cure},
		{`PRAGMA journal_mode = WAL; CREATE TABLE entries (product TEXT)`, ` has a table of another program, "entries": name a database` + cure},
		{`CREATE TABLE blocks (n INTEGER)`, ` has a table of another program, "blocks": name a database` + cure},
		{"", " is no database of SQLite: name a file" + cure},
	} {
		file := filepath.Join(t.TempDir(), "shop.db")
		if row.content == "" {
			must.Do(t, os.WriteFile(file, []byte("no database"), private))
		} else {
			shop := must.Get(sql.Open("sqlite", file))(t)
			must.Get(shop.ExecContext(t.Context(), row.content))(t)
			must.Do(t, shop.Close())
		}
		before := must.Get(os.ReadFile(file))(t)
		_, err := OpenSQLite(t.Context(), file)
		if comment.KindOf(err) != comment.BadInput || err.Error() != file+row.want {
			t.Errorf("%s: it is opened: %v", row.content, err)
		}
		if after := must.Get(os.ReadFile(file))(t); !bytes.Equal(before, after) {
			t.Errorf("%s: it is changed", row.content)
		}
		if beside := must.Get(filepath.Glob(file + "?*"))(t); len(beside) > 0 {
			t.Errorf("%s: beside it is %s", row.content, beside)
		}
	}
}

// The tables of a program that is running may be in its log alone.
func TestOpenFileOfAnotherProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	shop := must.Get(sql.Open("sqlite", file))(t)
	defer shop.Close()
	must.Get(shop.ExecContext(t.Context(), `PRAGMA journal_mode = WAL; CREATE TABLE orders (id INTEGER)`))(t)
	if _, err := OpenSQLite(t.Context(), file); comment.KindOf(err) != comment.BadInput {
		t.Errorf("it is opened: %v", err)
	}
	if _, err := os.Stat(file + "-lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a lock is beside it (%v)", err)
	}
}

// A full disk is named, with the cure. Here the file may have no more pages.
func TestFullDisk(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "pages.db"))
	must.Get(s.db.Write.ExecContext(t.Context(), `PRAGMA max_page_count = 1`))(t)
	var err error
	for n := 0; n < 1000 && err == nil; n++ {
		err = s.Apply(t.Context(), batchOf(n))
	}
	if comment.KindOf(err) != comment.Unavailable || !strings.Contains(err.Error(), "its disk is full: make room there") {
		t.Errorf("it ends with %v", err)
	}
}

// While another program writes to the file, such as a repair, a change waits hardly longer than its
// caller does.
func TestBusyForLong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pages.db")
	s := openFile(t, file)
	other := connect(file, 1)
	defer other.Close()
	tx := must.Get(other.BeginTx(t.Context(), nil))(t)
	var waits int // in milliseconds, which nothing interrupts
	must.Do(t, tx.QueryRowContext(t.Context(), "PRAGMA busy_timeout").Scan(&waits))
	if waits > 500 {
		t.Errorf("SQLite waits for %d ms", waits)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Apply(ctx, batchOf(0)); comment.KindOf(err) != comment.Timeout {
		t.Error(err)
	}
	applied := make(chan error, 1)
	go func() { applied <- s.Apply(t.Context(), batchOf(0)) }()
	find(t, s, pageindex.List{Product: product, Order: comment.NewestFirst}, nil) // readers do not wait
	select {
	case err := <-applied:
		t.Errorf("it did not wait: %v", err)
	default:
	}
	must.Do(t, tx.Rollback())
	must.Do(t, <-applied)
}

// A change waits for another program for as long as its caller does, such as a build a minute.
func TestBusyForAsLongAsTheCallerWaits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pages.db")
	s := openFile(t, file)
	first, second := connect(file, 1), connect(file, 1)
	defer first.Close()
	defer second.Close()
	tx := must.Get(first.BeginTx(t.Context(), nil))(t)
	_, busy := second.BeginTx(t.Context(), nil)
	must.Do(t, tx.Rollback())
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), changeWithin)
		defer cancel()
		until := time.Now().Add(changeWithin - 2*time.Second)
		err := s.persist(ctx, func() error {
			if time.Now().Before(until) {
				return busy
			}
			return nil
		})
		if busy == nil || err != nil {
			t.Errorf("it gives up: %v (the lock: %v)", err, busy)
		}
	})
}
