package browsertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/talkback/talkback/internal/provisiontest"
)

// ValidHTML fails the test for each finding of html-validate in the served pages, which are given
// by name. Its rules are those of the HTML standard, within templates too.
//
// Without html-validate, which `make provision` fetches, the test is skipped, except under CI,
// where it fails. One call for many pages is cheaper than many calls.
func ValidHTML(t testing.TB, pages map[string][]byte) {
	t.Helper()
	program := provisiontest.Fetched(t, "the rules of HTML", ".cache/axe/node_modules/.bin/html-validate")
	folder := t.TempDir()
	report := filepath.Join(folder, "report.json") // a pipe would get at most one buffer of it
	names, arguments := map[string]string{}, []string{"--formatter", "json=" + report, "--config", filepath.Join(folder, "rules.json")}
	write(t, filepath.Join(folder, "rules.json"), []byte(`{"root": true, "extends": ["html-validate:standard"]}`))
	for name, page := range pages {
		path := filepath.Join(folder, fmt.Sprintf("%d.html", len(names)))
		names[path] = name
		write(t, path, page)
	}
	said, failed := exec.Command(program, append(arguments, slices.Sorted(maps.Keys(names))...)...).CombinedOutput()
	found, err := os.ReadFile(report)
	var results []struct {
		FilePath string
		Messages []struct {
			RuleID, Message string
			Line, Column    int
		}
	}
	if err != nil || json.Unmarshal(found, &results) != nil {
		t.Fatalf("html-validate: %v\n%s", failed, said)
	}
	for _, result := range results {
		for _, m := range result.Messages {
			t.Errorf("html-validate: %s, line %d, column %d: %s (%s)", names[result.FilePath], m.Line, m.Column, m.Message, m.RuleID)
		}
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
