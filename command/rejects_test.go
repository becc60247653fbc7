package command_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(text)) // a buffer takes all
	must.Do(t, zip.Close())
	return packed.String()
}

// rejectsFolder is a working directory with a file of reviews, of which one row is bad, other
// files, and links to them.
func rejectsFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"reviews.csv": badReviews("gb"), "notes.txt": "mine", "old.csv": badReviews("gb"), "old.csv.rejects.tsv": "corrected"} {
		must.Do(t, os.WriteFile(name, []byte(content), 0o644))
	}
	for link, target := range map[string]string{"link.tsv": "reviews.csv", "notes.tsv": "notes.txt", "nowhere.tsv": "absent.txt"} {
		must.Do(t, os.Symlink(target, link))
	}
	must.Do(t, os.Link("reviews.csv", "hard.tsv"))
}

// contents returns the files of the working directory, following links.
func contents(t *testing.T) map[string]string {
	t.Helper()
	entries := must.Get(os.ReadDir("."))(t)
	out := map[string]string{}
	for _, entry := range entries {
		if target, err := os.Readlink(entry.Name()); err == nil {
			out[entry.Name()] = "-> " + target
			continue
		}
		out[entry.Name()] = readFile(t, entry.Name())
	}
	return out
}

// Rejected rows replace neither the imported file, by whatever name, nor any other existing file
// without permission.
func TestRejectsOverwriteNothing(t *testing.T) {
	rejectsFolder(t)
	before := contents(t)
	for _, row := range []struct {
		why       string
		arguments []string
		status    int
		says      string
	}{
		{"the file itself", []string{"reviews.csv", "--rejects", "reviews.csv"}, 2, "names the file to import itself"},
		{"by another path", []string{"reviews.csv", "--rejects", "../" + folderName(t) + "/reviews.csv"}, 2, "names the file to import itself"},
		{"a link to it", []string{"reviews.csv", "--rejects", "link.tsv"}, 2, "names the file to import itself"},
		{"a hard link to it, also by force", []string{"reviews.csv", "--rejects", "hard.tsv", "--force"}, 2, "names the file to import itself"},
		{"what it is a link to", []string{"link.tsv", "--format", "csv", "--rejects", "reviews.csv", "--force"}, 2, "names the file to import itself"},
		{"the file on standard input", []string{"-", "--rejects", "reviews.csv", "--force"}, 2, "names the file to import itself"},
		{"another file", []string{"reviews.csv", "--rejects", "notes.txt"}, 3, "notes.txt, which exists"},
		{"a link to another file", []string{"reviews.csv", "--rejects", "notes.tsv"}, 3, "notes.tsv, which exists"},
		{"a link to nothing, which would be written elsewhere", []string{"reviews.csv", "--rejects", "nowhere.tsv"}, 3, "nowhere.tsv, which exists"},
		{"rows that an earlier import rejected, maybe corrected since", []string{"old.csv", "--rejects", "old.csv.rejects.tsv"}, 3, "write over it by --force"},
		{"the same by default", []string{"old.csv"}, 3, "old.csv.rejects.tsv, which exists, perhaps from an earlier import"},
		{"a folder", []string{"reviews.csv", "--rejects", "."}, 1, "is a folder"},
		{"standard output", []string{"reviews.csv", "--rejects", "-"}, 2, "standard output"},
	} {
		i := newImporter(t, "http://127.0.0.1:1")
		stdin := must.Get(os.Open("reviews.csv"))(t)
		i.in = stdin
		if row.why != "the same by default" {
			row.arguments = append(row.arguments, "--dry-run")
		}
		status, out, said := i.run(t.Context(), row.arguments...)
		if status != row.status || !strings.Contains(said, row.says) {
			t.Errorf("%s: status %d, want %d and %q: %s%s", row.why, status, row.status, row.says, out, said)
		}
		check.Equal(t, before, contents(t), row.why)
		must.Do(t, stdin.Close())
	}
}

func folderName(t *testing.T) string {
	t.Helper()
	folder := must.Get(os.Getwd())(t)
	return filepath.Base(folder)
}

// Rows and exports cannot be written over the engine's own files.
func TestTheEnginesFilesAreNotWrittenOver(t *testing.T) {
	rejectsFolder(t)
	must.Do(t, os.Mkdir("data", 0o700))
	writeFile(t, "data/talkback.db", "comments")
	must.Do(t, os.Symlink("data/talkback.db", "database.jsonl"))
	for _, arguments := range [][]string{
		{"import", "reviews.csv", "--dry-run", "--rejects", "data/talkback.db", "--force"},
		{"import", "reviews.csv", "--dry-run", "--rejects", "data/talkback.db-wal"},
		{"export", "data/talkback.db", "--force"},
		{"export", "database.jsonl", "--force"},
		{"export", "data/engine.lock", "--force"},
	} {
		if status, _, said := talkback(t.Context(), arguments...); status != 2 || !strings.Contains(said, "is a file of the local engine") {
			t.Errorf("%v: status %d, %s", arguments, status, said)
		}
	}
	if got := readFile(t, "data/talkback.db"); got != "comments" {
		t.Errorf("the database is %q now", got)
	}
	checkFiles(t, "data", "talkback.db")
}

// Rejected rows are kept also when the import is stopped, and the command to run it again is
// printed.
func TestRejectsOfAStoppedImport(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why       string
		arguments []string
		cut       int // bytes of the file that are missing
		says      string
	}{
		{"too many rejects", []string{"--max-rejects", "0"}, 0, "run it again with --force"},
		{"the file breaks off", nil, 9, "Run it again with --force, which writes the rejected rows anew\n"},
		{"force was given", []string{"--force"}, 9, "Run it again\n"},
	} {
		packed := gzipped(t, badReviews("gbg"))
		file := write(t, "reviews.csv.gz", packed[:len(packed)-row.cut])
		rejects := filepath.Join(filepath.Dir(file), "rejects.tsv")
		arguments := append([]string{file, "--dry-run", "--rejects", rejects}, row.arguments...)
		status, _, said := newImporter(t, "http://127.0.0.1:1").run(t.Context(), arguments...)
		if status != 1 || !strings.Contains(said, row.says) || strings.Count(readFile(t, rejects), "\n") != 1 {
			t.Errorf("%s: status %d, %s", row.why, status, said)
		}
		checkFiles(t, filepath.Dir(file), "rejects.tsv", "reviews.csv.gz")
	}
}

// Corrected rejects can be imported as documented: cut and printf restore every byte.
func TestRejectsComeBack(t *testing.T) {
	again := blockWith(t, "docs/operate/data.md", "rejects.tsv | while")
	t.Chdir(t.TempDir())
	rows := []string{
		`1,cup,9,en,"=HYPERLINK(""x"")",2015-08-20`, `-2,cup,9,en,-5,2015-08-20`, `@3,cup,9,en,"a	b \n \\ \0101 é 😀` + "\x1b\u202e" + `%s$(x)",2015-08-20`,
		"4,cup,9,en,\"two\nlines\",2015-08-20", `"5",cup,9,en, =1,2015-08-20`,
	}
	text := "id,product,rating,lang,text,date\n" + strings.Join(rows, "\n") + "\n"
	writeFile(t, "reviews.csv", text)
	if status, _, said := newImporter(t, "http://127.0.0.1:1").run(t.Context(), "reviews.csv", "--dry-run", "--rejects", "reviews.csv.rejects.tsv"); status != 1 {
		t.Fatalf("status %d, %s", status, said)
	}
	out, err := exec.Command("sh", "-ec", again).CombinedOutput()
	if diff := cmp.Diff(text, readFile(t, "rejected.csv")); err != nil || diff != "" {
		t.Fatalf("%v %s %s", err, out, diff)
	}
	writeFile(t, "rejected.csv", strings.ReplaceAll(text, "cup,9", "cup,5"))
	i := newImporter(t, "http://127.0.0.1:1")
	i.want("5 rows = 5 that an empty table would take + 0 repeated in the file + 0 rejected, in a while\n"+
		"This was a dry run: no table was asked, and nothing was written\n", "rejected.csv", "--dry-run")
}

// blockWith returns the block of a document that contains a text.
func blockWith(t *testing.T, document, text string) string {
	t.Helper()
	for _, block := range doctest.Read(t, document).Blocks() {
		if strings.Contains(block.Text, text) {
			return block.Text
		}
	}
	t.Fatalf("%s has no block with %q", document, text)
	return ""
}

// octal matches the escapes of cells that are bytes.
var octal = regexp.MustCompile(`^\\0([0-3][0-7]{2})`)

// uncell reverses the escapes of a cell, as printf %b does.
func uncell(t testing.TB, cell string) string {
	t.Helper()
	var out []byte
	for len(cell) > 0 {
		if cell[0] != '\\' {
			out, cell = append(out, cell[0]), cell[1:]
			continue
		}
		if code := octal.FindStringSubmatch(cell); code != nil {
			b := must.Get(strconv.ParseUint(code[1], 8, 8))(t)
			out, cell = append(out, byte(b)), cell[len(code[0]):]
			continue
		}
		i := strings.IndexByte(`\tnr`, cell[1])
		if i < 0 {
			t.Fatalf("no escape: %.9s", cell)
		}
		out, cell = append(out, "\\\t\n\r"[i]), cell[2:]
	}
	return string(out)
}

// forged starts a line that only the file's author can have written.
const forged = "FORGED"

// checkHarmless imports bytes from a file with an equally bad name, and checks all output and
// files.
func checkHarmless(t testing.TB, folder, format, text string) {
	t.Helper()
	name := filepath.Join(folder, "re\x1b]0;x\a\n"+forged+"views")
	rejects := filepath.Join(folder, "rejects.tsv")
	writeFile(t, name, text)
	for _, more := range [][]string{nil, {"--rejects", rejects, "--force"}, {"--max-rejects", "0"}, {"--map", "text=none"}} {
		_, out, said := talkback(t.Context(), append([]string{"import", name, "--format", format, "--dry-run"}, more...)...)
		for _, r := range out + said {
			if r != '\n' && !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' {
				t.Fatalf("%v: it says %U:\n%s%s", more, r, out, said)
			}
		}
		if strings.Contains("\n"+out+said, "\n"+forged) {
			t.Fatalf("%v: a forged line:\n%s%s", more, out, said)
		}
	}
	checkRejects(t, rejects, text)
}

var atStart = regexp.MustCompile(`^[=+@＝＋－＠"\t-]|[,;"][=@]`)

// checkRejects checks a file of rejected rows, if there is one: each is one line of three cells,
// unchanged.
func checkRejects(t testing.TB, path, source string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return
	}
	if err != nil || os.Remove(path) != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimPrefix(source, "\ufeff"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	last := 0
	for row := range strings.Lines(string(content)) {
		cells := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		number, err := strconv.Atoi(cells[0])
		if err != nil || len(cells) != 3 || number <= last || number > len(lines) {
			t.Fatalf("after line %d comes a row that is none: %q", last, row)
		}
		last = number
		for _, cell := range cells {
			if atStart.MatchString(cell) {
				t.Fatalf("a spreadsheet would run %q", cell)
			}
		}
		if raw := uncell(t, cells[2]); !strings.HasPrefix(strings.Join(lines[number-1:], "\n"), raw) || raw == "" {
			t.Fatalf("%q is not what line %d says: %q", raw, number, lines[number-1])
		}
	}
	for _, r := range string(content) {
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) && r != '\u200c' && r != '\u200d' {
			t.Fatalf("%U in the file: %q", r, content)
		}
	}
}

// nastyValues are possible values in a column of a stranger's file.
var nastyValues = []string{
	"=cmd|' /C calc'!A0", "x\t\n=cmd", "\n" + forged + "\t1\t2", "\x1b]0;owned\a", "\u202e", "\u2028", "\x00", "\xff\xfe", "-1", "+1", "@x", "\"", "\"=1", ",=1", ";@x", "\r\n=1\r", "\u009b2J",
	"＝1", `\`, `\n`, "5", "en", "2015-08-20", "cup", "", "UK", "\U0001f600",
}

// hostileFile draws a file of one of the formats, in which any value, line or name of a column can
// be nasty.
func hostileFile(t *rapid.T, format string) string {
	value := rapid.SampledFrom(nastyValues)
	columns := []string{"id", "product", "rating", "marketplace", "text", "date", "more"}
	if rapid.IntRange(0, 3).Draw(t, "header") == 0 {
		columns[rapid.IntRange(0, len(columns)-1).Draw(t, "column")] += value.Draw(t, "name")
	}
	var rows [][]string
	for range rapid.IntRange(1, 5).Draw(t, "rows") {
		row := []string{"1", "cup", "5", "US", "fine", "2015-08-20", ""}
		row[rapid.IntRange(0, len(row)-1).Draw(t, "at")] = value.Draw(t, "value") + value.Draw(t, "more")
		rows = append(rows, row)
	}
	separator := map[string]string{"tsv": "\t", "csv": ","}[format]
	if separator != "" {
		text := strings.Join(columns, separator)
		for _, row := range rows {
			text += "\n" + strings.Join(row, separator)
		}
		return text
	}
	var text strings.Builder
	for _, row := range rows {
		object := map[string]string{}
		for i, column := range columns {
			object[column] = row[i]
		}
		line := must.Get(json.Marshal(object))(t)
		fmt.Fprintf(&text, "%s%s\n", line, value.Draw(t, "behind"))
	}
	return text.String()
}

// Whatever a file holds and is called, no message and no file of its import contains anything that
// a terminal obeys or a spreadsheet runs. Each rejected row is one line.
func TestImportOfHostileFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		format := rapid.SampledFrom([]string{"tsv", "csv", "jsonl"}).Draw(r, "format")
		checkHarmless(t, folder, format, hostileFile(r, format))
	})
}

// Names of files and columns come from strangers too, in every message that has them.
func TestMessagesOfHostileNames(t *testing.T) {
	t.Chdir(t.TempDir())
	const nasty = "x\x1b]0;owned\a\n" + forged
	for name, content := range map[string]string{
		nasty:         badReviews("gb"),
		"keys.jsonl":  `{"product":"cup","text":"x","rating":5,"x\u001b]0;owned\u0007\n` + forged + `":1}`,
		"good.csv":    badReviews("gb"),
		"twice.csv":   "\"" + nasty + "\",\"" + nasty + "\"\n",
		"control.csv": "product,x\x1b[2J\n",
	} {
		writeFile(t, name, content)
	}
	for _, row := range []struct {
		why       string
		arguments []string
	}{
		{"a file that is not there", []string{"import", nasty + "2"}},
		{"a file to import", []string{"import", nasty, "--format", "csv", "--map", "text=none"}},
		{"a key of JSON", []string{"import", "keys.jsonl", "--dry-run"}},
		{"a column", []string{"import", "control.csv", "--dry-run"}},
		{"a column that is there twice", []string{"import", "twice.csv", "--dry-run", "--map", "text=" + nasty}},
		{"where rejected rows went", []string{"import", "good.csv", "--dry-run", "--rejects", nasty + ".tsv"}},
		{"where they cannot go", []string{"import", "good.csv", "--dry-run", "--rejects", nasty}},
		{"a folder that is not there", []string{"export", nasty + "2/x"}},
		{"an export that is there", []string{"export", nasty}},
		{"an argument", []string{"\x1b]0;owned\a"}},
		{"a flag", []string{"import", "good.csv", "--\x1b]0;owned\a"}},
	} {
		_, out, said := talkback(t.Context(), row.arguments...)
		if text := out + said; strings.ContainsAny(text, "\x1b\a") || strings.Contains(text, "\n"+forged) || !strings.Contains(text, `\`) {
			t.Errorf("%s: %q", row.why, text)
		}
	}
}

// FuzzImport does the same with any bytes.
func FuzzImport(f *testing.F) {
	all := strings.Join(nastyValues, " ")
	f.Add("id,product,rating,lang,text,date\n1,cup,9,en," + all + ",2015-08-20\n\"" + all)
	f.Add("id\tproduct\trating\tmarketplace\ttext\tdate\n1\tcup\t5\t" + all + "\tx\t2015-08-20\n")
	f.Add(all + "\n" + all)
	f.Fuzz(func(t *testing.T, text string) {
		folder := t.TempDir()
		for _, format := range []string{"tsv", "csv", "jsonl"} {
			checkHarmless(t, folder, format, text)
		}
	})
}
