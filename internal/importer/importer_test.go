package importer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
)

const header = "id,product,rating,language,text,date\n"

// rows returns a file of n rows. bad reports which rows have no valid rating.
func rows(n int, bad func(i int) bool) string {
	var out strings.Builder
	out.WriteString(header)
	for i := range n {
		rating := "5"
		if bad(i) {
			rating = "9"
		}
		fmt.Fprintf(&out, "r%d,cup,%s,en,good,2015-08-20\n", i, rating)
	}
	return out.String()
}

func none(int) bool { return false }

// fakeLoader records the number of comments in each chunk.
type fakeLoader struct {
	chunks        []int
	first, second error // of these chunks
	wrote         int   // how many comments of such a chunk are written
}

func (f *fakeLoader) Load(_ context.Context, comments []comment.Comment) (dynamo.LoadCounts, error) {
	f.chunks = append(f.chunks, len(comments))
	if err := map[int]error{1: f.first, 2: f.second}[len(f.chunks)]; err != nil {
		return dynamo.LoadCounts{Written: f.wrote}, err
	}
	return dynamo.LoadCounts{Written: len(comments)}, nil
}

func newImport(t *testing.T, input io.Reader, loader Loader, rejects *Rejects) *Import {
	t.Helper()
	in := must.Get(Open(t.Context(), reviewfile.StandardInput, reviewfile.Options{Format: reviewfile.CSV}, input))(t)
	return &Import{Input: in, Loader: loader, Rejects: rejects, Progress: output.NewProgress(io.Discard, -1, "rows"), ChunkRows: 10}
}

// untimed removes the duration of an import from a text.
func untimed(text string) string {
	before, rest, _ := strings.Cut(text, ", in ")
	_, after, _ := strings.Cut(rest, "rows/s)")
	return before + after
}

// However an import ends, each row is written, rejected or still to come, and the report says
// which.
func TestImport(t *testing.T) {
	for _, row := range []struct {
		why    string
		file   string
		limit  string
		loader fakeLoader
		chunks []int
		says   string
	}{
		{"all rows are comments", rows(25, none), "", fakeLoader{}, []int{10, 10, 5},
			"25 rows = 25 written + 0 already there + 0 repeated in the file + 0 rejected"},
		{"some rows are rejected", rows(25, func(i int) bool { return i%10 == 0 }), "", fakeLoader{}, []int{9, 9, 4},
			"25 rows = 22 written + 0 already there + 0 repeated in the file + 3 rejected"},
		{"some rows have replies", "product,rating,language,text,date,reply\ncup,5,en,good,2015-08-20,Thanks\ncup,4,en,fine,2015-08-20,\n", "", fakeLoader{}, []int{2},
			"2 rows = 2 written + 0 already there + 0 repeated in the file + 0 rejected\nRows with a reply of the shop: 1"},
		{"all rows are rejected", rows(3, func(int) bool { return true }), "", fakeLoader{}, []int{0},
			"no row can be imported: see the reasons, and correct the file, or describe it with --map, --language and --language-of"},
		{"there are no rows", header, "", fakeLoader{}, []int{0}, "the file holds no rows: see that it was exported and copied completely"},
		{"too many rows are rejected: their chunk is not written", rows(25, func(i int) bool { return i > 10 && i < 14 }), "2", fakeLoader{}, []int{10},
			"too many rows cannot be imported: --max-rejects is 2, and the import stopped after line 11\n" +
				"13 rows = 10 written + 0 already there + 0 repeated in the file + 3 rejected\n" +
				"Correct the file, or describe it with flags such as --map, and run it again"},
		{"a share is judged at the end of a short file", rows(25, func(i int) bool { return i == 3 }), "1%", fakeLoader{}, []int{9, 10, 5},
			"too many rows cannot be imported: --max-rejects is 1%, and the import stopped after line 26\n" +
				"25 rows = 24 written + 0 already there + 0 repeated in the file + 1 rejected\n" +
				"Correct the file, or describe it with flags such as --map, and run it again"},
		{"the table fails in the second chunk", rows(25, none), "", fakeLoader{second: errors.New("broken"), wrote: 1}, []int{10, 10},
			"the import stopped after line 11: broken\n11 rows = 11 written + 0 already there + 0 repeated in the file + 0 rejected\n" +
				"Run it again: it continues where it stopped"},
		{"the table fails in the first chunk", rows(25, none), "", fakeLoader{first: errors.New("broken"), wrote: 1}, []int{10},
			"the import stopped in its first rows: broken\n1 row = 1 written + 0 already there + 0 repeated in the file + 0 rejected\n" +
				"Run it again: it continues where it stopped"},
		{"the table takes nothing", rows(25, func(i int) bool { return i == 3 }), "", fakeLoader{first: errors.New("broken")}, []int{9},
			"nothing was imported: broken\n1 row = 0 written + 0 already there + 0 repeated in the file + 1 rejected\n" +
				"Run it again"},
		{"the first rows are too many that are rejected", rows(25, func(i int) bool { return i < 4 }), "2", fakeLoader{}, nil,
			"too many rows cannot be imported: --max-rejects is 2, and nothing was imported\n" +
				"4 rows = 0 written + 0 already there + 0 repeated in the file + 4 rejected\n" +
				"Correct the file, or describe it with flags such as --map, and run it again"},
		{"someone interrupts it", rows(25, none), "", fakeLoader{second: context.Canceled, wrote: 1}, []int{10, 10},
			"the import stopped after line 11: interrupted\n11 rows = 11 written + 0 already there + 0 repeated in the file + 0 rejected\n" +
				"Run it again: it continues where it stopped"},
	} {
		m := newImport(t, strings.NewReader(row.file), &row.loader, PrintRejects(io.Discard))
		var err error
		if m.Limit, err = ParseLimit(row.limit); err != nil {
			t.Fatal(err)
		}
		said, err := m.Report(m.Run(t.Context()), 0)
		if err != nil {
			said = err.Error()
		}
		if diff := cmp.Diff(row.says, untimed(said)); diff != "" && row.says != said {
			t.Errorf("%s: %s", row.why, diff)
		}
		check.Equal(t, row.chunks, row.loader.chunks, row.why)
	}
}

// The report after all rows are written, whether or not they are known to be counted, and with the
// time that counting took.
func TestReportOfCounting(t *testing.T) {
	for _, row := range []struct {
		err     error
		counted time.Duration
		says    string
	}{
		{nil, 1500 * time.Millisecond, "3 rows = 3 written + 0 already there + 0 repeated in the file + 0 rejected, all counted after another 1.5 s"},
		{errors.New("broken"), 0, "the rows are in the table, but it is not known whether all are counted: broken\n" +
			"3 rows = 3 written + 0 already there + 0 repeated in the file + 0 rejected\nA server, talkback stream or a further import counts the rest"},
		{fmt.Errorf("work: %w", &UnreplacedError{"nothing was deleted: correct the file"}), 0,
			"work: nothing was deleted: correct the file\n3 rows = 3 written + 0 already there + 0 repeated in the file + 0 rejected"},
	} {
		m := newImport(t, strings.NewReader(rows(3, none)), &fakeLoader{}, PrintRejects(io.Discard))
		must.Do(t, m.Run(t.Context()))
		said, err := m.Report(row.err, row.counted)
		if err != nil {
			said = err.Error()
		}
		check.Equal(t, row.says, untimed(said))
	}
}

// If only the file of rejected rows fails at the end, the report says that the rows are in the
// table, and counted. If all were rejected, none is.
func TestReportWithoutRejects(t *testing.T) {
	for _, all := range []bool{false, true} {
		folder := filepath.Join(t.TempDir(), "rejects")
		must.Do(t, os.Mkdir(folder, 0o700))
		m := newImport(t, strings.NewReader(rows(3, func(i int) bool { return all || i == 1 })), &fakeLoader{}, nil)
		m.Rejects = must.Get(NewRejects(filepath.Join(folder, "rows.tsv"), false, m.Input))(t)
		must.Do(t, m.Run(t.Context()))
		must.Do(t, os.RemoveAll(folder)) // as a file system that was unmounted
		_, err := m.Report(nil, time.Second)
		if begin := "the rows are in the table, but the rejected rows cannot be written to "; err == nil || strings.HasPrefix(err.Error(), begin) == all ||
			!all && !strings.Contains(err.Error(), ", all counted after another 1.0 s") || strings.Contains(err.Error(), "not known") {
			t.Error(all, err)
		}
	}
}

// A chunk ends early when its texts are long.
func TestChunkOfLongTexts(t *testing.T) {
	const rows, length = 300, 60_000 // more than twice chunkBytes
	text := strings.Repeat("x", length)
	var file strings.Builder
	file.WriteString(header)
	for i := range rows {
		fmt.Fprintf(&file, "r%d,cup,5,en,%s,2015-08-20\n", i, text)
	}
	in := must.Get(Open(t.Context(), reviewfile.StandardInput, reviewfile.Options{Format: reviewfile.CSV}, strings.NewReader(file.String())))(t)
	total := 0
	for next := (chunk{}); !next.last; {
		next = in.chunk(1_000_000)
		size := 0
		for _, c := range next.comments {
			size += len(c.Text)
		}
		if size > chunkBytes+length {
			t.Errorf("a chunk holds %d bytes", size)
		}
		total += len(next.comments)
	}
	if total != rows {
		t.Errorf("%d rows, want %d", total, rows)
	}
}

// An import and its report end with their context, though their input neither ends nor comes.
func TestImportEndsWithItsContext(t *testing.T) {
	for name, read := range map[string]func(context.Context, *Import) error{
		"import": func(ctx context.Context, m *Import) error { return m.Run(ctx) },
		"report": func(ctx context.Context, m *Import) error { _, err := m.Input.Peek(ctx, 1000); return err },
		"opening": func(ctx context.Context, _ *Import) error {
			reader, writer := io.Pipe()
			t.Cleanup(func() { _ = writer.Close() })
			_, err := Open(ctx, reviewfile.StandardInput, reviewfile.Options{}, reader)
			return err
		},
	} {
		reader, writer := io.Pipe()
		defer writer.Close()
		go func() { _, _ = io.WriteString(writer, rows(500, none)) }() // enough to detect the format
		m := newImport(t, reader, &fakeLoader{}, PrintRejects(io.Discard))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- read(ctx, m) }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A full disk leaves no empty file of rejected rows, which would be in the way next time, nor one
// in the place of an earlier file.
func TestRejectsOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rejects.tsv")
	must.Do(t, os.WriteFile(path, []byte("earlier"), 0o600))
	file := must.Get(output.Open(t.Context(), path, true, nil))(t)
	m := newImport(t, strings.NewReader(rows(1, func(int) bool { return true })), &fakeLoader{},
		&Rejects{path: path, force: true, file: file, out: bufio.NewWriter(fullDisk{})})
	if _, err := m.Report(m.Run(t.Context()), 0); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if text := must.Get(os.ReadFile(path))(t); string(text) != "earlier" {
		t.Errorf("the file has %q", text)
	}
	if found := must.Get(os.ReadDir(filepath.Dir(path)))(t); len(found) != 1 {
		t.Errorf("the folder has %v", found)
	}
}

// Rejected rows are in a file that exists only if there are any. It never replaces the imported
// file, and another file only by force.
func TestRejects(t *testing.T) {
	folder := t.TempDir()
	input, path := filepath.Join(folder, "in.csv"), filepath.Join(folder, "rejects.tsv")
	write := func(name, text string) {
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write(input, rows(25, func(i int) bool { return i == 2 }))
	open := func() *Input {
		return must.Get(Open(t.Context(), input, reviewfile.Options{}, nil))(t)
	}
	in := open()
	if _, err := NewRejects(output.Standard, true, in); !errors.Is(err, ErrRejectsOnStandardOutput) {
		t.Error(err)
	}
	if _, err := NewRejects(filepath.Join(folder, ".", "in.csv"), true, in); !errors.Is(err, ErrRejectsIsInput) {
		t.Error(err)
	}
	run := func(in *Input, force bool) (string, error) {
		rejects, err := NewRejects(path, force, in)
		if err != nil {
			return "", err
		}
		m := newImport(t, strings.NewReader(""), &fakeLoader{}, rejects)
		m.Input = in
		return m.Report(m.Run(t.Context()), 0)
	}
	said, err := run(in, false)
	if err != nil || !strings.HasSuffix(said, "The rejected rows, with line and reason, are in "+path) {
		t.Errorf("%s %v", said, err)
	}
	raw, err := os.ReadFile(path)
	if cells := strings.Split(string(raw), "\t"); err != nil || len(cells) != 3 || cells[0] != "4" || cells[2] != "r2,cup,9,en,good,2015-08-20\n" {
		t.Errorf("%q, %v", raw, err)
	}
	if _, err := run(open(), false); err != nil {
		t.Errorf("the same rejected rows again: %v", err)
	}
	var exists *RejectsExistError
	for why, other := range map[string]string{"others": "4\tbad\trow\n", "the same but for a letter": strings.Replace(string(raw), "good", "gone", 1), "more": string(raw) + "5\tbad\trow\n", "none": ""} {
		write(path, other)
		if _, err := run(open(), false); !errors.As(err, &exists) {
			t.Errorf("%s are there: %v", why, err)
		}
		rejects := must.Get(NewRejects(path, false, in))(t)
		if _, err := Rehearse(t.Context(), open(), rejects, output.NewProgress(io.Discard, -1, "rows")); !errors.As(err, &exists) {
			t.Errorf("%s are there, in a rehearsal: %v", why, err)
		}
	}
	if _, err := run(open(), true); err != nil {
		t.Error(err)
	}
	must.Do(t, os.Remove(path))
	write(input, rows(3, none))
	if _, err := run(open(), false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("there is a file of no rejected rows")
	}
}

// A dry run prints the first rejected rows, shows all rows in its preview, and writes nothing.
func TestDryRun(t *testing.T) {
	var said bytes.Buffer
	m := newImport(t, strings.NewReader(rows(25, func(i int) bool { return i < 12 })+"r20,cup,5,en,good,2015-08-20\n"), DryRunLoader(), PrintRejects(&said))
	m.DryRun, m.Preview = true, m.Input.Preview()
	summary := must.Get(m.Report(m.Run(t.Context()), 0))(t)
	want := "26 rows = 13 that an empty table would take + 1 repeated in the file + 12 rejected\nThis was a dry run: no table was asked, and nothing was written"
	check.Equal(t, want, untimed(summary))
	if lines := strings.Split(strings.TrimSpace(said.String()), "\n"); len(lines) != maxPrinted || !strings.HasPrefix(lines[0], "line 2: ") {
		t.Errorf("it says %s", &said)
	}
	if m.Preview.Rows != 14 || m.Preview.Repeated != 1 || m.Preview.Rejected != 12 {
		t.Errorf("the preview has %d rows, %d of them repeated, and %d rejected ones, want 14, 1 and 12", m.Preview.Rows, m.Preview.Repeated, m.Preview.Rejected)
	}

	m = newImport(t, strings.NewReader(rows(3, none)), DryRunLoader(), PrintRejects(io.Discard))
	m.DryRun = true
	if _, err := m.Report(errors.Join(m.Run(t.Context()), errors.New("the disk is full")), 0); err == nil || strings.Contains(err.Error(), "in the table") {
		t.Errorf("a dry run whose preview cannot be printed: %v", err)
	}

	m = newImport(t, strings.NewReader(rows(3, none)), DryRunLoader(), PrintRejects(io.Discard))
	m.DryRun = true
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Report(m.Run(stopped), 0); err == nil || !strings.HasSuffix(err.Error(), "nothing was written\nRun it again") {
		t.Errorf("an interrupted dry run, which has nothing to continue: %v", err)
	}
}
