package doctest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// Every link of a document leads somewhere: to a file of the repository, to a heading, or to an
// address that is HTTPS.
func TestLinks(t *testing.T) {
	root := Root(t)
	for _, d := range All(t) {
		for _, target := range d.Links() {
			address, err := url.Parse(target)
			switch {
			case err != nil:
				t.Errorf("%s: the link to %q: %v", d.Path, target, err)
			case address.Scheme == "https", address.Hostname() == "127.0.0.1":
			case address.Scheme != "" || address.Host != "" || path.IsAbs(address.Path):
				t.Errorf("%s links to %q: neither HTTPS nor a file of the repository", d.Path, target)
			default:
				checkFile(t, root, d, address)
			}
		}
	}
}

func checkFile(t *testing.T, root string, d Document, target *url.URL) {
	t.Helper()
	name := d.Path
	if target.Path != "" {
		name = path.Join(path.Dir(d.Path), target.Path)
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil || strings.HasPrefix(name, "..") {
		t.Errorf("%s links to %q, and there is no %s", d.Path, target, name)
		return
	}
	if target.Fragment != "" && !slices.Contains(Read(t, name).Anchors(), target.Fragment) {
		t.Errorf("%s links to %q, and %s has no such heading", d.Path, target, name)
	}
}

var ages = regexp.MustCompile(`"?exp"?: *\d|--(since|restore-date-time) 2\d{3}-`)

// No example has a time that is refused one day: tokens expire, and only the last days can be read
// again.
func TestExamplesDoNotAge(t *testing.T) {
	for _, d := range All(t) {
		for _, fixed := range ages.FindAllString(d.Text, -1) {
			t.Errorf("%s: %s... has a fixed time", d.Path, fixed)
		}
	}
}

// Every document is linked to, so that a newcomer finds it.
func TestEveryDocumentIsLinkedTo(t *testing.T) {
	linked := map[string]bool{"README.md": true}
	for _, d := range All(t) {
		for _, target := range d.Links() {
			file, _, _ := strings.Cut(target, "#")
			linked[path.Join(path.Dir(d.Path), file)] = true
		}
	}
	for _, d := range All(t) {
		if !linked[d.Path] {
			t.Errorf("no document links to %s", d.Path)
		}
	}
}

var sourceLine = regexp.MustCompile(`^(?://|#|<!--) (\S+)(?: -->)?$`)

// A block of code that names its file in its first line is in that file, indentation aside.
func TestCodeIsWhereItSays(t *testing.T) {
	found := 0
	for _, d := range All(t) {
		for _, block := range d.Blocks() {
			first, code, _ := strings.Cut(block.Text, "\n")
			name := sourceLine.FindStringSubmatch(first)
			if name == nil {
				continue
			}
			found++
			if source := Read(t, name[1]).Text; !strings.Contains(flush(source), flush(code)) {
				t.Errorf("%s:%d: %s does not have this code", d.Path, block.Line, name[1])
			}
		}
	}
	if found == 0 {
		t.Error("no block of code names its file")
	}
}

// flush is text without indentation.
func flush(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// The page about caches names every type without an id, which graphcache has to be told of.
func TestTypesWithoutIDAreNamed(t *testing.T) {
	caching := Read(t, "docs/guide/caching.md").Text
	schema := Read(t, "schema.graphqls").Text
	for _, found := range regexp.MustCompile(`(?ms)^type (\w+)[^{]*\{(.*?)^\}`).FindAllStringSubmatch(schema, -1) {
		name, hasID := found[1], strings.Contains(found[2], "\n  id: ")
		if !hasID && name != "Query" && name != "Mutation" && !regexp.MustCompile(`\b`+name+`\b`).MatchString(caching) {
			t.Errorf("docs/guide/caching.md does not name %s, which has no id", name)
		}
	}
}

// found returns what the first group of a pattern matches in a text.
func found(pattern, text string) (all []string) {
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// The page about errors names every code of userErrors.
func TestUserErrorCodes(t *testing.T) {
	schema := Read(t, "schema.graphqls").Text
	_, rest, _ := strings.Cut(schema, "\nenum UserErrorCode {")
	enum, _, _ := strings.Cut(rest, "\n}")
	want := found(`(?m)^  ([A-Z_]+)$`, enum)
	var got []string
	for _, row := range Read(t, "docs/guide/writing.md").Table("what is wrong") {
		got = append(got, strings.Trim(row["code"], "`"))
	}
	if !slices.Equal(want, got) || len(want) == 0 {
		t.Errorf("docs/guide/writing.md lists the codes %v, the schema %v", got, want)
	}
}

// Every kind of error has a code.
func TestKindsOfErrorsHaveCodes(t *testing.T) {
	_, rest, _ := strings.Cut(Read(t, "comment/errors.go").Text, "\nconst (\n")
	list, _, _ := strings.Cut(rest, "\n)")
	kinds := found(`(?m)^\t([A-Z]\w+)`, list)
	if len(kinds) < 10 {
		t.Errorf("there are %d kinds: this test does not read them any more", len(kinds))
	}
	for _, kind := range kinds {
		if !regexp.MustCompile(`\bcomment\.` + kind + `: +"`).MatchString(Read(t, "resolvers/errors.go").Text) {
			t.Errorf("the table codes in resolvers/errors.go has no code of %s", kind)
		}
	}
}

// The page about errors and the metrics name every code that an answer can have.
func TestErrorCodes(t *testing.T) {
	measured := Read(t, "telemetry/instruments.go").Text
	codes := Read(t, "docs/guide/errors.md").Code()
	users := Read(t, "docs/guide/writing.md").Code()
	for source, form := range map[string]string{
		"resolvers/errors.go":       `comment\.\w+: +"([A-Z_]+)"`,
		"httpapi/refusal.go":        `code: "([A-Z_]+)"`,
		"httpapi/limits/refusal.go": ` Code = "([A-Z_]+)"`,
	} {
		given := found(form, Read(t, source).Text)
		if len(given) < 10 {
			t.Errorf("%s has %d codes: this test does not read it any more", source, len(given))
		}
		for _, code := range given {
			if !slices.Contains(codes, code) && !slices.Contains(users, code) {
				t.Errorf("docs/guide/errors.md does not name %s: say what a client does about it", code)
			}
			if !strings.Contains(measured, `"`+code+`"`) {
				t.Errorf("telemetry/instruments.go does not name %s: add it to the codes that it counts, or it counts as another", code)
			}
		}
	}
}

// The page about errors has the statuses of every request that is refused, and no others. INTERNAL
// is a code of fields too.
func TestStatusesOfRefusals(t *testing.T) {
	numbers, want, got := map[string]string{}, map[string][]string{}, map[string]string{}
	for status := range 600 {
		numbers[strings.ReplaceAll(http.StatusText(status), " ", "")] = strconv.Itoa(status)
	}
	text, measured := Read(t, "httpapi/refusal.go").Text+Read(t, "httpapi/gateway/forms.go").Text, Read(t, "telemetry/instruments.go").Text
	for _, refusal := range regexp.MustCompile(`http\.Status(\w+), (?:code: )?"([A-Z_]+)"`).FindAllStringSubmatch(text, -1) {
		status, code := numbers[refusal[1]], refusal[2]
		if status != "" && code != "INTERNAL" && !slices.Contains(want[code], status) {
			want[code] = append(want[code], status)
		}
		if !strings.Contains(measured, `"`+status+`"`) {
			t.Errorf("telemetry/instruments.go does not name the status %s", status)
		}
	}
	for _, row := range Read(t, "docs/guide/errors.md").Table("status") {
		got[strings.Trim(row["code"], "`")] = row["status"]
	}
	for code, statuses := range want {
		slices.Sort(statuses)
		if text := strings.Join(statuses, ", "); got[code] != text {
			t.Errorf("docs/guide/errors.md: the status of %s is %s, not %q", code, text, got[code])
		}
		delete(got, code)
	}
	if len(want) < 10 || len(got) > 0 {
		t.Errorf("%d codes are refusals; docs/guide/errors.md has others: %v", len(want), got)
	}
}

// The page about monitoring has a row for every warning and every error that is logged, and no
// other. There "…" stands for what differs and for the rest of a long message.
func TestLogLines(t *testing.T) {
	logged := map[string]bool{}
	for _, message := range logMessages(t) {
		logged[message] = false
	}
	for _, row := range Read(t, "docs/operate/monitor.md").Table("message") {
		shown := strings.Trim(row["message"], "`")
		form := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(shown), "…", ".*") + "$")
		found := false
		for message := range logged {
			if form.MatchString(message) {
				found, logged[message] = true, true
			}
		}
		if !found {
			t.Errorf("docs/operate/monitor.md tells of %q, which nothing logs", shown)
		}
	}
	for message, documented := range logged {
		if !documented {
			t.Errorf("docs/operate/monitor.md has no row of %q: add one under Warnings and errors, with what an operator does", message)
		}
	}
}

// The page about monitoring quotes what `stream --status` prints.
func TestStatusLines(t *testing.T) {
	var printed strings.Builder
	names := must.Get(filepath.Glob(filepath.Join(Root(t), "command", "*.go")))(t)
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			printed.WriteString(Read(t, path.Join("command", filepath.Base(name))).Text)
		}
	}
	rows := Read(t, "docs/operate/monitor.md").Table("it says")
	if len(rows) == 0 {
		t.Error("docs/operate/monitor.md has no such table")
	}
	for _, row := range rows {
		for _, span := range codeSpan.FindAllStringSubmatch(row["it says"], -1) {
			for _, text := range strings.Split(span[1], "…") {
				if !strings.Contains(printed.String(), text) {
					t.Errorf("docs/operate/monitor.md quotes %q, which the status does not print", text)
				}
			}
		}
	}
}

// logMessages are the messages of all warnings and errors in the code, with "…" for what is put in.
func logMessages(t *testing.T) []string {
	t.Helper()
	var all []string
	root := Root(t)
	err := filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		switch base := filepath.Base(name); {
		case err != nil:
			return err
		case entry.IsDir() && (base == "node_modules" || base == "graph" || base != "." && strings.HasPrefix(base, ".")):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if message := logMessage(n); strings.Trim(message, "…") != "" {
				all = append(all, message)
			}
			return true
		})
		return nil
	})
	if err != nil || len(all) == 0 {
		t.Fatal(err, len(all))
	}
	return all
}

// logMessage is the message of a call that logs a warning or an error, empty for anything else.
func logMessage(n ast.Node) string {
	call, is := n.(*ast.CallExpr)
	if !is {
		return ""
	}
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	at := map[string]int{"Warn": 1, "Error": 1, "WarnContext": 2, "ErrorContext": 2}[method.Sel.Name]
	if at == 0 || len(call.Args) < at+1 { // a message and at least one value: Error() of errors has none
		return ""
	}
	return textOf(call.Args[at-1])
}

// textOf is the text of a sum of strings.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	}
	return "…"
}

// README.md shows the same figures as the picture above them.
func TestPictureOfAPage(t *testing.T) {
	picture := Read(t, "docs/page.svg").Text
	total := 0
	for _, count := range found(`class="count"[^>]*>(\d+)<`, picture) {
		total += must.Get(strconv.Atoi(count))(t)
	}
	if shown := found(`"totalCount": (\d+)`, Read(t, "README.md").Text); shown == nil || shown[0] != strconv.Itoa(total) {
		t.Errorf("the cells of docs/page.svg have %d comments, the answer in README.md %v", total, shown)
	}
	drawn := found(`class="soft units"[^>]*>([\d.]+)<`, picture)
	want := found(`(?m)^[a-z ]+?  +\d+ +[\d.]+ +([\d.]+) `, Read(t, "docs/guide/filtering.md").Text)
	if !slices.Equal(drawn, want) || len(want) == 0 {
		t.Errorf("docs/page.svg draws the prices %v, docs/guide/filtering.md has %v", drawn, want)
	}
}

// README.md shows the sums of the bills in docs/operate/cost.md, of shops with two servers each.
func TestBillsInREADME(t *testing.T) {
	shown := found(`(?m)^(\| [^|]+ \| [^|]+ \| [\d.]+ \|)$`, Read(t, "README.md").Text)
	sums := strings.Fields(strings.Join(found(`(?m)^together((?: +[\d.]+){3}) *$`, Read(t, "docs/operate/cost.md").Text), " "))
	rounded := func(number int) string {
		if number >= 1_000_000 {
			return fmt.Sprintf("%d million", number/1_000_000)
		}
		return fmt.Sprintf("%d,%03d", number/1000, number%1000)
	}
	var want []string
	for i, name := range []string{"small", "middle", "large"}[:len(sums)] {
		var shop struct{ Comments, Views, Servers int }
		must.Do(t, json.Unmarshal([]byte(Read(t, "docs/shops/"+name+".json").Text), &shop))
		want = append(want, fmt.Sprintf("| %s | %s | %s |", rounded(shop.Comments), rounded(shop.Views), sums[i]))
		if shop.Servers != 2 {
			t.Errorf("the %s shop has %d servers", name, shop.Servers)
		}
	}
	if !slices.Equal(shown, want) || len(want) == 0 {
		t.Errorf("README.md has %q, docs/operate/cost.md and docs/shops %q", shown, want)
	}
}
