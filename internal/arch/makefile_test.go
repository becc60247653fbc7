package arch

import (
	"strings"
	"testing"
)

// CONTRIBUTING.md names every target of the Makefile.
func TestTargetsAreDocumented(t *testing.T) {
	guide := read(t, "../../CONTRIBUTING.md")
	for target := range strings.FieldsSeq(between(read(t, "../../Makefile"), ".PHONY: ", "\n")) {
		if !strings.Contains(guide, "`make "+target+"`") {
			t.Errorf("CONTRIBUTING.md does not tell what `make %s` does", target)
		}
	}
}
