package command_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

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

// An import that brought nothing fails. One with too many rejects stops and fails; what it has
// written stays.
func TestImportOfTooManyRejects(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	many := strings.Repeat("g", 2000) + strings.Repeat("b", 21) + strings.Repeat("g", 6000)
	for _, row := range []struct {
		why, file string
		flags     []string
		status    int
		says      string
	}{
		{"no row at all", "id,product,rating,lang,text,date\n", nil, 1, "the file holds no rows"},
		{"an empty file", "", nil, 1, "the file holds no rows"},
		{"every row rejected", badReviews("bbb"), nil, 1, "no row can be imported"},
		{"one good row among rejects", badReviews("bgb"), nil, 0, "3 rows = 1 written"},
		{"as many rejects as allowed", badReviews("gbbg"), []string{"--max-rejects", "2"}, 0, "4 rows = 2 written"},
		{"one more than allowed", badReviews("gbbbg"), []string{"--max-rejects", "2"}, 1, "too many rows cannot be imported: --max-rejects is 2"},
		{"none allowed", badReviews("gb"), []string{"--max-rejects", "0"}, 1, "--max-rejects is 0"},
		{"a share, of a short file judged at its end", badReviews("bggg"), []string{"--max-rejects", "25%"}, 0, "4 rows = 3 written"},
		{"a larger share", badReviews("bbgg"), []string{"--max-rejects", "25%"}, 1, "--max-rejects is 25%"},
		{"a share that is exceeded long before the end", badReviews(many), []string{"--max-rejects", "0.3%", "--dry-run"}, 1, "the import stopped after line 1601"},
		{"the same with more allowed", badReviews(many), []string{"--max-rejects", "1%", "--dry-run"}, 0, "8,021 rows"},
	} {
		i := newImporter(t, endpoint)
		status, out, said := i.run(t.Context(), append([]string{write(t, "reviews.csv", row.file)}, row.flags...)...)
		if status != row.status || !strings.Contains(out+said, row.says) {
			t.Errorf("%s: status %d, want %d and %q, not\n%s%s", row.why, status, row.status, row.says, out, said)
		}
	}
}

// A dry run counts and complains as the import would, calls no engine, and writes no file.
func TestImportDryRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "reviews.csv")
	writeFile(t, file, fewReviews)
	i := newImporter(t, "http://127.0.0.1:1")
	status, out, said := i.run(t.Context(), file, "--dry-run")
	const want = "6 rows = 2 that an empty table would take + 1 repeated in the file + 3 rejected, in a while\n" +
		"This was a dry run: no table was asked, and nothing was written\n"
	if status != 0 || out != want || strings.Count(said, "line ") != 3 || !strings.Contains(said, "line 3: the rating \"4.5\"") {
		t.Errorf("status %d, %s%s", status, out, said)
	}
	if status, _, said := i.run(t.Context(), file, "--dry-run", "--max-rejects", "0"); status != 1 || !strings.Contains(said, "--max-rejects is 0") {
		t.Errorf("with --max-rejects: status %d, %s", status, said)
	}
	checkFiles(t, folder, "reviews.csv")
	rejects := filepath.Join(folder, "rejects.tsv")
	if status, _, said := i.run(t.Context(), file, "--dry-run", "--rejects", rejects); status != 0 || strings.Count(readFile(t, rejects), "\n") != 3 {
		t.Errorf("with --rejects: status %d, %s", status, said)
	}
}

// import detects the format of standard input, also of gzip, from its beginning.
func TestImportSniffsStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	for why, text := range map[string]string{
		"CSV": badReviews("gg"), "semicolons": strings.ReplaceAll(badReviews("gg"), ",", ";"),
		"tabs": strings.ReplaceAll(badReviews("gg"), ",", "\t"), "JSON Lines": strings.ReplaceAll(manyReviews(2), `"asin"`, `"lang":"en","asin"`),
	} {
		for _, input := range []string{text, gzipped(t, text)} {
			i := newImporter(t, "http://127.0.0.1:1")
			i.stdin = strings.NewReader(input)
			if status, out, said := i.run(t.Context(), "-", "--dry-run"); status != 0 || !strings.HasPrefix(out, "2 rows = 2 that") {
				t.Errorf("%s: status %d, %s%s", why, status, out, said)
			}
		}
	}
}
