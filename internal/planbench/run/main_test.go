package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// reviews makes a file with count reviews of one product, and one of another.
func reviews(t *testing.T, count int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("review_id\tproduct_id\tstars\tcountry\treview_body\treview_date\n")
	for i := range count {
		fmt.Fprintf(&b, "r%d\tkettle\t%d\t%s\tIt boils.\t2024-05-%02d\n", i, 1+i%5, []string{"UK", "DE"}[i%2], 1+i%28)
	}
	b.WriteString("other\tlamp\t5\tUK\tBright.\t2024-05-01\nbad\tkettle\t9\tUK\tNo such rating.\t2024-05-01\n")
	path := filepath.Join(t.TempDir(), "reviews.tsv")
	must.Do(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// A file is read as import reads it: rows that cannot be imported are left out, and so are small
// products.
func TestFileIsMeasured(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plans")
	must.Do(t, run(t.Context(), []string{"-data", reviews(t, 60), "-map", "rating=stars", "-map", "language=country",
		"-language-of", "UK=en", "-language-of", "DE=de", "-least", "2", "-out", name}, io.Discard))
	table := string(must.Get(os.ReadFile(name + ".csv"))(t))
	if !strings.Contains(table, "\n60,several,") || strings.Count(table, ",1,equal,") != strings.Count(table, "\n60,") {
		t.Errorf("the table of 60 comments on one product is\n%s", table)
	}
	for _, end := range []string{".csv", ".svg"} {
		if info, err := os.Stat(name + end); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", end, err)
		}
	}
}

func TestGeneratedIsMeasured(t *testing.T) {
	var out strings.Builder
	must.Do(t, run(t.Context(), []string{"-products", "10", "-counts", "30,90"}, &out))
	for _, heading := range []string{",10,comments,", "\n30,none,", "\n90,any,"} {
		if !strings.Contains(out.String(), heading) {
			t.Errorf("the table lacks %q", heading)
		}
	}
}

func TestWhatCannotBeMeasured(t *testing.T) {
	for _, row := range []struct {
		why  string
		args []string
		says string
	}{
		{"counts that are no numbers", []string{"-products", "0", "-counts", "many"}, "-counts many"},
		{"a file that is not there", []string{"-data", "nowhere.tsv", "-language", "en"}, "nowhere.tsv"},
		{"a file without a language", []string{"-data", reviews(t, 30)}, "language"},
		{"a file of small products only", []string{"-data", reviews(t, 30), "-language", "en", "-map", "rating=stars", "-least", "50"}, "at least 50"},
		{"a word that is no flag", []string{"fast"}, "fast"},
	} {
		if err := run(t.Context(), row.args, io.Discard); err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v; want an error that says %q", row.why, err, row.says)
		}
	}
}
