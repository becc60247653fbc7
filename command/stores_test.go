package command_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/postgrestest"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/internal/s3test"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/pageindex/redis"
)

// place is a store of page numbers.
type place struct {
	target string // for --pages
	// variables are what a process has in its environment to reach the store: tests beside this one
	// have others.
	variables []string
}

var inTable = place{target: "table"}

// environ is the environment of a process that keeps page numbers in the place.
func (p place) environ() []string {
	return append(append(os.Environ(), p.variables...), "TALKBACK_PAGES="+p.target)
}

// fedStores are the kinds of stores that the stream feeds. Each returns an empty one.
var fedStores = map[string]func(t *testing.T) place{
	"markers":  func(*testing.T) place { return place{target: "markers"} },
	"redis":    func(t *testing.T) place { return place{target: redistest.Start(t).URL()} },
	"postgres": func(t *testing.T) place { return place{target: postgrestest.Durable(t).Database(t)} },
	"sqlite":   func(t *testing.T) place { return place{target: "sqlite:" + filepath.Join(t.TempDir(), "pages.db")} },
	"files":    func(t *testing.T) place { return place{target: "files:" + filepath.Join(t.TempDir(), "pages")} },
	"s3": func(t *testing.T) place {
		server := s3test.Start(t)
		return place{"s3://" + s3test.Bucket + "/pages", server.Environ()}
	},
}

// Processes that count and feed a store are killed in the midst of it. In the end each comment is
// at its number, in every store.
func TestFeedersAreKilled(t *testing.T) {
	t.Parallel()
	for name, empty := range fedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMassacre(t, 1, empty(t))
			m.untilNumbered() // so that kills also strike while the store is fed, not only during its build
			m.run(commenttest.Times(2, 75))
		})
	}
}

// storesComplete reports whether the table records each known store as complete.
func (a *api) storesComplete() bool {
	a.tb.Helper()
	registry := must.Get(keeper.NewTableRegistry(a.session.Client, a.session.Table).Registry(context.Background()))(a.tb)
	state := must.Get(leases.NewLeases(a.session.Client, a.session.Table).State(context.Background()))(a.tb)
	for name, s := range registry.Stores {
		if !s.StatusOf(name, state).Complete {
			return false
		}
	}
	return len(registry.Stores) > 0
}

// untilNumbered waits until the store is complete.
func (m *massacre) untilNumbered() {
	m.t.Helper()
	if m.pages.target != inTable.target {
		must.Wait(m.t, "the store is complete", m.storesComplete)
	}
}

// checkPages looks up every comment.
func (m *massacre) checkPages() {
	m.t.Helper()
	if status, said := m.runs(m.pages, "verify", "--pages"); status != 0 || !strings.Contains(said, "no drift") {
		m.t.Errorf("status %d: %s", status, said)
	}
}

// talkback runs a command on the table.
func (a *api) talkback(arguments ...string) (status int, stdout, stderr string) {
	return talkback(a.tb.Context(), append(arguments, "--endpoint", a.session.Address, "--table", a.session.Table)...)
}

// runs runs a command on the table in a process of its own, with page numbers in a place, or as by
// default for "".
func (a *api) runs(pages place, arguments ...string) (status int, said string) {
	a.tb.Helper()
	process := exec.Command(binary(a.tb), append(arguments, "--endpoint", a.session.Address, "--table", a.session.Table)...)
	if pages.target != "" {
		process.Env = pages.environ()
	}
	text, _ := process.CombinedOutput() // its status says how it ended
	return process.ProcessState.ExitCode(), string(text)
}

// A server starts and stays up whatever happens to its store, and goes on counting. An answer is
// right, or an error that says what to do; in the end there are answers.
func TestStoreInTrouble(t *testing.T) {
	t.Parallel()
	store := redistest.Start(t)
	store.Stop(t)
	a := newAPI(t, dynamotest.Dynoxide(t))
	n := &numberedServer{api: a, t: t, url: serveTable(t, a, "--pages", store.URL()).address}
	if status, body := probe(n.url + "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d, %s", status, body)
	}
	n.add(300)
	if n.answers() {
		t.Error("without its store there is an answer")
	}
	store.Restart(t)
	n.untilAnswers()
	store.Must(t, "FLUSHALL")
	n.untilAnswers()
	store.Stop(t)
	n.add(5)
	store.Restart(t)
	n.untilAnswers()
	n.takeOver(store.URL())
	n.untilAnswers()
	store.Pause(t)
	n.add(5)
	store.Resume(t)
	n.untilAnswers()
	if status, said, _ := a.talkback("verify", "--pages", store.URL()); status != 0 {
		t.Error(said)
	}
	// A password is told to nobody.
	_, said := a.runs(place{target: strings.Replace(store.URL(), "//", "//:secret@", 1)}, "stream", "--status") // its status follows from its output
	if strings.Contains(said, "secret") || !strings.Contains(said, "Page numbers in "+store.URL()) {
		t.Errorf("%s", said)
	}
}

// numberedServer is a server whose page numbers are kept in a store.
type numberedServer struct {
	*api
	t     *testing.T
	url   string
	total int // number of counted comments
}

// add adds comments to a product and waits until they are counted.
func (n *numberedServer) add(comments int) {
	n.t.Helper()
	n.load(commenttest.Many(commenttest.Rand(n.t), "vase", comments)...)
	n.total += comments
	n.drained(time.Now())
}

// answers asks for a page in the middle of the product, and reports whether there was one. If so,
// it must be right. The same page must be there by a cursor in any case.
func (n *numberedServer) answers() bool {
	n.t.Helper()
	const asked = `{ product(id: "vase") { a: comments(first: 1) { nodes { id } } b: comments(first: 50, page: 4) { nodes { id } pageCount } } }`
	var answer struct {
		Data struct {
			Product struct {
				A *struct{ Nodes []struct{ ID string } }
				B *struct {
					Nodes     []struct{ ID string }
					PageCount *int
				}
			}
		}
		Errors []struct {
			Message    string
			Extensions struct{ Code string }
		}
	}
	must.Do(n.t, json.Unmarshal([]byte(post(n.t, n.url, operation(asked, nil)).body), &answer))
	if answer.Data.Product.A == nil || len(answer.Data.Product.A.Nodes) != 1 {
		n.t.Errorf("no page by cursor: %+v", answer)
	}
	for _, e := range answer.Errors {
		if e.Extensions.Code != "UNAVAILABLE" || !strings.Contains(e.Message, "use cursors meanwhile") {
			n.t.Errorf("%+v", e)
		}
	}
	b := answer.Data.Product.B
	if b == nil || len(answer.Errors) > 0 {
		return false
	}
	if pages := (n.total + 49) / 50; len(b.Nodes) != 50 || b.PageCount == nil || *b.PageCount != pages {
		n.t.Errorf("%d comments on the page, of %v pages; want 50 of %d", len(b.Nodes), b.PageCount, pages)
	}
	return true
}

// untilAnswers waits until a complete store answers.
func (n *numberedServer) untilAnswers() {
	n.t.Helper()
	must.Wait(n.t, "the server has page numbers", func() bool { return n.answers() && n.storesComplete() })
}

// takeOver assigns the store to another table.
func (n *numberedServer) takeOver(target string) {
	n.t.Helper()
	other := must.Get(redis.Open(n.t.Context(), target, n.session.Table))(n.t)
	defer other.Close()
	b := must.Get(other.Build(n.t.Context()))(n.t)
	must.Do(n.t, b.Finish(n.t.Context(), "ANOTHER/1/1"))
}

// Commands name the cure of what a store has: that it has to be built, is damaged, or does not
// answer. People get no request ids of S3.
func TestVerifyOfAStoreInTrouble(t *testing.T) {
	t.Parallel()
	store, bucket, a := redistest.Start(t), s3test.Start(t), newAPI(t, dynamotest.Dynoxide(t))
	a.load(commenttest.Random(commenttest.Rand(t), "kettle"))
	redis, s3 := place{target: store.URL()}, place{"s3://" + s3test.Bucket + "/pages", bucket.Environ()}
	const build, start = "A process that counts builds it, or talkback rebuild --pages", "see that the database of --pages answers"
	check := func(at place, want int, cure, other string, command ...string) {
		t.Helper()
		status, said := a.runs(at, command...)
		if said = strings.Join(strings.Fields(said), " "); status != want || !strings.Contains(said, cure) || strings.Contains(said, other) {
			t.Errorf("status %d: %s; want %q", status, said, cure)
		}
	}
	check(redis, 1, build, start, "verify", "--pages")
	store.Stop(t)
	check(redis, 1, start, build, "verify", "--pages")
	check(s3, 0, "are right", start, "rebuild")
	check(s3, 0, "are complete", start, "rebuild", "--pages")
	must.Do(t, os.RemoveAll(bucket.Path("pages/chunks")))
	check(s3, 1, "are damaged: a server builds it anew, or talkback rebuild --pages: a file of the page index is damaged: there is no such object", start, "verify", "--pages")
	must.Do(t, os.RemoveAll(bucket.Path("")))
	check(s3, 0, "see that the bucket exists, and that this process may list, read, write and delete its objects: S3 refused GetObject: NoSuchBucket)", "none", "stream", "--status")
}

// Commands that report how far a store is also work beside the server that has it open: the table
// knows. A product whose comments are in the store but not in the table is a drift.
func TestStatusOfAStoreInUse(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	ghost := pageindex.Entry{Product: "ghost", Position: commenttest.Moment(1).Position, Cell: &comment.Cell{Language: "de", Rating: 5}, Follows: "1"}
	folder := t.TempDir()
	files, sqlite := "files:"+filepath.Join(folder, "pages"), "sqlite:"+filepath.Join(folder, "pages.db")
	for _, target := range []string{files, sqlite} {
		if status, said, wrong := a.talkback("rebuild", "--pages", target); status != 0 {
			t.Fatal(said, wrong)
		}
		kind := must.Get(keeper.Parse(target, keeper.Kinds()))(t)
		server := keeper.NewLazy(kind, a.session.Table)
		store := must.Get(server.Opened(t.Context()))(t)
		for _, row := range [][]string{{"stream", "--status"}, {"doctor"}} {
			_, said, wrong := a.talkback(append(row, "--pages", target)...)
			if said = strings.Join(strings.Fields(said), " "); !strings.Contains(said, target+": complete, as far as the table knows; the process that uses the store asks it") {
				t.Errorf("%v: %s%s", row, said, wrong)
			}
		}
		must.Do(t, errors.Join(store.Apply(t.Context(), []pageindex.Entry{ghost}), server.Close()))
	}
	status, said, wrong := a.talkback("verify", "--pages", sqlite)
	if status != 1 || !strings.Contains(said, "ghost: wrong page index: by rating, the index has [0 0 0 0 1] comments instead of [0 0 0 0 0]") {
		t.Errorf("status %d: %s%s", status, said, wrong)
	}
}

// A command without the setting of the servers' store neither misses an index in the table nor
// makes one. rebuild and verify handle page numbers alone if --pages is on the command line, with
// or without a value; the variable does not restrict them.
func TestPagesAreInAnotherStore(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	a.load(commenttest.Many(commenttest.Rand(t), "kettle", 300)...)
	file := "sqlite:" + filepath.Join(t.TempDir(), "pages.db")
	for _, row := range []struct {
		why, variable string
		arguments     []string
		status        int
		want          string
	}{
		{"counted by a process with the store", file, []string{"rebuild"}, 0, "The statistics of 1 product are right"},
		{"the store is built, whatever the variable names", "none", []string{"rebuild", "--pages=" + file, "--calls", "1"}, 0, "The page numbers in " + file + " are complete"},
		{"the store alone", file, []string{"verify", "--pages", "--calls", "1"}, 0, "looked up in"},
		{"counts, also with a store", file, []string{"verify"}, 0, "counted in"},
		{"the store is left out", "", []string{"verify"}, 0, "TALKBACK_PAGES\" store=" + file},
		{"no index is made in the table", "", []string{"rebuild"}, 2, "set TALKBACK_PAGES to that store, or to table"},
		{"the table is named", "table", []string{"verify"}, 1, "the product has 300 comments, but no page index"},
		{"the table is named", "", []string{"verify", "--pages", "table"}, 1, "has no page numbers yet"},
		{"the table is named, to move there", "table", []string{"rebuild"}, 0, "The statistics of 1 product are right"},
		{"the table alone is built with its counts", "", []string{"rebuild", "--pages"}, 0, "The statistics of 1 product are right"},
		{"the table alone", "", []string{"verify", "--pages"}, 0, "looked up in"},
		{"the store is not complete any more", "", []string{"verify"}, 0, "no drift"},
	} {
		status, said := a.runs(place{target: row.variable}, row.arguments...)
		if said = strings.Join(strings.Fields(said), " "); status != row.status || !strings.Contains(said, row.want) {
			t.Errorf("%s: status %d, %s; want status %d, %s", row.why, status, said, row.status, row.want)
		}
	}
}

// A table whose folder is replaced by an older copy no longer fits its store. verify, doctor and
// stream --status say so, each with the store configured, and a server rebuilds it.
func TestFolderIsPutBack(t *testing.T) {
	t.Parallel()
	program := binary(t)
	home := t.TempDir()
	folder, copied := filepath.Join(home, "data"), filepath.Join(home, "copy")
	pages := "TALKBACK_PAGES=sqlite:" + filepath.Join(home, "pages.db")
	run := func(arguments ...string) string {
		t.Helper()
		process := exec.Command(program, append(arguments, "--data", folder, "--engine", dynamotest.DynoxideBinary(t))...)
		process.Env = append(os.Environ(), pages)
		said, _ := process.CombinedOutput() // the status follows from its output
		return string(said)
	}
	serve := func(lines, want int) {
		t.Helper()
		s := startServerWith(t, []string{pages}, "--data", folder)
		file := filepath.Join(home, fmt.Sprintf("%d.jsonl", lines))
		var text []byte
		for i := range lines {
			text = fmt.Appendf(text, `{"id": "%d-%d", "product": "vase", "rating": 5, "language": "de", "text": "x", "author": "u", "createdAt": "2024-05-01T08:%02d:%02dZ"}`+"\n", lines, i, i/60, i%60)
		}
		writeFile(t, file, string(text))
		if lines > 0 {
			run("import", "--no-count", file)
		}
		must.Wait(t, "the store is complete", func() bool {
			answer := s.ask(`{ product(id: "vase") { comments(first: 5, page: 30) { totalCount pageCount } } }`)
			return strings.Contains(answer, fmt.Sprintf(`"totalCount":%d`, want)) && !strings.Contains(answer, "errors")
		})
		s.signal(os.Interrupt)
		s.wait()
	}
	serve(300, 300)
	must.Do(t, os.CopyFS(copied, os.DirFS(folder)))
	serve(30, 330)
	if said := run("verify"); strings.Count(said, "no drift") != 2 {
		t.Errorf("before: %s", said)
	}
	must.Do(t, errors.Join(os.RemoveAll(folder), os.Rename(copied, folder)))
	for _, row := range [][]string{{"verify"}, {"doctor"}, {"stream", "--status"}} {
		if said := run(row...); !strings.Contains(said, "put back to an earlier state") {
			t.Errorf("%v: %s", row, said)
		}
	}
	serve(0, 300)
	if said := run("verify"); strings.Count(said, "no drift") != 2 {
		t.Errorf("afterwards: %s", said)
	}
}
