package commenttest_test

import (
	"testing"

	"github.com/talkback/talkback/internal/commenttest"
)

// Two sources of a test that is run again by its seed differ: comments of both may be in one table.
func TestSourcesDiffer(t *testing.T) {
	t.Setenv("TALKBACK_TEST_SEED", "1")
	one, other := commenttest.Random(commenttest.Rand(t), "cup"), commenttest.Random(commenttest.Rand(t), "cup")
	if one.ID == other.ID {
		t.Errorf("both begin with comment %s", one.ID)
	}
}
