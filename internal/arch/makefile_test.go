package arch

import (
	"os"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// CONTRIBUTING.md names every target of the Makefile.
func TestTargetsAreDocumented(t *testing.T) {
	makefile := must.Get(os.ReadFile("../../Makefile"))(t)
	guide := must.Get(os.ReadFile("../../CONTRIBUTING.md"))(t)
	_, rest, _ := strings.Cut(string(makefile), ".PHONY: ")
	targets, _, _ := strings.Cut(rest, "\n")
	for _, target := range strings.Fields(targets) {
		if !strings.Contains(string(guide), "`make "+target+"`") {
			t.Errorf("CONTRIBUTING.md does not tell what `make %s` does", target)
		}
	}
}
