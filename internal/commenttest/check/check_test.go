package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/check"
)

// noted is a test that notes its errors.
type noted struct{ errors []string }

func (*noted) Helper() {}

func (n *noted) Error(args ...any) { n.errors = append(n.errors, fmt.Sprintln(args...)) }

func TestDifferencesAreReported(t *testing.T) {
	n := &noted{}
	check.Equal(n, []int{1, 2}, []int{1, 2}, "the same")
	if len(n.errors) > 0 {
		t.Errorf("what is equal is reported: %q", n.errors)
	}
	check.Equal(n, []int{1, 2}, []int{1, 3}, "call", 7)
	check.Equal(n, nil, []int{})
	if len(n.errors) != 2 || !strings.HasPrefix(n.errors[0], "call 7 (-want +got):\n") || !strings.Contains(n.errors[0], "3") {
		t.Errorf("two differences are reported as %q", n.errors)
	}
}
