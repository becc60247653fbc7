// Package contract holds schema.graphqls to what outside programs rely on: names and descriptions
// as two linters want them, and no breaking change since the last release, whose schema is
// released.graphqls.
package contract

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/provisiontest"
)

// patience bounds every wait for a program. It is reached only by a failure.
const patience = 2 * time.Minute

// Names and descriptions are as the linters want them. What they may not ask for, their settings
// say with the reason.
func TestSchemaIsLinted(t *testing.T) {
	folder := installed(t)
	write(t, folder, "schema.graphqls", schema(t))
	if said, err := node(t, folder, "node_modules/.bin/graphql-schema-linter", "schema.graphqls"); err != nil {
		t.Errorf("graphql-schema-linter: %v\n%s", err, said)
	}
	if said, err := node(t, folder, "node_modules/eslint/bin/eslint.js", "schema.graphqls"); err != nil {
		t.Errorf("graphql-eslint: %v\n%s", err, said)
	}
}

// What was released stays as it is for the programs that use it.
func TestNothingBreaksSinceTheRelease(t *testing.T) {
	folder := installed(t)
	now := schema(t)
	for _, row := range []struct {
		why, schema string
		breaks      string
	}{
		{"as it is", now, ""},
		{"a field that is gone", strings.Replace(now, "\n  version: Int!", "\n  revision: Int!", 1), "version"},
		{"an argument that is required", strings.Replace(now, "lang: Language", "lang: Language!", 1), "lang"},
	} {
		write(t, folder, "schema.graphqls", row.schema)
		said, err := node(t, folder, "changes.mjs", "released.graphqls", "schema.graphqls")
		if (err != nil) != (row.breaks != "") || !strings.Contains(said, row.breaks) {
			t.Errorf("%s: %v\n%s", row.why, err, said)
		}
	}
}

// schema returns the schema as it is now.
func schema(t *testing.T) string {
	t.Helper()
	return string(must.Get(os.ReadFile("../../schema.graphqls"))(t))
}

// installed returns a folder with the linters and their settings. Without them, the test is left
// out.
func installed(t *testing.T) string {
	t.Helper()
	modules := provisiontest.Packages(t, "the lint of the schema", "internal/contract", "internal/contract")
	folder := t.TempDir()
	for _, name := range []string{"changes.mjs", "eslint.config.mjs", "graphql-schema-linter.config.js", "released.graphqls"} {
		raw := must.Get(os.ReadFile(name))(t)
		write(t, folder, name, string(raw))
	}
	must.Do(t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	return folder
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
}

// node runs a program in a folder, and returns what it says.
func node(t *testing.T, folder string, arguments ...string) (said string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	process := exec.CommandContext(ctx, "node", arguments...)
	process.Dir = folder
	out, err := process.CombinedOutput()
	return string(out), err
}
