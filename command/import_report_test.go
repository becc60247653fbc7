package command_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/internal/dynamotest"
)

// judgeme are the flags that read testdata/judgeme.csv.
var judgeme = []string{
	"--from", "judgeme", "--language", "fr", "--hash-authors", "--author-secret", "0123456789abcdef", "--media-base", "https://media.shop.example/reviews/",
}

// A dry run prints this about an export with spam, replies and pictures; and addresses are refused.
func TestImportReport(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, arguments := range [][]string{judgeme, judgeme[:7], judgeme[:4]} {
		var out, said bytes.Buffer
		status := command.Main(t.Context(), append([]string{"import", "testdata/judgeme.csv", "--dry-run"}, arguments...), command.Terminal{
			In: strings.NewReader(""), Out: &out, Err: &said, Logger: slog.New(slog.DiscardHandler),
		})
		fmt.Fprintf(&got, "# %s: status %d\n%s%s\n", strings.Join(arguments, " "), status, duration.ReplaceAllString(out.String(), "in a while"), said.String())
	}
	compareGolden(t, "testdata/import_report.golden", []byte(got.String()))
}

// The report comes before any write, also for standard input. The second import changes nothing and succeeds.
func TestImportAfterItsReport(t *testing.T) {
	endpoint := dynamotest.Dynoxide(t)
	content := readFile(t, "testdata/judgeme.csv")
	file := write(t, "judgeme.csv", content)
	table := dynamotest.TableName(t)
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
		var out, said bytes.Buffer
		arguments := append([]string{"import", row.name, "--yes", "--endpoint", endpoint, "--table", table, "--create-table"}, judgeme...)
		status := command.Main(t.Context(), arguments, command.Terminal{In: strings.NewReader(row.stdin), Out: &out, Err: &said, Logger: slog.New(slog.DiscardHandler)})
		report, done, _ := strings.Cut(out.String(), "\n\n9 rows = ")
		if status != 0 || !strings.Contains(report, row.rows) || !strings.HasPrefix("9 rows = "+done, row.done) {
			t.Errorf("%s: status %d, %s%s", row.name, status, out.String(), said.String())
		}
	}
}
