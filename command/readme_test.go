package command_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// blocks are the fenced blocks of the README in a language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(text, -1) {
		out = append(out, string(match[1]))
	}
	if len(out) == 0 {
		t.Fatalf("the README has no block of %s", language)
	}
	return out
}

// What the README tells a newcomer to do works as it says: `make run`, its other commands beside that, its query with
// its answer, and Ctrl-C.
func TestReadme(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	run := exec.Command("make", "run")
	run.Dir = ".."
	run.Env = append(os.Environ(), "TALKBACK_DATA="+data, "TALKBACK_LISTEN=127.0.0.1:0")
	s := follow(t, run)

	waitForTotal(t, s, blocks(t, "json")[0])
	answer := s.ask(blocks(t, "graphql")[0])
	if diff := cmp.Diff(indented(t, blocks(t, "json")[0]), indented(t, answer)); diff != "" {
		t.Errorf("the README's query has another answer now:\n%s\n%s", answer, diff)
	}
	folder := newcomersFolder(t)
	shown := runLine(t, "bin/talkback show "+regexp.MustCompile(`show (c_\w+)`).FindStringSubmatch(strings.Join(blocks(t, "sh"), ""))[1], folder, data)
	if diff := cmp.Diff(blocks(t, "text")[0], shown); diff != "" {
		t.Errorf("the README's comment is shown otherwise now: %s", diff)
	}
	for _, block := range blocks(t, "sh") {
		for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
			runLine(t, strings.ReplaceAll(line, "http://127.0.0.1:8080", s.address), folder, data)
		}
	}

	// Ctrl-C in a terminal reaches make and the program alike.
	if err := syscall.Kill(-run.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if _, said := s.wait(); strings.Contains(said, "talkback: ") {
		t.Errorf("Ctrl-C did not end it gracefully:\n%s", said)
	}
}

// waitForTotal waits until the product of the README's query is counted as its answer says. Once the server
// has shown its counts, it plans by them.
func waitForTotal(t *testing.T, s *server, answer string) {
	t.Helper()
	total := regexp.MustCompile(`"total": (\d+)`).FindStringSubmatch(answer)[1]
	for deadline := time.Now().Add(patience); ; {
		now := s.ask(`{ product(id: "espresso-machine") { stats { total } } }`)
		if strings.Contains(now, `"total":`+total+`}`) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the comments are not counted: %s, want %s", now, total)
		}
	}
}

// runLine runs a command of the README and gives what it printed.
func runLine(t *testing.T, line, folder, data string) string {
	t.Helper()
	if target, isMake := strings.CutPrefix(line, "make "); isMake {
		makefile, err := os.ReadFile("../Makefile")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(makefile, []byte("\n"+target+":")) {
			t.Errorf("the README says %q, which the Makefile does not know", line)
		}
		return "" // run is running; CI runs test and bench
	}
	shell := exec.Command("sh", "-ec", line)
	shell.Dir = folder
	shell.Env = append(os.Environ(), "TALKBACK_DATA="+data)
	out, err := shell.CombinedOutput()
	if err != nil || bytes.Contains(out, []byte(`"errors"`)) {
		t.Errorf("%s\n%v\n%s", line, err, out)
	}
	return string(out)
}

// newcomersFolder holds the program and the files that the README speaks of.
func newcomersFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	bin, err := filepath.Abs("../bin")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, filepath.Join(folder, "bin")); err != nil {
		t.Fatal(err)
	}
	jsonl, err := os.ReadFile("testdata/api/kettle/data.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var tsv bytes.Buffer
	zip := gzip.NewWriter(&tsv)
	_, _ = zip.Write([]byte("marketplace\treview_id\tproduct_id\tstar_rating\treview_headline\treview_date\n" +
		"UK\tR1\tB1\t5\tLovely\t2015-08-20\nDE\tR2\tB1\t2\tNaja\t2015-08-21\n")) // a buffer takes all
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"reviews.jsonl":  jsonl,
		"reviews.tsv.gz": tsv.Bytes(),
		"avis.csv":       []byte("id,product,rating,Avis,Date\n1,tasse,5,\"Très bien, merci\",2024-01-01\n"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func indented(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return strings.TrimSpace(out.String())
}
