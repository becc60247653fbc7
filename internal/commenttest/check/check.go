// Package check reports what a test got that it does not want. Only tests import it.
package check

import (
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// TB is the part of a test that reports an error and goes on. A test, a benchmark, a fuzz test and
// a check of package rapid have it.
type TB interface {
	Helper()
	Error(args ...any)
}

// Equal reports the difference if a test got something else than it wants, behind what it is about:
//
//	check.Equal(t, row.want, got, row.why)
func Equal(tb TB, want, got any, about ...any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Error(strings.TrimSpace(fmt.Sprintln(about...)), "(-want +got):\n"+diff)
	}
}
