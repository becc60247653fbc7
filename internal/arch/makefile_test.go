package arch

import (
	"os"
	"strings"
	"testing"
)

// CONTRIBUTING.md names every target of the Makefile.
func TestTargetsAreDocumented(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(makefile), ".PHONY: ")
	targets, _, _ := strings.Cut(rest, "\n")
	for _, target := range strings.Fields(targets) {
		if !strings.Contains(string(guide), "`make "+target+"`") {
			t.Errorf("CONTRIBUTING.md does not tell what `make %s` does", target)
		}
	}
}
