package command_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/must"
)

var update = flag.Bool("update", false, "write what is, instead of comparing with what should be")

// compareGolden compares text with a file.
func compareGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(path, got, 0o644))
	}
	want := must.Get(os.ReadFile(filepath.Clean(path)))(t)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what it was; if that is right, run the test with -update\n%s", path, diff)
	}
}

// pretty formats JSON for people.
func pretty(t *testing.T, value any) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must.Do(t, encoder.Encode(value))
	return out.Bytes()
}
