package importer

import (
	"strings"
	"testing"
)

// A limit is a number of rows or a share of them. A share applies only to many rows, or at the end.
func TestLimit(t *testing.T) {
	for _, row := range []struct {
		why            string
		limit          string
		rejected, rows int
		end            bool
		exceeded       bool
	}{
		{"no limit", "", 1_000_000, 1_000_000, true, false},
		{"none may be rejected, and none is", "0", 0, 10, true, false},
		{"none may be rejected, and one is", "0", 1, 10, false, true},
		{"as many as may be", "100", 100, 1000, true, false},
		{"one more", "100", 101, 1000, false, true},
		{"a share of few rows", "1%", 999, 999, false, false},
		{"a share of few rows at the end", "1%", 1, 10, true, true},
		{"exactly the share", "1%", 10, 1000, false, false},
		{"more than the share", "1 %", 11, 1000, false, true},
		{"part of a percent", "0.1%", 2, 1000, false, true},
		{"all may be rejected", "100%", 1000, 1000, true, false},
	} {
		limit, err := ParseLimit(row.limit)
		if err != nil {
			t.Errorf("%s: %v", row.why, err)
		}
		if got := limit.exceeded(row.rejected, row.rows, row.end); got != row.exceeded {
			t.Errorf("%s: %d of %d, %q: %v", row.why, row.rejected, row.rows, row.limit, got)
		}
	}
	for _, wrong := range []string{"-1", "1.5", "many", "%", "0%", "-1%", "101%", "NaN%", " "} {
		if _, err := ParseLimit(wrong); err == nil || !strings.HasPrefix(err.Error(), "--max-rejects "+wrong) {
			t.Errorf("%q is a limit: %v", wrong, err)
		}
	}
}
