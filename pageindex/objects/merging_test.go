package objects

import (
	"testing"
)

func TestMergedRoot(t *testing.T) {
	const build = "some build"
	for _, row := range []struct {
		why            string
		after, through uint64
		want           string
	}{
		{"logs since the build began are merged beside it", 100, 120, build},
		{"a merge that began before the build ends after its begin", 120, 100, build},
		{"as many logs are held back as may be", 100, 100 + mostBuildLogs, build},
		{"a build that held back more has ended without a word", 100, 101 + mostBuildLogs, ""},
	} {
		before := Root{Generation: 7, Build: build, BuildAfter: row.after, Covers: "all"}
		got := mergedRoot(before, row.through, nil)
		if got.Build != row.want || got.Merged != row.through || got.Generation != 8 || got.Covers != "all" || before.Generation != 7 {
			t.Errorf("%s: %+v", row.why, got)
		}
	}
}
