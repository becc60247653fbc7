package command_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/dynamotest"
)

var (
	seconds      = regexp.MustCompile(`in [0-9.]+ s`)
	progressLine = regexp.MustCompile(`(?m)^[0-9,]+ [a-z]+, .*\n`)
)

// counted are comments of two products that are always the same.
func counted(perProduct int) []comment.Comment {
	var out []comment.Comment
	position := comment.FirstAt(time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC))
	for i := range 2 * perProduct {
		position = position.Next()
		out = append(out, comment.Comment{
			ID: comment.IDOf(position), ProductID: []string{"cup", "mug \x1b[1m"}[i%2], Language: []comment.Language{"en", "de", "fr"}[i%3],
			Rating: 1 + i%comment.MaxRating, Version: 1, Author: comment.Author{ID: "a", Name: "Ada"},
		})
	}
	return out
}

// says runs a command and returns its output, without progress and durations.
func (e *exporter) says(name string, arguments ...string) string {
	e.t.Helper()
	var out bytes.Buffer
	there := *e
	there.out = &out
	status, said := there.run(e.t.Context(), name, arguments...)
	text := fmt.Sprintf("$ talkback %s\n%s%sstatus %d\n\n", strings.Join(append([]string{name}, arguments...), " "), out.String(), said, status)
	return seconds.ReplaceAllString(progressLine.ReplaceAllString(text, ""), "in N s")
}

// The output of rebuild and verify is in testdata/rebuild.golden.
func TestRebuildAndVerify(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.fill(counted(4))
	var got strings.Builder
	for _, arguments := range [][]string{
		{"verify"}, {"rebuild"}, {"verify"}, {"rebuild"}, {"rebuild", "--leader-shards", "1"}, {"verify"},
		{"rebuild", "--leader-shards", "65"}, {"verify", "--calls=-1"},
	} {
		got.WriteString(e.says(arguments[0], arguments[1:]...))
	}
	compareGolden(t, "testdata/rebuild.golden", []byte(got.String()))
}

// While a rebuild is at work, another one says which process it is. When the first is killed,
// another goes on after some seconds, and completes it correctly.
func TestRebuildKilled(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.fill(counted(150))
	program := binary(t)
	g := newGate(t, e.endpoint, "TransactWriteItems", 3)
	gated := *e
	gated.endpoint = g.URL
	process := exec.Command(program, gated.arguments("rebuild")...)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	<-g.shut
	want := fmt.Sprintf("talkback: a rebuild is under way, by talkback rebuild (pid %d on ", process.Process.Pid)
	if status, said := e.run(t.Context(), "rebuild"); status != 1 || !strings.HasPrefix(said, want) || !strings.Contains(said, "wait") {
		t.Errorf("a second rebuild: status %d, %s", status, said)
	}
	_ = process.Process.Kill()
	_ = process.Wait()
	if said := e.says("rebuild"); !strings.Contains(said, "continued an interrupted rebuild") {
		t.Errorf("after the first was killed: %s", said)
	}
	e.must("verify")
}
