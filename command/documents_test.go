package command_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
)

// All that needs the sample data is tried on one server, that of `make run`, since to load it takes
// seconds. While that is written and counted, every probe is answered, with the reason; the first
// that says ready finds all of it counted. Then a newcomer follows the documents and tries the
// explorer. Ctrl-C ends the server, and others find its data.
func TestDocuments(t *testing.T) {
	t.Parallel()
	address, data := freeAddress(t), filepath.Join(t.TempDir(), "data")
	run := exec.Command("make", "run")
	run.Dir = ".."
	run.Env = append(os.Environ(), "TALKBACK_DATA="+data, "TALKBACK_LISTEN="+address, "TALKBACK_MAX_SUBSCRIPTIONS=2")
	ready, reasons := readiness(address)
	s := follow(t, run)
	if wrong := <-ready; wrong != "" || !reasons["not ready: the sample data is being put into the table and counted"] {
		t.Errorf("%s; the reasons were %v", wrong, reasons)
	}
	checkSampleIsCounted(t, s)
	waitForTotal(t, s, doctest.Read(t, "README.md").Text)
	reader := newcomer{server: s, folder: newcomersFolder(t), data: data, done: map[string]string{}, waiting: new(sync.WaitGroup)}
	for _, document := range doctest.All(t) {
		reader.read(t, document)
	}
	reader.waiting.Wait()
	t.Run("explorer", func(t *testing.T) { tryExplorer(t, s) })
	t.Run("Bruno", func(t *testing.T) { runBruno(t, s) })

	newest := s.ask(newestID)
	must.Do(t, syscall.Kill(-run.Process.Pid, syscall.SIGINT)) // Ctrl-C in a terminal reaches make and the program alike
	if _, said := s.wait(); strings.Contains(said, "talkback: ") {
		t.Errorf("Ctrl-C did not end it gracefully:\n%s", said)
	}
	t.Run("restarts", func(t *testing.T) { checkRestarts(t, data, newest) })
}

// waitForTotal waits until the product of the README's query has the total of its answer. Once the
// server has shown the counts, it plans by them.
func waitForTotal(t *testing.T, s *server, answer string) {
	t.Helper()
	total := regexp.MustCompile(`"total": (\d+)`).FindStringSubmatch(answer)[1]
	must.Wait(t, "there are "+total+" comments", func() bool {
		return strings.Contains(s.ask(`{ product(id: "espresso-machine") { stats { total } } }`), `"total":`+total+`}`)
	})
}

// newcomer follows the instructions in the documents, beside a server: each command and query has
// the output shown. The kinds of blocks are:
//
//	sh               commands, a line each; all of them run
//	text             what the last command of the block before prints
//	graphql          an operation
//	json variables   its variables from then on
//	json             its answer, in which extensions may be left out; before the first operation, any object
//	shell            commands that a test cannot run; TestCommandLines checks them
//	js, yaml         code; package doctest checks where it is from
//	mermaid          a diagram
//	html, css        what stands in a page of a shop; the tests of the element check its names
//	(none)           nothing to check
type newcomer struct {
	server  *server
	folder  string            // where commands run
	data    string            // of the server's engine
	done    map[string]string // what each command printed: one that several documents show runs once
	waiting *sync.WaitGroup   // for commands that go on beside the documents
}

// read goes through a document from top to bottom.
func (n newcomer) read(t *testing.T, document doctest.Document) {
	t.Helper()
	var line, printed, query, variables string
	seen := bound{} // in this document
	edits := edits{document: document}
	for _, block := range document.Blocks() {
		switch block.Info {
		case "sh":
			for _, line = range strings.Split(strings.TrimSpace(block.Text), "\n") {
				printed = n.run(t, document.Path, line)
			}
		case "text":
			if line == "" {
				t.Errorf("%s:%d: a block of text without a command before it", document.Path, block.Line)
				continue
			}
			if got, want := sameEachTime(line, printed), sameEachTime(line, block.Text); got != want {
				edits.replace(t, block, printed, cmp.Diff(want, got))
			}
		case "graphql":
			query, variables = block.Text, "null"
		case "json variables":
			variables = block.Text
		case "json":
			if query == "" {
				decoded(t, []byte(block.Text)) // not an answer: the form of a file or a message
				continue
			}
			answer := n.server.askWith(seen.apply(query), seen.apply(variables))
			if diff := seen.compare(t, strings.HasPrefix(query, "mutation"), block.Text, answer); diff != "" {
				edits.replace(t, block, seen.restore(fit(t, withoutExtensions(t, block.Text, answer), ""))+"\n", diff)
			}
		case "shell", "http", "nginx", "js", "kotlin", "yaml", "mermaid", "html", "css", "":
		default:
			t.Errorf("%s:%d: no test knows what to do with a block of %q", document.Path, block.Line, block.Info)
		}
	}
	edits.write(t)
}

// run runs a command, unless it ran before, and returns its output.
func (n newcomer) run(t *testing.T, document, line string) string {
	t.Helper()
	if takesLong.MatchString(line) {
		return "" // run is running; the others take long, and TestCommandLines knows their names
	}
	if printed, done := n.done[line]; done {
		return printed
	}
	if strings.Contains(line, " author erase ") { // which waits for half a minute, and of which no document shows the output
		n.waiting.Go(func() { n.shell(t, document, line) })
		n.done[line] = ""
	} else {
		n.done[line] = n.shell(t, document, line)
	}
	return n.done[line]
}

// shell runs a command that has to succeed, and returns its output.
func (n newcomer) shell(t *testing.T, document, line string) string {
	t.Helper()
	// The drill restores every 20th comment: to write all of them once more takes as long as all other
	// commands together.
	here := strings.NewReplacer("http://127.0.0.1:8080", n.server.address,
		"--force drill.jsonl.gz", "--force drill.jsonl.gz; gunzip -c drill.jsonl.gz | awk 'NR % 20 == 1' | gzip > few; mv few drill.jsonl.gz")
	shell := exec.Command("sh", "-ec", here.Replace(line))
	shell.Dir = n.folder
	shell.Env = append(os.Environ(), "TALKBACK_DATA="+n.data)
	out, err := shell.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte(`"errors"`)) {
		t.Errorf("%s: %s\n%v\n%s", document, line, err, out)
	}
	return string(out)
}

// takesLong are the commands of the program's developers.
var takesLong = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:make|go) `)

var (
	milliseconds = regexp.MustCompile(`milliseconds: [\d.]+`)
	numbers      = regexp.MustCompile(`\d[\d.,]*`)
	progress     = regexp.MustCompile(`(?m)^[\d,]+ \w+, [\d,]+ \w+/s.*\n`) // if a command takes seconds
)

// sameEachTime is the stable part of a command's output. Where other commands of this run or the
// machine's speed change numbers, it keeps the words.
func sameEachTime(line, printed string) string {
	if strings.Contains(line, " show ") || strings.Contains(line, " explain ") || strings.Contains(line, " cost ") {
		return milliseconds.ReplaceAllString(printed, "")
	}
	return numbers.ReplaceAllString(progress.ReplaceAllString(printed, ""), "#")
}

// edits are the changes of a document that -update makes.
type edits struct {
	document doctest.Document
	text     string // "" before the first one
	shift    int    // how far the text after the last edit has moved
}

// replace reports that a block differs from the actual output, or with -update corrects it.
func (e *edits) replace(t *testing.T, block doctest.Block, text, diff string) {
	t.Helper()
	if !goldentest.Updating() {
		t.Errorf("%s:%d shows another output or answer; if the new one is right, run the test with -update\n%s", e.document.Path, block.Line, diff)
		return
	}
	if e.text == "" {
		e.text = e.document.Text
	}
	start := block.Start + e.shift
	e.text = e.text[:start] + text + e.text[start+len(block.Text):]
	e.shift += len(text) - len(block.Text)
}

func (e *edits) write(t *testing.T) {
	t.Helper()
	if e.text == "" {
		return
	}
	must.Do(t, os.WriteFile(filepath.Join("..", filepath.FromSlash(e.document.Path)), []byte(e.text), 0o644))
}

// bound maps ids, cursors and times in documents, which differ from run to run, to those of this
// run.
type bound map[string]string

// minted are the forms of texts that a mutation generates.
var minted = []*regexp.Regexp{
	regexp.MustCompile(`^c_[0-9A-Z]{26}$`),
	regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+Z$`),
}

// apply replaces a document's texts by those of this run.
func (b bound) apply(text string) string {
	for shown, is := range b {
		text = strings.ReplaceAll(text, `"`+shown+`"`, `"`+is+`"`)
	}
	return text
}

// restore replaces this run's texts by those of the document.
func (b bound) restore(text string) string {
	for shown, is := range b {
		text = strings.ReplaceAll(text, `"`+is+`"`, `"`+shown+`"`)
	}
	return text
}

// compare compares an answer with the one in a document. Texts that a mutation generates are bound
// and do not differ.
func (b bound) compare(t *testing.T, mutation bool, shown string, answer []byte) string {
	t.Helper()
	want, got := decoded(t, []byte(b.apply(shown))), decoded(t, answer)
	if _, wanted := want["extensions"]; !wanted {
		delete(got, "extensions")
	}
	if mutation {
		b.bind(want, got)
		want = decoded(t, []byte(b.apply(shown)))
	}
	return cmp.Diff(want, got)
}

// bind finds the generated texts.
func (b bound) bind(want, got any) {
	switch w := want.(type) {
	case map[string]any:
		if g, same := got.(map[string]any); same {
			for key := range w {
				b.bind(w[key], g[key])
			}
		}
	case string:
		if g, same := got.(string); same && w != g && slices.ContainsFunc(minted, func(form *regexp.Regexp) bool {
			return form.MatchString(w) && form.MatchString(g)
		}) {
			b[w] = g
		}
	}
}

func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

// withoutExtensions returns an answer without extensions, if the document shows none.
func withoutExtensions(t *testing.T, shown string, answer []byte) []byte {
	t.Helper()
	if strings.Contains(shown, `"extensions"`) {
		return answer
	}
	text, _, _ := strings.Cut(string(answer), `,"extensions":{"cost"`)
	return []byte(strings.TrimSuffix(text, "}") + "}")
}

// fit formats JSON as documents show it: a value that fits stands on one line, except for the
// outermost.
func fit(t *testing.T, text json.RawMessage, indent string) string {
	t.Helper()
	const columns = 92
	opening, closing, parts := partsOf(t, text)
	line := flat(t, text)
	if len(parts) == 0 || indent != "" && len(indent)+len(line) <= columns {
		return line
	}
	var lines []string
	for _, part := range parts {
		lines = append(lines, indent+"  "+part.name+fit(t, part.value, indent+"  "))
	}
	return opening + "\n" + strings.Join(lines, ",\n") + "\n" + indent + closing
}

// flat is JSON on one line.
func flat(t *testing.T, text json.RawMessage) string {
	t.Helper()
	opening, closing, parts := partsOf(t, text)
	if opening == "" {
		return string(text)
	}
	var all []string
	for _, part := range parts {
		all = append(all, part.name+flat(t, part.value))
	}
	return opening + strings.Join(all, ", ") + closing
}

// part is an element of an array, or a member of an object with its name.
type part struct {
	name  string // with its quotes, colon and space
	value json.RawMessage
}

// partsOf splits an array or an object; opening is empty for anything else.
func partsOf(t *testing.T, text json.RawMessage) (opening, closing string, parts []part) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	first, err := decoder.Token()
	delimiter, is := first.(json.Delim)
	if err != nil || !is {
		return "", "", nil
	}
	for decoder.More() {
		var p part
		if delimiter == '{' {
			name := must.Get(decoder.Token())(t)
			p.name = strconv.Quote(name.(string)) + ": "
		}
		must.Do(t, decoder.Decode(&p.value))
		parts = append(parts, p)
	}
	return delimiter.String(), map[json.Delim]string{'{': "}", '[': "]"}[delimiter], parts
}

// newcomersFolder makes a folder with the program and the files that the documents mention.
func newcomersFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	bin := must.Get(filepath.Abs("../bin"))(t)
	must.Do(t, os.Symlink(bin, filepath.Join(folder, "bin")))
	must.Do(t, os.Symlink(filepath.Join(filepath.Dir(bin), "docs"), filepath.Join(folder, "docs")))
	tsv := gzipped(t, "marketplace\treview_id\tproduct_id\tstar_rating\treview_headline\treview_date\n"+
		"UK\tR1\tB1\t5\tLovely\t2015-08-20\nDE\tR2\tB1\t2\tNaja\t2015-08-21\n")
	for name, content := range map[string]string{
		"reviews.jsonl":  readFile(t, "testdata/api/kettle/data.jsonl"),
		"reviews.tsv.gz": tsv,
		"avis.csv":       "id,product,rating,Avis,Date\n1,tasse,5,\"Très bien, merci\",2024-01-01\n",
	} {
		writeFile(t, filepath.Join(folder, name), content)
	}
	return folder
}
