package provisiontest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
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

// What cannot be fetched is said in one line, and all else goes on; with CI set, it fails. Nothing
// of it counts as done.
func TestWhatCannotBeHadIsLeftOut(t *testing.T) {
	root := provisionFolder(t, "", "")
	scripts := filepath.Join(root, "internal", "provision")
	for _, file := range []string{"web/check.sh", "web/component/package.json", "web/component/package-lock.json"} {
		write(t, filepath.Join(root, file), string(must.Get(os.ReadFile(filepath.Join(Root(t), file)))(t)))
	}
	for _, program := range []string{"apt-get", "go", "mvn", "npm", "python3"} {
		write(t, filepath.Join(root, "path", program), "#!/bin/sh\nexit 1\n")
	}
	write(t, filepath.Join(root, "path", "node"), "#!/bin/sh\necho 20\n")
	write(t, filepath.Join(root, "path", "java"), "#!/bin/sh\necho 'openjdk version \"17.0.1\"'; echo java.base@17\n")
	few := filepath.Join(root, "few")
	must.Do(t, os.Mkdir(few, 0o755))
	for _, program := range []string{"dirname", "id", "ls"} {
		must.Do(t, os.Symlink(must.Get(exec.LookPath(program))(t), filepath.Join(few, program)))
	}
	for _, row := range []struct {
		path    string // where programs are, if not those above before others
		command []string
		made    string // what stands for its success
	}{
		{few, []string{"debian.sh", "the nginx suite"}, ""},
		{"", []string{"go.sh", "s3server", "the S3 suite", "internal/provision/s3server"}, "bin/s3server.stamp"},
		{"", []string{"jars.sh", "a suite", ".cache/kotlin", "internal/provision/pom.xml", "internal/provision/dynamodb-local.sha256"}, ".cache/kotlin"},
		{"", []string{"jars.sh", "a suite", ".cache/kotlin", "internal/provision/pom.xml", "internal/provision/dynamodb-local.sha256", "jdk.compiler"}, ".cache/kotlin"},
		{"", []string{"npm.sh", "a suite", "internal/provision/axe", ".cache/axe"}, ".cache/axe/node_modules/stamp"},
		{"", []string{"pip.sh", "a suite", ".cache/kubernetes", "internal/provision/kubernetes.txt"}, ".cache/kubernetes/fetched"},
		{"", []string{"../../web/check.sh", "component"}, "web/component/node_modules/stamp"},
	} {
		// A stamp of other inputs is none of these, also if they come back.
		if row.made == "bin/s3server.stamp" {
			write(t, filepath.Join(root, row.made), "of others")
		}
		for _, ci := range []string{"", "true"} {
			run := exec.Command(filepath.Join(scripts, row.command[0]), row.command[1:]...)
			run.Env = append(os.Environ(), "PATH="+cmp.Or(row.path, filepath.Join(root, "path")+":"+os.Getenv("PATH")), "CI="+ci, "RACE=")
			output, err := run.CombinedOutput()
			if (err != nil) != (ci != "") || strings.Count("\n"+string(output), "\nleft out: ") != 1 {
				t.Errorf("%v with CI=%s: %v\n%s", row.command, ci, err, output)
			}
			if _, err := os.Stat(filepath.Join(root, row.made)); row.made != "" && err == nil {
				t.Errorf("%v counts as done: there is %s", row.command, row.made)
			}
		}
	}
}

// Each package.json has the packages of its package-lock.json. npm ci would refuse others, but it
// is not asked while the lock stays as it was.
func TestPackagesAreThoseOfTheirLocks(t *testing.T) {
	type list struct{ Dependencies, DevDependencies map[string]string }
	root, found := Root(t), 0
	must.Do(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "node_modules" || path != root && strings.HasPrefix(entry.Name(), ".")) {
			return cmp.Or(err, fs.SkipDir)
		}
		if entry.Name() != "package-lock.json" {
			return nil
		}
		found++
		var locked struct{ Packages map[string]list }
		var wanted list
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(path))(t), &locked))
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(filepath.Dir(path), "package.json")))(t), &wanted))
		if has := locked.Packages[""]; !maps.Equal(has.Dependencies, wanted.Dependencies) || !maps.Equal(has.DevDependencies, wanted.DevDependencies) {
			t.Errorf("%s has %v, its package.json %v", path, has, wanted)
		}
		return nil
	}))
	if found < 5 {
		t.Errorf("%d lists of packages were found", found)
	}
}

// write makes an executable file, and the folders that it needs.
func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, []byte(text), 0o755))
}
