package clients

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/servertest"
)

// The guide's supergraph answers, by its own commands and files. Only the addresses are others, and
// the comments.
func TestSupergraphOfTheGuide(t *testing.T) {
	needGateways(t)
	url := tableOf(t, dynamotest.Dynoxide(t), "espresso-machine")("")
	r := reader{folder: t.TempDir(), addresses: map[string]string{"http://127.0.0.1:8080/graphql": url}}
	modules, err := filepath.Abs("gateway/node_modules")
	must.Do(t, cmp.Or(err, os.Symlink(modules, filepath.Join(r.folder, "node_modules"))))
	var said string
	for _, block := range doctest.Read(t, "docs/guide/federation.md").Blocks() {
		switch block.Info {
		case "shell":
			for _, line := range strings.Split(strings.TrimSpace(block.Text), "\n") {
				said = r.run(t, line)
			}
		case "json":
			if diff := gocmp.Diff(shape(t, block.Text), shape(t, said)); said != "" && diff != "" {
				t.Errorf("line %d: %s", block.Line, diff)
			}
			said = ""
		}
	}
}

// reader does what the guide says, in a folder.
type reader struct {
	folder    string
	addresses map[string]string // of the guide, with those that are used here
}

// run runs a command of the guide, and returns what it printed. One that serves goes on until the
// test ends.
func (r reader) run(t *testing.T, line string) string {
	t.Helper()
	words := strings.Fields(line)
	switch {
	case words[0] == "talkback": // it runs in this process
	case words[0] == "npm":
		r.install(t, words[2:])
	case words[0] == "node":
		text := read(t, filepath.Join("gateway/guide", words[1]))
		here := listening.ReplaceAllString(r.used(text), announced)
		must.Do(t, os.WriteFile(filepath.Join(r.folder, words[1]), []byte(here), 0o600))
		if port := listening.FindStringSubmatch(text); port != nil {
			r.addresses["127.0.0.1:"+port[1]] = "127.0.0.1:" + r.start(t, words)
			break
		}
		run(t, r.folder, words)
	default:
		out, err := exec.CommandContext(t.Context(), "sh", "-ec", r.used(line)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	return ""
}

// used returns a text of the guide with the addresses that are used here.
func (r reader) used(text string) string {
	var pairs []string
	for address, here := range r.addresses {
		pairs = append(pairs, address, here)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// install checks that packages are installed: `make provision` fetched them.
func (reader) install(t *testing.T, packages []string) {
	t.Helper()
	var manifest struct{ DevDependencies map[string]string }
	must.Do(t, json.Unmarshal([]byte(read(t, "gateway/package.json")), &manifest))
	for _, name := range packages {
		if name = strings.TrimSuffix(name, "@16"); manifest.DevDependencies[name] == "" {
			t.Errorf("the guide installs %s, which the tests do not have", name)
		}
	}
}

// listening is how the guide's servers listen, and announced how they do here: on a free port,
// which they print.
var listening = regexp.MustCompile(`\.listen\((\d+), "127\.0\.0\.1"\)`)

const announced = `.listen(0, "127.0.0.1", function () { console.log(this.address().port); })`

// start starts a server, and returns its port once it listens.
func (r reader) start(t *testing.T, command []string) (port string) {
	t.Helper()
	process := exec.CommandContext(t.Context(), command[0], command[1:]...)
	process.Dir = r.folder
	return servertest.Says(t, process, process.StdoutPipe, regexp.MustCompile(`^\d+$`))[0]
}

var number = regexp.MustCompile(`\b\d+(\.\d+)?\b`)

// shape returns an answer as it is for any comments: all numbers are 0.
func shape(t *testing.T, answer string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(number.ReplaceAllString(cmp.Or(answer, "null"), "0")), &value); err != nil {
		t.Fatalf("%v\n%s", err, answer)
	}
	return value
}
