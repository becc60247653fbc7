package web

import (
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/schematest"
)

// example is one query of the explorer's Examples pane.
type example struct {
	title, query, operation string
	variables               map[string]any
}

// heading is the first line of an example's file, which the explorer's build reads too.
var heading = regexp.MustCompile(`^# ([^:\n"]+): [^\n]+\.\n`)

// examples reads the sources of the explorer's examples.
func examples(t *testing.T) []example {
	t.Helper()
	paths, err := filepath.Glob("explorer/examples/*.graphql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples found: %v", err)
	}
	var all []example
	for _, path := range paths {
		all = append(all, readExample(t, path))
	}
	return all
}

func readExample(t *testing.T, path string) example {
	t.Helper()
	query := must.Get(os.ReadFile(path))(t)
	found := heading.FindStringSubmatch(string(query))
	if found == nil {
		t.Fatalf(`%s: want "# Title: what it shows." as its first line`, path)
	}
	document := must.Get(parser.ParseQuery(&ast.Source{Name: path, Input: string(query)}))(t)
	// One operation each: with several, the run button would ask which.
	if len(document.Operations) != 1 || document.Operations[0].Name == "" {
		t.Fatalf("%s: want one operation, with a name", path)
	}
	return example{found[1], string(query), document.Operations[0].Name, readVariables(t, path)}
}

// readVariables reads the .json file beside an example, when there is one.
func readVariables(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(strings.TrimSuffix(path, ".graphql") + ".json")
	if os.IsNotExist(err) {
		return nil
	}
	var variables map[string]any
	if err := json.Unmarshal(text, &variables); err != nil {
		t.Fatalf("variables of %s: %v", path, err)
	}
	return variables
}

func TestExamplesAreValid(t *testing.T) {
	api := schematest.Load(t)
	for _, example := range examples(t) {
		if _, err := check(api, example.query, example.operation, example.variables); err != nil {
			t.Errorf("%s: %v", example.title, err)
		}
	}
}

func TestHomePageExampleIsValid(t *testing.T) {
	found := regexp.MustCompile(`(?s)'query=(.*?)'`).FindStringSubmatch(html.UnescapeString(body(t, "/")))
	if found == nil {
		t.Fatal("no query on the home page")
	}
	must.Get(check(schematest.Load(t), found[1], "NewestPraise", map[string]any{"id": "espresso-machine"}))(t)
}

// The built explorer is committed; this test notices without Node if the examples have changed
// since.
func TestExamplesAreInTheBuiltExplorer(t *testing.T) {
	scripts := ""
	for path, page := range pages {
		if strings.HasSuffix(path, ".js") {
			scripts += unpacked(t, page.packed())
		}
	}
	for _, example := range examples(t) {
		quoted, _ := json.Marshal(example.query)
		if !strings.Contains(scripts, example.query) && !strings.Contains(scripts, string(quoted)) {
			t.Errorf("%s: not in explorer/dist as it is in explorer/examples; run npm run build", example.title)
		}
	}
}
