package reviewfile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/reviewfile"
)

// The same reviews read the same in every notation, with and without a stated format.
func TestFormatsByTheirBeginning(t *testing.T) {
	const first, second = "1,cup,5,en,\"good; and cheap, too\",2015-08-20", "2,cup,4,de,gut,2015-08-21"
	const names = "id,product,rating,lang,text,date"
	semicolons := strings.NewReplacer("and cheap, too", "and cheap, too", ",", ";").Replace
	want := readAll(strings.NewReader(names+"\n"+first+"\n"+second+"\n"), reviewfile.Options{Format: reviewfile.CSV})
	if len(want) != 2 || !strings.Contains(want[0], "good; and cheap, too") {
		t.Fatalf("got %q", want)
	}
	for _, row := range []struct {
		why, input string
		formats    []reviewfile.Format
	}{
		{"commas", names + "\n" + first + "\n" + second, []reviewfile.Format{"", reviewfile.CSV}},
		{"commas below empty lines", "\r\n\n" + names + "\n" + first + "\n" + second, []reviewfile.Format{""}},
		{"semicolons, as Excel writes them", semicolons(names) + "\n" + semicolons(first) + "\n" + semicolons(second), []reviewfile.Format{"", reviewfile.CSV}},
		{"semicolons below a byte order mark, and a comma in a quoted name", "\xef\xbb\xbf" + semicolons(names) + ";\"a,b,c,d,e,f,g\"\n" +
			semicolons(first) + ";\n" + semicolons(second) + ";", []reviewfile.Format{"", reviewfile.CSV}},
		{"the product below two byte order marks", "\ufeff\ufeff" + names[3:] + "\n" + first[2:] + "\n" + second[2:], []reviewfile.Format{"", reviewfile.CSV}},
		{"tabs", strings.ReplaceAll(names, ",", "\t") + "\n1\tcup\t5\ten\tgood; and cheap, too\t2015-08-20\n" + strings.ReplaceAll(second, ",", "\t"), []reviewfile.Format{"", reviewfile.TSV}},
		{
			"JSON Lines", `{"id":1,"product":"cup","rating":5,"lang":"en","text":"good; and cheap, too","date":"2015-08-20"}` + "\n" +
				`{"id":2,"product":"cup","rating":4,"lang":"de","text":"gut","date":"2015-08-21"}`, []reviewfile.Format{"", reviewfile.JSONLines},
		},
	} {
		for _, format := range row.formats {
			got := readAll(strings.NewReader(row.input), reviewfile.Options{Format: format})
			if diff := cmp.Diff(lineless(want), lineless(got)); diff != "" {
				t.Errorf("%s as %q: %s", row.why, format, diff)
			}
		}
	}
	if got := readAll(strings.NewReader(""), reviewfile.Options{}); len(got) != 0 {
		t.Errorf("nothing is read as %q", got)
	}
}

// lineless removes line numbers from rows.
func lineless(rows []string) (out []string) {
	for _, row := range rows {
		_, rest, _ := strings.Cut(row, ": ")
		out = append(out, rest)
	}
	return out
}
