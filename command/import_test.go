package command_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/output"
)

// importing runs talkback import on a table of its own, which the first import makes.
type importing struct{ *exporter }

func newImporter(t *testing.T, endpoint string) *importing {
	return &importing{&exporter{t: t, endpoint: endpoint, table: dynamotest.TableName(t)}}
}

var duration = regexp.MustCompile(`in [0-9.]+ s \([0-9,]+ rows?/s\)(, all counted after another [0-9.]+ s)?`)

// run returns the exit status and the output, with durations left out.
func (i *importing) run(ctx context.Context, arguments ...string) (status int, out, said string) {
	i.t.Helper()
	status, out, said = i.exporter.run(ctx, "import", append([]string{"--create-table"}, arguments...)...)
	out = out[strings.LastIndex("\n\n"+out, "\n\n"):] // after the report
	return status, duration.ReplaceAllString(out, "in a while"), duration.ReplaceAllString(said, "in a while")
}

// want runs an import that has to succeed.
func (i *importing) want(summary string, arguments ...string) {
	i.t.Helper()
	status, out, said := i.run(i.t.Context(), arguments...)
	if diff := cmp.Diff(summary, out); diff != "" || status != 0 {
		i.t.Errorf("status %d, %s\n%s", status, said, diff)
	}
}

func summary(rows, written, existing, repeated, rejected int) string {
	return fmt.Sprintf("%s = %d written + %d already there + %d repeated in the file + %d rejected, in a while\n",
		output.Count(rows, "row", "rows"), written, existing, repeated, rejected)
}

func write(t *testing.T, name, content string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	writeFile(t, path, content)
	return path
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(content), 0o600))
}

const fewReviews = `id,product,rating,lang,title,text,date
1,cup,5,en,Nice,Good &amp; cheap,2015-08-20
2,cup,4.5,en,,half a star,2015-08-21
1,cup,5,en,Nice,again,2015-08-20
3,cup,1,de,,"zu
klein",2015-08-22 10:11:12
4,cup,2,de,,"too	short"
5,cup,9,de,,"many
stars",2015-08-23
`

func TestImport(t *testing.T) {
	t.Parallel()
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		i := newImporter(t, endpoint)
		file := write(t, "reviews.csv", fewReviews)
		rejects := file + ".rejects.tsv"
		where := "The rejected rows, with line and reason, are in " + rejects + "\n"
		i.want(summary(6, 2, 0, 1, 3)+where, file)
		i.want(summary(6, 0, 2, 1, 3)+where, file)
		writeFile(t, rejects, "3\tmended by hand\n")
		if status, out, said := i.run(t.Context(), file); status != 3 || out != "" || !strings.Contains(said, "nothing was imported: the rejected rows would go to") {
			t.Errorf("status %d, %s%s", status, out, said)
		}
		i.want(summary(6, 0, 2, 1, 3)+where, file, "--force")

		got, err := os.ReadFile(rejects)
		want := "3\tthe rating \"4.5\" is not a whole number of stars from 1 to 5\t2,cup,4.5,en,,half a star,2015-08-21\n" +
			"7\tthe row has 6 columns; the header has 7: it was cut off, or a spreadsheet left out empty cells at its end; add a column after the last there, with a value in each row, and save it again\t4,cup,2,de,,\"too\\tshort\"\n" +
			"8\tthe rating \"9\" is not a whole number of stars from 1 to 5\t5,cup,9,de,,\"many\\nstars\",2015-08-23\n"
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("rejects: %v %s", err, diff)
		}

		a := newAPIOf(t, endpoint, i.table)
		p := a.page(list{product: "cup", order: "NEWEST_FIRST", size: 10}.variables(false, nil))
		var texts []string
		for _, e := range p.Edges {
			texts = append(texts, fmt.Sprintf("%s %d %s", e.Node.CreatedAt.Format("2006-01-02 15:04:05"), e.Node.Rating, e.Node.Text))
		}
		check.Equal(t, []string{"2015-08-22 10:11:12 1 zu\nklein", "2015-08-20 00:00:00 5 Good & cheap"}, texts)
	})
}

// A deleted comment stays deleted when its file or an export is imported again, unless --revive is
// given. A comment with a language tag that is no longer accepted comes back unchanged, and its
// language's list has it.
func TestImportOfDeletedComments(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	i := newImporter(t, endpoint)
	const old = `{"talkback":1,"id":"c_01HZ0000000000000000000000","product":"cup","rating":5,"language":"und-biske-1994-gb","title":null,"text":"Old.","author":"7","authorName":"Ada","createdAt":"2024-05-28T16:19:36.576Z","updatedAt":null,"version":1}`
	file, export := write(t, "reviews.csv", fewReviews), write(t, "export.jsonl", old)
	where := "The rejected rows, with line and reason, are in " + file + ".rejects.tsv\n"
	i.want(summary(6, 2, 0, 1, 3)+where, file)
	i.want(summary(1, 1, 0, 0, 0), export, "--restore")

	a := newAPIOf(t, endpoint, i.table)
	all := list{product: "cup", order: "NEWEST_FIRST", size: 10}
	odd := all
	odd.filter.Languages = []comment.Language{"und-biske-1994-gb"}
	if got := a.page(odd.variables(false, nil)).Edges; len(got) != 1 || got[0].Node.Language != "und-biske-1994-gb" {
		t.Errorf("by the restored tag: %+v", got)
	}
	for _, e := range a.page(all.variables(false, nil)).Edges {
		if got := a.remove(map[string]any{"id": e.Node.ID}); got.codes() != "" {
			t.Fatal(got.codes())
		}
	}
	const advice = "Deleted comments stay deleted; --revive writes them again\n"
	i.want("6 rows = 0 written + 0 already there + 2 deleted before + 1 repeated in the file + 3 rejected, in a while\n"+advice+where, file, "--force")
	i.want("1 row = 0 written + 0 already there + 1 deleted before + 0 repeated in the file + 0 rejected, in a while\n"+advice, export, "--restore")
	if got := a.page(all.variables(false, nil)).Edges; len(got) != 0 {
		t.Errorf("they are back: %+v", got)
	}
	i.want(summary(6, 2, 0, 1, 3)+where, file, "--revive", "--force")
	i.want(summary(6, 0, 2, 1, 3)+where, file, "--revive", "--force")
}

// chunk is how many rows an import writes before it takes the next ones.
const chunk = 1600

// manyReviews returns JSON Lines of different reviews, one a row.
func manyReviews(rows int) string {
	var out strings.Builder
	for n := range rows {
		fmt.Fprintf(&out, "{\"asin\":\"B%d\",\"overall\":%d,\"reviewText\":\"text %d\",\"unixReviewTime\":%d}\n", n%7, 1+n%5, n, 1_400_000_000+n)
	}
	return out.String()
}

// An interrupted import ends at once, whether its report waits for input that never comes or it is
// writing, and says what to do.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	defer out.Close()
	i := newImporter(t, "http://127.0.0.1:1")
	i.in = in
	go func() {
		_, _ = io.WriteString(out, manyReviews(chunk-100))
		cancel() // and the pipe stays open
	}()
	if status, _, said := i.run(ctx, "-", "--format", "jsonl", "--language", "en"); status != 1 || said != "talkback: nothing was imported: interrupted. Run it again\n" {
		t.Errorf("its report: status %d: %s", status, said)
	}
	ctx, cancel = context.WithCancel(t.Context())
	g := newGate(t, dynamotest.Dynoxide(t), "PutItem", 10) // of which few are of leases
	go func() { <-g.shut; cancel() }()
	status, _, said := newImporter(t, g.URL).run(ctx, write(t, "reviews.jsonl", manyReviews(chunk)), "--language", "en")
	if status != 1 || !strings.Contains(said, ": interrupted\n") || !strings.Contains(said, "\nRun it again") {
		t.Errorf("it writes: status %d: %s", status, said)
	}
}

// firstComments lets the first comments be written, however often they are sent: a busy engine
// answers late, and the client retries.
type firstComments struct {
	most int
	mu   sync.Mutex
	seen map[string]bool
}

var keyInBody = regexp.MustCompile(`"PK":\{"S":"(C#[^"]+)"`)

// take reports whether all comments of a request may be written.
func (f *firstComments) take(t *testing.T, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range keyInBody.FindAllSubmatch(body, -1) {
		if len(f.seen) == f.most && !f.seen[string(key[1])] {
			return false
		}
		f.seen[string(key[1])] = true
	}
	return true
}

// An engine that refuses writes stops the import, which says where. A second run completes it.
func TestImportStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	target := must.Get(url.Parse(dynamotest.Dynoxide(t)))(t)
	proxy := httputil.NewSingleHostReverseProxy(target)
	first := firstComments{most: chunk + 150, seen: map[string]bool{}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") && !first.take(t, r) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"no more"}`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	i := newImporter(t, front.URL)
	file := write(t, "reviews.jsonl", manyReviews(chunk+400))
	status, _, said := i.run(t.Context(), file, "--language", "en", "--calls", "1", "--no-count")
	if status != 1 || !strings.Contains(said, "stopped after line 1600") || !strings.Contains(said, "the engine refused PutItem: ValidationException") ||
		!strings.Contains(said, "1,750 rows = 1,750 written") || !strings.Contains(said, "Run it again") {
		t.Errorf("status %d: %s", status, said)
	}
	i.endpoint = target.String()
	i.want("2,000 rows = 250 written + 1,750 already there + 0 repeated in the file + 0 rejected, in a while\n", file, "--language", "en", "--no-count")
}

// A truncated file is refused; standard input is imported up to the cut.
func TestImportOfABrokenFile(t *testing.T) {
	t.Parallel()
	i := newImporter(t, dynamotest.Dynoxide(t))
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = io.WriteString(zip, manyReviews(20))
	_ = zip.Flush()
	status, _, said := i.run(t.Context(), write(t, "cut.jsonl.gz", packed.String()), "--language", "en")
	if status != 1 || !strings.Contains(said, "nothing was imported: the file cannot be read beyond line 21: its compressed data is damaged or cut off (unexpected EOF): copy it again, or make it anew") {
		t.Errorf("status %d: %s", status, said)
	}
	i.in = &packed
	status, _, said = i.run(t.Context(), "-", "--language", "en")
	if status != 1 || !strings.Contains(said, "unexpected EOF") || !strings.Contains(said, "20 rows = 20 written") {
		t.Errorf("status %d: %s", status, said)
	}
}
