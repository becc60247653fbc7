// Package releases tests what `make release` publishes.
package releases

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// made returns the files of a release of the module in a folder, for linux/amd64, by their names without the version.
// What is compiled for it goes to another cache, if one is given.
func made(t *testing.T, module, cache string, arguments ...string) map[string][]byte {
	t.Helper()
	bin := func(name string) string { return provisiontest.Fetched(t, "releases", "bin/"+name) }
	out := t.TempDir()
	command := exec.Command(bin("talkback-release"), append([]string{"-root", module, "-out", out, "-program", bin("talkback"), "-systems", "linux/amd64",
		"-engine", "linux/amd64=" + provisiontest.DynoxideBinary(t), "-with", filepath.Join(provisiontest.Root(t), "docs", "design"), "-with", filepath.Join(out, "no such file")}, arguments...)...)
	command.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	if cache != "" {
		command.Env = append(command.Env, "GOCACHE="+cache)
	}
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	entries, err := os.ReadDir(out)
	must.Do(t, err)
	files := map[string][]byte{}
	for _, entry := range entries {
		name := entry.Name()
		if parts := strings.SplitN(name, "_", 3); len(parts) == 3 {
			name = parts[2]
		}
		if files[name], err = os.ReadFile(filepath.Join(out, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Two releases whose programs are compiled at two paths, with two caches, are the same to the byte. It is a small
// program of a module of its own, as compiling ours twice takes minutes. Go's runtime is the same at both paths, and is
// compiled once.
func TestSameBytesAtTwoPaths(t *testing.T) {
	caches := []string{t.TempDir(), t.TempDir()}
	compile := exec.Command("go", "build", "-trimpath", "runtime")
	compile.Env = append(os.Environ(), "GOCACHE="+caches[0], "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "GOFLAGS=", "GOEXPERIMENT=")
	if said, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	must.Do(t, os.CopyFS(caches[1], os.DirFS(caches[0])))
	one, other := made(t, smallModule(t, "a"), caches[0]), made(t, smallModule(t, filepath.Join("another", "folder")), caches[1])
	if diff := cmp.Diff(slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(other))); diff != "" || len(one) < 7 {
		t.Errorf("a release has %d files: %s", len(one), diff)
	}
	for name, content := range one {
		if !bytes.Equal(content, other[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// smallModule returns a module with a commit, in a folder of the test.
func smallModule(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), folder)
	must.Do(t, os.CopyFS(filepath.Join(path, "infra", "linux"), os.DirFS(filepath.Join(provisiontest.Root(t), "infra", "linux"))))
	for name, content := range map[string]string{
		"go.mod": "module example.com/small\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() { println(\"small\") }\n", "LICENSE": "", "README.md": "",
	} {
		must.Do(t, os.WriteFile(filepath.Join(path, name), []byte(content), 0o600))
	}
	for _, arguments := range []string{"init --quiet", "add .", "-c user.name=a -c user.email=a@example.com commit --quiet -m small --date=2026-01-01T00:00:00Z"} {
		git := exec.Command("git", append([]string{"-C", path}, strings.Fields(arguments)...)...)
		git.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
		if said, err := git.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
	}
	return path
}

func TestRelease(t *testing.T) {
	root := provisiontest.Root(t)
	files := made(t, root, "", "-built", "linux/amd64="+filepath.Join(root, "bin", "talkback"))
	want := []string{"SHA256SUMS", "design.tar.gz", "image.tar", "linux_amd64.cdx.json", "linux_amd64.deb", "linux_amd64.rpm", "linux_amd64.tar.gz"}
	check.Equal(t, want, slices.Sorted(maps.Keys(files)))
	t.Run("sums", func(t *testing.T) {
		for line := range strings.Lines(string(files["SHA256SUMS"])) {
			sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			content := files[strings.SplitN(name, "_", 3)[2]]
			if fmt.Sprintf("%x", sha256.Sum256(content)) != sum {
				t.Errorf("the sum of %s is another", name)
			}
		}
	})
	t.Run("archive", func(t *testing.T) { ofArchive(t, files["linux_amd64.tar.gz"]) })
	t.Run("deb", func(t *testing.T) {
		tool := provisiontest.Program(t, "dpkg-deb", "packages for Debian")
		name := write(t, files["linux_amd64.deb"])
		contains(t, run(t, tool, "--info", name), "Package: talkback", "Architecture: amd64", "Depends: passwd", "conffiles")
		contains(t, run(t, tool, "--contents", name), installed...)
	})
	t.Run("rpm", func(t *testing.T) {
		tool := provisiontest.Program(t, "rpm", "packages for Red Hat")
		name := write(t, files["linux_amd64.rpm"])
		contains(t, run(t, tool, "--checksig", "--nosignature", name), "digests OK")
		contains(t, run(t, tool, "-qp", "--nosignature", "--qf", "%{NAME} %{ARCH} %{LICENSE}\n", "--scripts", name), "talkback x86_64 Apache-2.0", "useradd", "disable --now")
		contains(t, run(t, tool, "-qplv", "--nosignature", name), installed...)
	})
	t.Run("list of modules", func(t *testing.T) { ofList(t, files["linux_amd64.cdx.json"]) })
	t.Run("image", func(t *testing.T) { ofImage(t, files["image.tar"]) })
}

// installed is what packages put where.
var installed = []string{
	"/etc/talkback/talkback.env", "/usr/lib/talkback/talkback\n", "/usr/lib/talkback/dynoxide\n", "/usr/bin/talkback -> ../lib/talkback/talkback",
	"/usr/lib/systemd/system/talkback.service", "/usr/share/man/man1/talkback.1.gz", "/usr/share/bash-completion/completions/talkback",
	"/_talkback", "/usr/share/fish/vendor_completions.d/talkback.fish", "/usr/share/doc/talkback/copyright",
}

func ofArchive(t *testing.T, content []byte) {
	zipped := must.Get(gzip.NewReader(bytes.NewReader(content)))(t)
	var names []string
	page := ""
	for head, text := range members(t, zipped) {
		_, name, _ := strings.Cut(head.Name, "/")
		names = append(names, fmt.Sprintf("%s %o", name, head.Mode))
		if name == "talkback.1" {
			page = string(text)
		}
		if head.ModTime.Unix() != 1700000000 {
			t.Errorf("%s is of %v", name, head.ModTime)
		}
	}
	want := []string{
		"LICENSE 644", "README.md 644", "completions/talkback.bash 644", "completions/talkback.fish 644", "completions/talkback.zsh 644",
		"dynoxide 755", "talkback 755", "talkback.1 644", "talkback.env 644", "talkback.service 644",
	}
	check.Equal(t, want, names)
	contains(t, page, ".TH TALKBACK 1", "--create-table", "explain")
}

// The list names each module of the program once, and what it says of a dependency exists.
func ofList(t *testing.T, content []byte) {
	var list struct {
		BOMFormat    string
		Components   []struct{ BOMRef, Name, Version string }
		Dependencies []struct{ DependsOn []string }
	}
	content = bytes.ReplaceAll(content, []byte(`"bom-ref"`), []byte(`"BOMRef"`))
	if err := json.Unmarshal(content, &list); err != nil || list.BOMFormat != "CycloneDX" {
		t.Fatalf("%v: %.100s", err, content)
	}
	var refs []string
	versions := map[string]string{}
	for _, c := range list.Components {
		refs = append(refs, c.BOMRef)
		versions[c.Name] = c.Version
	}
	check.Equal(t, refs, list.Dependencies[0].DependsOn)
	info := must.Get(buildinfo.ReadFile(filepath.Join(provisiontest.Root(t), "bin", "talkback")))(t)
	for _, module := range info.Deps {
		if versions[module.Path] != module.Version {
			t.Errorf("%s is listed with version %q, not %s", module.Path, versions[module.Path], module.Version)
		}
	}
	if len(versions) != len(info.Deps)+2 {
		t.Errorf("%d names are listed for %d modules, the standard library and the engine", len(versions), len(info.Deps))
	}
}

// systemd-analyze finds nothing to say about the unit: it ends with status 0 after an unknown key.
func TestUnit(t *testing.T) {
	tool := provisiontest.Program(t, "systemd-analyze", "the unit of systemd")
	unit := filepath.Join(provisiontest.Root(t), "infra", "linux", "talkback.service")
	said, err := exec.Command(tool, "verify", "--man=no", unit).CombinedOutput()
	missing := "talkback.service: Command /usr/bin/talkback is not executable: No such file or directory\n"
	if text := string(said); text != "" && text != missing {
		t.Errorf("%v: %s", err, text)
	}
	if said, err := exec.Command(tool, "security", "--offline=true", "--threshold=20", unit).CombinedOutput(); err != nil {
		t.Errorf("%v: more is open to the service than an exposure of 2.0 allows:\n%s", err, said)
	}
}

func run(t *testing.T, program string, arguments ...string) string {
	t.Helper()
	said, err := exec.Command(program, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", program, arguments, err, said)
	}
	return string(said)
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(name, content, 0o600))
	return name
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in\n%.3000s", part, text)
		}
	}
}
