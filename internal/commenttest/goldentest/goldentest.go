// Package goldentest compares what tests get with files. Only tests import it.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is, instead of comparing with what should be")

// Updating reports whether the flag -update is set.
func Updating() bool { return *update }

// Compare compares content with a file, or writes the file if the flag -update is set.
func Compare[Text string | []byte](t *testing.T, path string, got Text) {
	t.Helper()
	if Updating() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what it was; if that is right, run the test with -update\n%s", path, diff)
	}
}
