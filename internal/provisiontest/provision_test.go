package provisiontest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// At each start, a local engine that is not the one that was pinned is replaced, or at least taken
// away.
func TestChangedEngineIsFetchedAnew(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("left out: the provisioning of Dynoxide, which is packaged for Linux on x86-64 only")
	}
	const pinned = "the pinned program"
	for _, test := range []struct {
		why, there, fetched string
		want                string
		fetches, fails      bool
	}{
		{why: "the pinned one stays", there: pinned, fetched: "never", want: pinned},
		{why: "a changed one is replaced", there: "another", fetched: pinned, want: pinned, fetches: true},
		{why: "a missing one is fetched", fetched: pinned, want: pinned, fetches: true},
		{why: "a changed one that cannot be replaced is taken away", there: "another", fetched: "a third", fetches: true, fails: true},
	} {
		t.Run(test.why, func(t *testing.T) {
			root := provisionFolder(t, pinned, test.fetched)
			binary := filepath.Join(root, "bin", "dynoxide")
			if test.there != "" {
				write(t, binary, test.there)
			}
			run := exec.Command(filepath.Join(root, "internal", "provision", "dynoxide.sh"))
			run.Env = append(os.Environ(), "PATH="+filepath.Join(root, "path")+":"+os.Getenv("PATH"))
			output, err := run.CombinedOutput()
			if (err != nil) != test.fails {
				t.Errorf("it ends with %v: %s", err, output)
			}
			if got, _ := os.ReadFile(binary); string(got) != test.want {
				t.Errorf("bin/dynoxide is %q, want %q", got, test.want)
			}
			if fetches := strings.Contains(string(output), "fetching"); fetches != test.fetches {
				t.Errorf("fetching is %v, want %v: %s", fetches, test.fetches, output)
			}
		})
	}
}

// provisionFolder is a copy of the scripts that pins a program of the given text, with an npm on
// its path that brings another.
func provisionFolder(t *testing.T, pinned, brought string) string {
	t.Helper()
	root := Root(t)
	folder := t.TempDir()
	scripts := filepath.Join(folder, "internal", "provision")
	must.Do(t, os.CopyFS(scripts, os.DirFS(filepath.Join(root, "internal", "provision"))))
	write(t, filepath.Join(scripts, "dynoxide.sha256"), fmt.Sprintf("%x  dynoxide\n", sha256.Sum256([]byte(pinned))))
	to := filepath.Join(folder, ".cache", "dynoxide", "node_modules", "@dynoxide", "linux-x64")
	write(t, filepath.Join(folder, "path", "npm"), fmt.Sprintf("#!/bin/sh\nmkdir -p %s\nprintf %%s '%s' >%s/dynoxide\n", to, brought, to))
	return folder
}

// write makes an executable file, and the folders that it needs.
func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o755))
}
