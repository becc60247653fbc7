package planner

import (
	"slices"
	"testing"
)

// Every number of comments has a class, and the bounds of the classes ascend.
func TestSizeClasses(t *testing.T) {
	if !slices.IsSorted(SizeBounds[:]) {
		t.Error("the bounds do not ascend")
	}
	for _, row := range []struct{ comments, class int }{
		{0, 0}, {1, 0}, {2, 1}, {4, 3}, {5, 4}, {6, 4}, {7, 5}, {16384, SizeClasses - 2}, {16385, SizeClasses - 1}, {1 << 40, SizeClasses - 1},
	} {
		if got := SizeClass(row.comments); got != row.class {
			t.Errorf("%d comments are of class %d, want %d", row.comments, got, row.class)
		}
	}
}
