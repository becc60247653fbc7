package command_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// howLong matches what differs from run to run.
var howLong = regexp.MustCompile(`milliseconds: [\d.]+`)

// explain prints what a page could read and what it did read, for a counted product and for an
// uncounted one. The print is in testdata/explain.golden.
func TestExplain(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t)) // DynamoDB Local bills a read that finds nothing, as AWS does
	r := rand.New(rand.NewPCG(7, 7))
	globe := commenttest.Many(r, "globe", 400)
	e.fill(globe)
	e.must("rebuild")
	e.fill(commenttest.Many(r, "plate", 3))
	var out bytes.Buffer
	e.out = &out
	for _, arguments := range [][]string{
		{"--product", "globe"},
		{"--product", "globe", "--ratings", "4,5"},
		{"--product", "globe", "--ratings", "1,2,4,5", "--first", "5"},
		{"--product", "globe", "--ratings", "1,4", "--languages", "en,de", "--order", "oldest-first"},
		{"--product", "globe", "--languages", "ar", "--created-after", "2020-02-28T23:59:50Z", "--created-before", "2020-02-29T00:30:00Z"},
		{"--product", "plate", "--ratings", "1,4", "--languages", "en,de"},
		{"--product", "globe", "--after", string(globe[7].ID), "--first", "3"},
		{"--product", "globe", "--ratings", "5", "--before", string(globe[7].ID), "--from-end"},
		{"--product", "plate", "--created-after", "2100-01-01"},
		{"--product", "globe", "--page", "2", "--ratings", "4,5"},
		{"--product", "globe", "--page", "10", "--order", "oldest-first"},
		{"--product", "globe", "--order", "highest-rated"},
		{"--product", "globe", "--order", "lowest-rated", "--page", "10"},
		{"--product", "globe", "--order", "most-helpful", "--ratings", "4,5"},
		{"--product", "globe", "--order", "most-helpful", "--page", "10"},
		{"--product", "globe", "--with-media", "--verified"},
		{"--product", "plate", "--page", "90"},
	} {
		fmt.Fprintf(&out, "# %s\n", strings.Join(arguments, " "))
		if said := e.must("explain", arguments...); said != "" {
			t.Errorf("it said %s", said)
		}
		out.WriteString("\n")
	}
	goldentest.Compare(t, "testdata/explain.golden", howLong.ReplaceAll(out.Bytes(), []byte("milliseconds: N")))
}

// A product without comments is reported as having none. An export of it leaves no file, which
// could pass for an export.
func TestUnknownProduct(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	folder := t.TempDir()
	for _, arguments := range [][]string{
		{"explain", "--product", "nobody's"},
		{"explain", "--product", "nobody's", "--ratings", "1,4", "--languages", "en"},
		{"stats", "nobody's"},
		{"stats", "nobody's", "--ratings", "1,4", "--created-after", "2024-05-01"},
		{"export", filepath.Join(folder, "out.jsonl"), "--product", "nobody's"},
	} {
		status, out, said := e.run(t.Context(), arguments[0], arguments[1:]...)
		if status != 1 || said != "talkback: there is no approved comment of product \"nobody's\" in the table: check the id, whose case matters\n" || out != "" {
			t.Errorf("%v: status %d, %s%s", arguments, status, said, out)
		}
	}
	checkFiles(t, folder)
	if status, _, said := e.run(t.Context(), "export", filepath.Join(folder, "all.jsonl")); status != 0 || !strings.Contains(said, "0 comments written") {
		t.Errorf("an empty table: status %d, %s", status, said)
	}
}
