package command

import (
	"runtime/debug"
	"testing"
)

// The version that a build prints, from a release to a copy without version control.
func TestVersion(t *testing.T) {
	t.Parallel()
	settings := func(pairs ...string) (out []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	const commit, date = "1b22a6c3e9b8d0ffb1f9a31b6f1f0d58cbe0c5d3", "2026-11-22T00:48:07Z"
	for _, row := range []struct {
		why, module string
		settings    []debug.BuildSetting
		want        string
	}{
		{
			"a release", "v1.4.0", settings("GOOS", "linux", "GOARCH", "amd64", "vcs.revision", commit, "vcs.time", date, "vcs.modified", "false"),
			"talkback v1.4.0 (commit 1b22a6c3e9b8 of 2026-11-22T00:48:07Z, go1.26.0 linux/amd64)",
		},
		{
			"work in progress", "(devel)", settings("GOOS", "darwin", "GOARCH", "arm64", "vcs.revision", commit, "vcs.time", date, "vcs.modified", "true"),
			"talkback (devel) (commit 1b22a6c3e9b8 of 2026-11-22T00:48:07Z with changes, go1.26.0 darwin/arm64)",
		},
		{"no version control", "", settings("GOOS", "linux", "GOARCH", "amd64"), "talkback (devel) (go1.26.0 linux/amd64)"},
	} {
		got := versionOf(&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: row.module}, Settings: row.settings})
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.why, got, row.want)
		}
	}
}
