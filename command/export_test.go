package command_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
)

// exporter runs commands on a table of its own.
type exporter struct {
	t        *testing.T
	endpoint string
	table    string
	in       io.Reader // standard input; nil for none
	out      io.Writer // standard output; nil for what run returns
}

func newExporter(t *testing.T, endpoint string) *exporter {
	t.Helper()
	return &exporter{t: t, endpoint: endpoint, table: newSession(t, endpoint).Table}
}

// arguments returns a command line for this table.
func (e *exporter) arguments(name string, more ...string) []string {
	return append([]string{name, "--endpoint", e.endpoint, "--table", e.table}, more...)
}

// run returns the exit status and the output.
func (e *exporter) run(ctx context.Context, name string, arguments ...string) (status int, out, said string) {
	e.t.Helper()
	var stdout, stderr bytes.Buffer
	status = command.Main(ctx, e.arguments(name, arguments...), command.Terminal{
		In: cmp.Or[io.Reader](e.in, strings.NewReader("")), Out: cmp.Or[io.Writer](e.out, &stdout), Err: &stderr, Logger: slog.New(slog.DiscardHandler),
	})
	return status, stdout.String(), stderr.String()
}

// must runs a command that has to succeed, and returns its output.
func (e *exporter) must(name string, arguments ...string) string {
	e.t.Helper()
	status, _, said := e.run(e.t.Context(), name, arguments...)
	if status != 0 {
		e.t.Fatalf("%s %v: status %d, %s", name, arguments, status, said)
	}
	return said
}

// fill puts comments into the table.
func (e *exporter) fill(comments []comment.Comment) {
	e.t.Helper()
	must.Get(dynamo.NewLoader(call.NewLocalClient(e.endpoint), e.table, 0).Load(e.t.Context(), comments))(e.t)
}

// items returns all attributes of all comments in the table, by key. It leaves out the mark by
// which an edit recognizes its own lost answer. The mark says nothing about the comment and is
// useless after an hour.
func (e *exporter) items() map[string]string {
	e.t.Helper()
	out := map[string]string{}
	for _, it := range dynamotest.Scan(e.t, call.NewLocalClient(e.endpoint), e.table) {
		delete(it, "m")
		if key := text(it, "PK"); strings.HasPrefix(key, "C#") {
			out[key] = string(must.Get(json.Marshal(dynamotest.JSON(it)))(e.t)) // names are sorted
		}
	}
	return out
}

// nasty returns comments of two products that are hard to write down and read back.
func nasty(r *rand.Rand, count int) []comment.Comment {
	out := make([]comment.Comment, count)
	for i := range out {
		out[i] = commenttest.Nasty(r, []string{"p", "p/en \"5\""}[i%2])
	}
	return out
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Clean(path)))(t))
}

// sortedLines returns the lines of a file, sorted.
func sortedLines(text string) []string {
	return slices.Sorted(strings.Lines(text))
}

// A table that is exported and imported elsewhere is the same, attribute by attribute, whatever its
// texts hold. A second import changes nothing, and an export of the copy gives the same lines.
func TestExportAndImport(t *testing.T) {
	t.Parallel()
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		from, to := newExporter(t, endpoint), newExporter(t, endpoint)
		count := timesOn(t, 350, 150, 700)
		comments := nasty(commenttest.Rand(t), count)
		comments = append(comments, commenttest.Large(rand.New(rand.NewPCG(1, 1)), "large", comment.MaxTextBytes))
		comments[count].Text = strings.Repeat(`"`, comment.MaxTextBytes) // two bytes each, as JSON
		for i := range 50 {
			comments[i].Text = strings.Repeat(comments[i].Text+" It boils fast, and it is quiet. ", 3+i%7)
		}
		from.fill(comments)
		if plain, compressed := formsOf(from.items()); plain < count/3 || compressed < 40 {
			t.Errorf("%d texts are stored as they are, %d compressed: this proves little", plain, compressed)
		}
		edit(t, from, comments[0])
		file := filepath.Join(t.TempDir(), "all.jsonl")
		// An export that takes long also tells how far it is. Standard output has lines of comments only.
		wanted := func(said, place string) {
			t.Helper()
			if !regexp.MustCompile(`^(\d+ comments, [\d,]+ comments/s\n)*` + strconv.Itoa(count+1) + ` comments written to ` + regexp.QuoteMeta(place) + ` in [0-9.]+ s \([0-9,]+ comments/s\)\n$`).MatchString(said) {
				t.Errorf("it said %s", said)
			}
		}
		wanted(from.must("export", file), file)
		to.must("import", file, "--restore")
		check.Equal(t, from.items(), to.items())
		var again bytes.Buffer
		to.out = &again
		to.must("import", file, "--restore")
		if want := fmt.Sprintf("%[1]d rows = 0 written + %[1]d already there", count+1); !strings.HasPrefix(again.String(), want) {
			t.Errorf("the second import says %s, want %s", again.String(), want)
		}
		again.Reset()
		wanted(to.must("export", "-", "--calls", "1"), "standard output")
		check.Equal(t, sortedLines(readFile(t, file)), sortedLines(again.String()))
	})
}

// A complete copy restores comments in all states attribute by attribute, with their places in the
// queue. A public copy leaves out comments that are not approved and data for moderators, and says
// how many comments it lacks. An export of one product does the same.
func TestExportOfAllStates(t *testing.T) {
	t.Parallel()
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		from, to := newExporter(t, endpoint), newExporter(t, endpoint)
		r, lines := commenttest.Rand(t), map[string][]string{}
		comments, hidden := nasty(r, 300), 0
		for i := range comments {
			comments[i] = commenttest.Moderated(r, comments[i])
			c := comments[i]
			lines["--all"] = append(lines["--all"], lineOf(t, c, reviewfile.Append))
			if c.ProductID == "p" {
				lines["--all --product=p"] = append(lines["--all --product=p"], lineOf(t, c, reviewfile.AppendPartial))
			}
			if c.Status != comment.Approved {
				hidden++
				continue
			}
			c.Moderation = nil
			lines[""] = append(lines[""], lineOf(t, c, reviewfile.AppendPartial))
			if c.ProductID == "p" {
				lines["--product=p"] = append(lines["--product=p"], lineOf(t, c, reviewfile.AppendPartial))
			}
		}
		from.fill(comments)
		file := filepath.Join(t.TempDir(), "all.jsonl")
		for arguments, want := range lines {
			said := from.must("export", append(strings.Fields(arguments), "--force", file)...)
			slices.Sort(want)
			check.Equal(t, want, sortedLines(readFile(t, file)), "export", arguments)
			if told := strings.Contains(said, fmt.Sprintf("%d comments are not approved", hidden)); told != (arguments == "") {
				t.Errorf("export %s, with %d left out: %s", arguments, hidden, said)
			}
		}
		from.must("export", "--all", "--force", file)
		to.must("import", file, "--restore", "--no-count")
		check.Equal(t, from.items(), to.items())
	})
}

// lineOf returns the line of a comment in an export.
func lineOf(t *testing.T, c comment.Comment, form func([]byte, comment.Comment) ([]byte, error)) string {
	t.Helper()
	return string(must.Get(form(nil, c))(t))
}

// formsOf returns how many texts are stored uncompressed, and how many compressed.
func formsOf(items map[string]string) (plain, compressed int) {
	for _, it := range items {
		if strings.Contains(it, `"t":{"B":`) {
			compressed++
		} else {
			plain++
		}
	}
	return plain, compressed
}

// edit edits a comment of the table.
func edit(t *testing.T, e *exporter, c comment.Comment) {
	t.Helper()
	after := c
	after.Version, after.Text = c.Version+1, c.Text+" "
	store := dynamo.NewStore(call.NewLocalClient(e.endpoint), e.table, dynamo.Options{})
	must.Do(t, store.Replace(t.Context(), c, after))
}

// A compressed file says so by its name or by the flag, and import reads it. A feed is never empty.
func TestExportForms(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.fill(nasty(rand.New(rand.NewPCG(3, 3)), 10))
	folder := t.TempDir()
	for _, arguments := range [][]string{{"a.jsonl.GZ"}, {"b.jsonl", "--gzip"}} {
		file := filepath.Join(folder, arguments[0])
		e.must("export", append([]string{file}, arguments[1:]...)...)
		unpacked := must.Get(gzip.NewReader(strings.NewReader(readFile(t, file))))(t)
		if text, err := io.ReadAll(unpacked); err != nil || bytes.Count(text, []byte("\n")) != 10 {
			t.Errorf("%v: %v %s", arguments, err, text)
		}
		to := newExporter(t, e.endpoint)
		to.must("import", file, "--restore")
		check.Equal(t, e.items(), to.items())
	}
	feed := []string{filepath.Join(folder, "c.xml"), "--format=google-product-reviews", "--publisher=Shop", "--product-url=https://shop.example/{id}"}
	e.must("export", feed...)
	const none = "talkback: no approved comment in the table has a text, and a feed needs a review: look whether this is the table of the shop\n"
	if status, _, said := newExporter(t, e.endpoint).run(t.Context(), "export", append(feed, "--force")...); status != 1 || said != none {
		t.Errorf("status %d, %s", status, said)
	}
	if text := readFile(t, feed[0]); strings.Count(text, "<review>") != 10 {
		t.Errorf("the feed was replaced by one of an empty table: %s", text)
	}
}

// checkFiles checks that a folder holds nothing else.
func checkFiles(t *testing.T, folder string, want ...string) {
	t.Helper()
	entries := must.Get(os.ReadDir(folder))(t)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	check.Equal(t, want, got)
}

// A full disk and a reader that went away give one sentence each.
func TestExportToWhatTakesNothing(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.fill(nasty(rand.New(rand.NewPCG(5, 5)), 20))
	if _, err := os.Stat("/dev/full"); err == nil {
		const want = "talkback: /dev/full cannot be written (no space left on device): make room, or name a file on another disk\n"
		if status, _, said := e.run(t.Context(), "export", "/dev/full"); status != 1 || said != want {
			t.Errorf("status %d, %q", status, said)
		}
	}
	program := binary(t)
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil { // also for other output than exports
		defer func() { _ = full.Close() }()
		const want = "talkback: standard output cannot be written (no space left on device): make room, or name a file on another disk\n"
		for _, line := range [][]string{{"completion", "bash"}, {"--help"}, {"export", "--help"}, {"--version"}} {
			var said strings.Builder
			if status := command.Main(t.Context(), line, command.Terminal{Out: full, Err: &said}); status != 1 || said.String() != want {
				t.Errorf("%v: status %d, %q", line, status, said.String())
			}
		}
	}
	read, write, err := os.Pipe()
	must.Do(t, err)
	_ = read.Close() // nobody reads
	process := exec.Command(program, e.arguments("export", "-")...)
	var said bytes.Buffer
	process.Stdout, process.Stderr = write, &said
	err = process.Run()
	if process.ProcessState.ExitCode() != 1 || said.String() != "talkback: the reader of standard output closed it: the output is incomplete\n" {
		t.Errorf("%v: %s", err, said.String())
	}
}

// gate is an engine that stops answering an operation after some calls of it, and then closes shut.
type gate struct {
	*httptest.Server
	shut chan struct{} // closed when the first call waits
	open chan struct{} // close it to let them pass
}

func newGate(t *testing.T, endpoint, operation string, pass int32) *gate {
	t.Helper()
	target := must.Get(url.Parse(endpoint))(t)
	g := &gate{shut: make(chan struct{}), open: make(chan struct{})}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // a killed client no longer waits
	var calls atomic.Int32
	var once sync.Once
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), "."+operation) && calls.Add(1) > pass {
			once.Do(func() { close(g.shut) })
			<-g.open
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(g.open); g.Close() })
	return g
}

// An interrupted export does not wait for a table that does not answer, or for a reader that does
// not read. It ends with one sentence and leaves no file behind.
func TestExportInterrupted(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	e := newExporter(t, endpoint)
	e.fill(nasty(rand.New(rand.NewPCG(6, 6)), 400))
	folder := t.TempDir()
	file := filepath.Join(folder, "out.jsonl")

	g := newGate(t, endpoint, "Scan", 2)
	e.endpoint = g.URL
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-g.shut; cancel() }()
	want := "talkback: the export was interrupted: " + file + " was not written; run it again\n"
	if status, _, said := e.run(ctx, "export", file); status != 1 || said != want {
		t.Errorf("status %d, %s", status, said)
	}
	checkFiles(t, folder)

	e.endpoint = endpoint
	read, write := io.Pipe()
	defer read.Close()
	e.out = write
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		_, _ = read.Read(make([]byte, 1)) // and no more
		cancel()
	}()
	want = "talkback: the export was interrupted: the output is incomplete; run it again\n"
	if status, _, said := e.run(ctx, "export", "-"); status != 1 || said != want {
		t.Errorf("status %d, %s", status, said)
	}
}

// The list of imports shows how far a killed one came, up to its current chunk.
func TestKilledImportIsListed(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	file := filepath.Join(t.TempDir(), "cups.csv")
	const chunk = call.MaxKeysPerGet * dynamo.DefaultLoadCalls
	var rows strings.Builder
	rows.WriteString("id,product,rating,language,text,createdAt\n")
	for n := range 3 * chunk {
		fmt.Fprintf(&rows, "r%d,cup,5,en,Holds water.,2015-08-20\n", n)
	}
	writeFile(t, file, rows.String())
	kill(t, e, "PutItem", chunk+10, "import", file, "--calls", "1", "--no-count", "--yes")
	if said := e.says("import", "--list"); !strings.Contains(said, output.English.Sprint(chunk)+"  0        running, or killed") {
		t.Error(said)
	}
}

// kill runs a command in its own process and kills it while it waits for an answer. The engine
// answers exactly pass calls of the operation.
func kill(t *testing.T, e *exporter, operation string, pass int32, name string, arguments ...string) {
	t.Helper()
	program := binary(t)
	g := newGate(t, e.endpoint, operation, pass)
	there := *e
	there.endpoint = g.URL
	process := exec.Command(program, there.arguments(name, arguments...)...)
	var said bytes.Buffer
	process.Stderr = &said
	must.Do(t, process.Start())
	ended := make(chan struct{})
	go func() { _ = process.Wait(); close(ended) }()
	select {
	case <-g.shut:
	case <-ended:
		t.Fatalf("%s ended before it was killed: %s", name, said.String())
	}
	_ = process.Process.Kill() // it waits at the gate
	<-ended
}
