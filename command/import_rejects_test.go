package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// badReviews returns a row for each letter of a pattern: good for a g, otherwise bad.
func badReviews(pattern string) string {
	text := "id,product,rating,lang,text,date\n"
	for i, kind := range pattern {
		rating := 9
		if kind == 'g' {
			rating = 5
		}
		text += fmt.Sprintf("%d,cup,%d,en,fine,2015-08-20\n", i, rating)
	}
	return text
}

// judgeme are the flags that read testdata/judgeme.csv.
var judgeme = []string{
	"--from", "judgeme", "--language", "fr", "--hash-authors", "--author-secret", "0123456789abcdef", "--media-base", "https://media.shop.example/reviews/",
}

// A dry run prints this about an export with spam, replies and pictures; and addresses are refused.
func TestImportReport(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, arguments := range [][]string{judgeme, judgeme[:7], judgeme[:4]} {
		status, out, said := talkback(t.Context(), append([]string{"import", "testdata/judgeme.csv", "--dry-run"}, arguments...)...)
		fmt.Fprintf(&got, "# %s: status %d\n%s%s\n", strings.Join(arguments, " "), status, duration.ReplaceAllString(out, "in a while"), said)
	}
	goldentest.Compare(t, "testdata/import_report.golden", []byte(got.String()))
}

// A report of eleven products lists ten, and tells of one more. It warns of ids that are no whole
// numbers any more.
func TestImportReportOfManyProducts(t *testing.T) {
	t.Parallel()
	rows := "product,rating,language,text,date\n"
	for i := range 11 {
		rows += fmt.Sprintf("%d.0,5,en,Good.,2024-05-01\n", i)
	}
	status, out, said := talkback(t.Context(), "import", write(t, "reviews.csv", rows), "--dry-run")
	if status != 0 || !strings.Contains(out, "\nand 1 more product\n") || !strings.Contains(out, "such as 0.0, from line 2 on") {
		t.Errorf("status %d, %s%s", status, out, said)
	}
}

// The report comes before any write, also for standard input, whose rejects are in the working
// directory. The second import changes nothing and succeeds.
func TestImportAfterItsReport(t *testing.T) {
	i := newImporter(t, dynamotest.Dynoxide(t))
	content := readFile(t, "testdata/judgeme.csv")
	file := write(t, "judgeme.csv", content)
	for _, row := range []struct {
		name, stdin, rows, done string
	}{
		{file, "", "\n9 rows: 5 published, 1 waiting for a moderator, 1 hidden as spam, 2 rejected\n", "9 rows = 7 written"},
		{"-", gzipped(t, content), "\n9 rows: 5 published", "9 rows = 0 written + 7 already there"},
		{file, "", "\n9 rows: 5 published", "9 rows = 0 written + 7 already there"},
	} {
		if row.name == "-" {
			t.Chdir(t.TempDir()) // for its rejects
		}
		i.in = strings.NewReader(row.stdin)
		status, out, said := i.exporter.run(t.Context(), "import", append([]string{row.name, "--yes", "--create-table"}, judgeme...)...)
		report, done, _ := strings.Cut(out, "\n\n9 rows = ")
		if status != 0 || !strings.Contains(report, row.rows) || !strings.HasPrefix("9 rows = "+done, row.done) {
			t.Errorf("%s: status %d, %s%s", row.name, status, out, said)
		}
	}
	checkFiles(t, ".", "talkback.rejects.tsv")
}
