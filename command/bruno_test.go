package command_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
)

// brunoFolder is the collection of requests for Bruno, which reads a folder of text files.
const brunoFolder = "../docs/bruno"

// brunoFile returns the request of an example, as Bruno writes it: blocks whose lines are indented.
func brunoFile(number int, query, variables string) string {
	heading, _, _ := strings.Cut(strings.TrimPrefix(query, "# "), "\n")
	name, shows, _ := strings.Cut(heading, ": ")
	text := fmt.Sprintf("meta {\n  name: %s\n  type: graphql\n  seq: %d\n}\n\npost {\n  url: {{url}}/graphql\n  body: graphql\n  auth: none\n}\n", name, number)
	for _, block := range []struct{ name, text string }{{"body:graphql", query}, {"body:graphql:vars", variables}, {"docs", shows}} {
		if block.text = strings.TrimSpace(block.text); block.text != "" {
			text += "\n" + block.name + " {\n  " + strings.ReplaceAll(block.text, "\n", "\n  ") + "\n}\n"
		}
	}
	return text
}

// brunoBlock returns the text of a block of a Bruno file, or "" without such a block.
func brunoBlock(file, name string) string {
	_, after, _ := strings.Cut("\n"+file, "\n"+name+" {\n")
	block, _, _ := strings.Cut(after, "\n}\n")
	return strings.ReplaceAll(strings.TrimPrefix(block, "  "), "\n  ", "\n")
}

// readIfThere reads a file, or returns "" if it does not exist.
func readIfThere(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// The collection has the examples of the explorer, and no others. -update writes it.
func TestBrunoCollection(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Glob("../web/explorer/examples/*.graphql")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples found: %v", err)
	}
	for i, example := range examples {
		base := strings.TrimSuffix(example, ".graphql")
		want := brunoFile(i+1, readIfThere(t, example), readIfThere(t, base+".json"))
		goldentest.Compare(t, filepath.Join(brunoFolder, filepath.Base(base)+".bru"), []byte(want))
	}
	if found, err := filepath.Glob(brunoFolder + "/*.bru"); err != nil || len(found) != len(examples) {
		t.Errorf("%d requests for %d examples: %v; delete those of examples that are gone", len(found), len(examples), err)
	}
}

// runBruno sends every request of the collection to a server with the sample data. Each is answered
// without an error.
func runBruno(t *testing.T, s *server) {
	t.Helper()
	files, err := filepath.Glob(brunoFolder + "/*.bru")
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests found: %v", err)
	}
	for _, path := range files {
		file := readIfThere(t, path)
		variables := brunoBlock(file, "body:graphql:vars")
		variables = cmp.Or(variables, "null")
		answer := s.askWith(brunoBlock(file, "body:graphql"), variables)
		var parsed struct{ Data, Errors json.RawMessage }
		if err := json.Unmarshal(answer, &parsed); err != nil || parsed.Data == nil || parsed.Errors != nil {
			t.Errorf("%s: %v %s", path, err, answer)
		}
	}
}
