package command_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/objects"
)

// Page number files are built from an export and hold the place of every comment in lists. They
// cover nothing, since nobody knows what has changed since the export. An unreadable row, or an
// index that a server uses, stops the build.
func TestPagesBuild(t *testing.T) {
	t.Parallel()
	r := commenttest.Rand(t)
	model := commenttest.NewModel()
	var lines []byte
	for range 500 {
		c := commenttest.Random(r, []string{"espresso", "a/b", "ä"}[r.IntN(3)])
		model.Insert(c)
		var err error
		if lines, err = reviewfile.Append(lines, c); err != nil {
			t.Fatal(err)
		}
	}
	export, folder := filepath.Join(t.TempDir(), "all.jsonl.gz"), filepath.Join(t.TempDir(), "pages")
	write := func(text string) {
		t.Helper()
		writeFile(t, export, gzipped(t, text))
	}
	build := func(want int, say string, more ...string) {
		t.Helper()
		status, out, said := talkback(t.Context(), append([]string{"pages", "build", "--from", export, "--to", folder}, more...)...)
		if status != want || !strings.Contains(out+said, say) {
			t.Errorf("status %d: %s%s", status, out, said)
		}
	}
	write(string(lines))
	build(0, "500 comments indexed in "+folder)
	checkIndexed(t, folder, model)
	hidden := commenttest.Random(r, "espresso")
	hidden.Status = comment.Withdrawn
	write(string(must.Get(reviewfile.Append(lines, hidden))(t)))
	build(0, "500 comments indexed")
	checkIndexed(t, folder, model)
	first, _, _ := bytes.Cut(lines, []byte("\n"))
	write(string(lines) + string(first) + "\n")
	build(0, "501 comments") // files may be joined
	checkIndexed(t, folder, model)
	write(string(lines) + "{\n")
	build(1, "line 501")
	write(`{"product": "kettle", "rating": 5, "text": "Hot."}` + "\n")
	build(1, "line 1: not written by talkback export: give a file that it wrote\n")
	checkIndexed(t, folder, model)

	store := must.Get(objects.OpenFolder(t.Context(), folder))(t)
	anew, err := store.Build(t.Context())
	if err == nil {
		err = anew.Finish(t.Context(), "of a server")
	}
	must.Do(t, err)
	write(string(lines))
	build(1, "in use by another process")
	must.Do(t, store.Close())
	build(1, "--force")
	build(0, "500 comments", "--force")
	checkIndexed(t, folder, model)
}

// A build whose input stalls, as a pipe may, ends as soon as it is interrupted, and leaves no
// index.
func TestPagesBuildInterrupted(t *testing.T) {
	t.Parallel()
	line := must.Get(reviewfile.Append(nil, commenttest.Random(commenttest.Rand(t), "espresso")))(t)
	for why, rows := range map[string]int{"in the first rows": 1, "after thousands": 2500} {
		in, out := io.Pipe()
		defer out.Close()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, _ = out.Write(bytes.Repeat(line, rows))
			cancel() // and the pipe stays open
		}()
		var said bytes.Buffer
		ended := make(chan int, 1)
		go func() {
			ended <- command.Main(ctx, []string{"pages", "build", "--from", "-", "--to", filepath.Join(t.TempDir(), "pages")}, command.Terminal{In: in, Out: &said, Err: &said})
		}()
		select {
		case status := <-ended:
			if status != 1 || !strings.Contains(said.String(), "interrupted; run it again") {
				t.Errorf("%s: status %d: %s", why, status, &said)
			}
		case <-time.After(patience):
			t.Fatalf("%s: it does not end", why)
		}
	}
}

func checkIndexed(t *testing.T, folder string, model *commenttest.Model) {
	t.Helper()
	store := must.Get(objects.OpenFolder(t.Context(), folder))(t)
	defer func() { _ = store.Close() }()
	if covers, err := store.Covers(t.Context()); covers != "" || err != nil {
		t.Errorf("the index covers %q (%v)", covers, err)
	}
	for _, filter := range []comment.Filter{{}, {Ratings: []int{4, 5}}, {Languages: []comment.Language{"de"}}} {
		for _, product := range []string{"espresso", "a/b", "ä"} {
			want := model.List(product, filter, comment.NewestFirst)
			var targets []pageindex.Target
			for rank := range want {
				targets = append(targets, pageindex.Target{Rank: rank + 1, Exact: true})
			}
			found, err := store.Find(t.Context(), pageindex.List{Product: product, Filter: filter, Order: comment.NewestFirst}, targets)
			if err != nil || found.Counts.Total() != len(want) {
				t.Fatalf("%s has %d comments (%v), want %d", product, found.Counts.Total(), err, len(want))
			}
			for i, c := range want {
				if *found.Boundaries[i].After != c.ID.Position() {
					t.Errorf("%s: another comment than %s has the rank %d", product, c.ID, i)
				}
			}
		}
	}
}

// What is wrong with standard input is said of that, not of a file called -.
func TestStandardInputIsNamed(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"pages build --from - --to " + t.TempDir(): "talkback: no index was made of standard input: ",
		"import - --dry-run":                       "talkback: standard input: ",
	} {
		var said bytes.Buffer
		status := command.Main(t.Context(), strings.Fields(line), command.Terminal{
			In: strings.NewReader("what\nis this\n"), Out: io.Discard, Err: &said, Logger: slog.New(slog.DiscardHandler),
		})
		if status != 1 || !strings.Contains(said.String(), want) {
			t.Errorf("%s: %d %s, want %s", line, status, said.String(), want)
		}
	}
}
