package command_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/dynamotest"
)

// A product without comments is reported as having none. An export of it leaves no file, which
// could pass for an export.
func TestUnknownProduct(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	var out bytes.Buffer
	e.out = &out
	folder := t.TempDir()
	for _, arguments := range [][]string{
		{"explain", "--product", "nobody's"},
		{"explain", "--product", "nobody's", "--ratings", "1,4", "--languages", "en"},
		{"stats", "nobody's"},
		{"stats", "nobody's", "--ratings", "1,4", "--created-after", "2024-05-01"},
		{"export", filepath.Join(folder, "out.jsonl"), "--product", "nobody's"},
	} {
		status, said := e.run(t.Context(), arguments[0], arguments[1:]...)
		if status != 1 || said != "talkback: there is no comment of product \"nobody's\" in the table: check the id, whose case matters\n" || out.Len() > 0 {
			t.Errorf("%v: status %d, %s%s", arguments, status, said, out.String())
		}
	}
	checkFiles(t, folder)
	if status, said := e.run(t.Context(), "export", filepath.Join(folder, "all.jsonl")); status != 0 || !strings.Contains(said, "0 comments written") {
		t.Errorf("an empty table: status %d, %s", status, said)
	}
}

// A client that has no cursor yet may send an empty one.
func TestEmptyCursors(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	for _, arguments := range []string{`first: 1, after: ""`, `last: 1, before: ""`, `first: 1, after: "", before: ""`} {
		if got := a.ask(`{ product(id: "x") { comments(`+arguments+`) { nodes { id } } } }`, nil); len(got.Errors) > 0 {
			t.Errorf("%s: %+v", arguments, got.Errors)
		}
	}
}
