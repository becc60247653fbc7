// Package releases tests what `make release` publishes.
package releases

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// made returns the files of a release of the module in a folder, for linux/amd64, by their names
// without the version. What is compiled for it goes to another cache, if one is given.
func made(t *testing.T, module, cache string, arguments ...string) map[string][]byte {
	t.Helper()
	out := t.TempDir()
	command := releaseOf(t, module, out, append([]string{"-engine", "linux/amd64=" + provisiontest.DynoxideBinary(t),
		"-with", filepath.Join(provisiontest.Root(t), "docs", "design"), "-with", filepath.Join(out, "no such file")}, arguments...)...)
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

// releaseOf returns the command that makes a release of the module in a folder, for linux/amd64.
func releaseOf(t *testing.T, module, out string, arguments ...string) *exec.Cmd {
	bin := func(name string) string { return provisiontest.Fetched(t, "releases", "bin/"+name) }
	command := exec.Command(bin("talkback-release"), append([]string{"-root", module, "-out", out, "-program", bin("talkback"), "-systems", "linux/amd64"}, arguments...)...)
	command.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	return command
}

// Two releases whose programs are compiled at two paths, with two caches, are the same to the byte.
// It is a small program of a module of its own, as compiling ours twice takes minutes. Go's runtime
// is the same at both paths, and is compiled once.
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
	root := provisiontest.Root(t)
	must.Do(t, os.CopyFS(filepath.Join(path, "infra", "linux"), os.DirFS(filepath.Join(root, "infra", "linux"))))
	for _, name := range []string{"internal/provision/dynoxide-licences.txt", "web/explorer/dist/licences.txt.gz", "web/component/dist/talkback.js.gz"} {
		must.Do(t, os.MkdirAll(filepath.Join(path, filepath.Dir(name)), 0o755))
		must.Do(t, os.WriteFile(filepath.Join(path, name), must.Get(os.ReadFile(filepath.Join(root, name)))(t), 0o600))
	}
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
	program := filepath.Join(root, "bin", "talkback")
	files := made(t, root, "", "-built", "linux/amd64="+program, "-function", program)
	want := []string{"SHA256SUMS", "design.tar.gz", "image.tar", "lambda_arm64.zip", "linux_amd64.cdx.json", "linux_amd64.deb", "linux_amd64.rpm", "linux_amd64.tar.gz"}
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
		folder := t.TempDir()
		run(t, tool, "--extract", name, folder)
		ofLicences(t, string(must.Get(os.ReadFile(filepath.Join(folder, "usr/share/doc/talkback/copyright")))(t)), "TERMS AND CONDITIONS FOR USE", "tokio 1.")
	})
	t.Run("rpm", func(t *testing.T) {
		tool := provisiontest.Program(t, "rpm", "packages for Red Hat")
		name := write(t, files["linux_amd64.rpm"])
		contains(t, run(t, tool, "--checksig", "--nosignature", name), "digests OK")
		contains(t, run(t, tool, "-qp", "--nosignature", "--qf", "%{NAME} %{ARCH} %{LICENSE}\n", "--scripts", name), "talkback x86_64 Apache-2.0 AND ", " AND MPL-2.0", "useradd", "disable --now")
		contains(t, run(t, tool, "-qplv", "--nosignature", name), installed...)
	})
	t.Run("list of modules", func(t *testing.T) { ofList(t, files["linux_amd64.cdx.json"]) })
	t.Run("image", func(t *testing.T) { ofImage(t, files["image.tar"]) })
	t.Run("function", func(t *testing.T) {
		content := files["lambda_arm64.zip"]
		archive := must.Get(zip.NewReader(bytes.NewReader(content), int64(len(content))))(t)
		ofLicences(t, string(must.Get(fs.ReadFile(archive, "THIRD-PARTY-LICENSES"))(t)))
		for _, name := range []string{"LICENSE", "bootstrap"} {
			must.Get(fs.Stat(archive, name))(t)
		}
	})
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
	page, licences := "", ""
	for head, text := range members(t, zipped) {
		_, name, _ := strings.Cut(head.Name, "/")
		names = append(names, fmt.Sprintf("%s %o", name, head.Mode))
		switch name {
		case "talkback.1":
			page = string(text)
		case "THIRD-PARTY-LICENSES":
			licences = string(text)
		}
		if head.ModTime.Unix() != 1700000000 {
			t.Errorf("%s is of %v", name, head.ModTime)
		}
	}
	want := []string{
		"LICENSE 644", "README.md 644", "THIRD-PARTY-LICENSES 644", "completions/talkback.bash 644", "completions/talkback.fish 644", "completions/talkback.zsh 644",
		"dynoxide 755", "talkback 755", "talkback.1 644", "talkback.env 644", "talkback.service 644",
	}
	check.Equal(t, want, names)
	contains(t, page, ".TH TALKBACK 1", "--create-table", "explain")
	ofLicences(t, licences, "tokio 1.")
}

// ofLicences checks that a text has the licence of each module of the program, with the notices
// that Apache 2.0 asks for, and those of scripts, besides more that is wanted.
func ofLicences(t *testing.T, text string, more ...string) {
	t.Helper()
	info := must.Get(buildinfo.ReadFile(filepath.Join(provisiontest.Root(t), "bin", "talkback")))(t)
	wanted := append(more, "\nstd@"+info.GoVersion+": LICENSE\n", "\nnpm packages in the playground\n", "\npreact ", "AWS SDK for Go", "SoundCloud Ltd.",
		"Mozilla Public License, version 2.0", "Copyright 2009 The Go Authors.", "Additional IP Rights Grant (Patents)")
	for _, module := range info.Deps {
		wanted = append(wanted, "\n"+module.Path+"@"+module.Version+": ")
	}
	for _, part := range wanted {
		if !strings.Contains(text, part) {
			t.Errorf("the licences of others lack %q: %.200s", part, text)
		}
	}
}

// The local engine's package has no licences, so they are in a file here. It has those of each
// crate that the program names in its panics.
func TestLicencesOfTheEngine(t *testing.T) {
	program := must.Get(os.ReadFile(provisiontest.DynoxideBinary(t)))(t)
	folder := filepath.Join(provisiontest.Root(t), "internal", "provision")
	text := string(must.Get(os.ReadFile(filepath.Join(folder, "dynoxide-licences.txt")))(t))
	var of struct{ Dependencies map[string]string }
	parse(t, must.Get(os.ReadFile(filepath.Join(folder, "package.json")))(t), &of)
	if wanted := "Dynoxide " + of.Dependencies["@dynoxide/linux-x64"] + ","; !strings.HasPrefix(text, wanted) {
		t.Errorf("the licences are those of %.20q, not of %s", text, wanted)
	}
	crates := map[string]bool{}
	for _, found := range regexp.MustCompile(`registry/src/[^/]+/([a-z][a-zA-Z0-9_-]+?)-(\d+\.[0-9A-Za-z.+-]+)/`).FindAllSubmatch(program, -1) {
		crates[fmt.Sprintf("%s %s (", found[1], found[2])] = true
	}
	if len(crates) < 50 {
		t.Errorf("the engine names %d crates", len(crates))
	}
	for crate := range crates {
		if !strings.Contains(text, "\n"+crate) {
			t.Errorf("there is no licence of the crate %s", crate)
		}
	}
}

// A release of a program is refused if a module in it comes without a licence, or with one that
// forbids what a release does.
func TestLicencesThatAreRefused(t *testing.T) {
	gpl := "This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by\n" +
		"the Free Software Foundation, either version 3 of the License, or (at your option) any later version."
	for _, test := range []struct{ name, file, text, wanted string }{
		{"none", "README.md", "", "has no licence"},
		{"GPL", "LICENSE", gpl, "not among those"},
		{"unknown", "COPYING.txt", "All rights reserved.", "read it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root, proxy := smallModule(t, "a"), t.TempDir()
			other := map[string]string{"go.mod": "module example.com/other\n\ngo 1.26\n", "other.go": "package other\n\nfunc Say() { println(1) }\n", test.file: test.text}
			var packed bytes.Buffer
			archive := zip.NewWriter(&packed)
			for name, content := range other {
				must.Get(must.Get(archive.Create("example.com/other@v1.0.0/" + name))(t).Write([]byte(content)))(t)
			}
			must.Do(t, archive.Close())
			for name, content := range map[string]string{"v1.0.0.info": `{"Version":"v1.0.0"}`, "v1.0.0.mod": other["go.mod"], "v1.0.0.zip": packed.String()} {
				name = filepath.Join(proxy, "example.com", "other", "@v", name)
				must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o600)))
			}
			for name, value := range map[string]string{"GOPROXY": "file://" + proxy, "GONOSUMDB": "example.com", "GOMODCACHE": t.TempDir(), "GOFLAGS": "-modcacherw"} {
				t.Setenv(name, value)
			}
			write := func(name, text string) { must.Do(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600)) }
			write("main.go", "package main\n\nimport \"example.com/other\"\n\nfunc main() { other.Say() }\n")
			write("go.mod", "module example.com/small\n\ngo 1.26\n\nrequire example.com/other v1.0.0\n")
			for _, command := range []string{"go mod tidy", "go build -o small ."} {
				words := strings.Fields(command)
				step := exec.Command(words[0], words[1:]...)
				step.Dir = root
				if said, err := step.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", command, err, said)
				}
			}
			release := releaseOf(t, root, t.TempDir(), "-built", "linux/amd64="+filepath.Join(root, "small"))
			said, err := release.CombinedOutput()
			if err == nil {
				t.Error("the release is made")
			}
			contains(t, string(said), "example.com/other", test.wanted)
		})
	}
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
	explorer := must.Get(os.ReadFile(filepath.Join(provisiontest.Root(t), "web", "explorer", "dist", "licences.txt.gz")))(t)
	packages := strings.Split(string(must.Get(io.ReadAll(must.Get(gzip.NewReader(bytes.NewReader(explorer)))(t)))(t)), "\n"+strings.Repeat("-", 80)+"\n\n")
	if slices.Sort(refs); len(slices.Compact(refs)) != len(list.Components) || len(refs) != len(info.Deps)+len(packages)+3 {
		t.Errorf("%d are listed for %d modules, the standard library, %d packages of the playground, that of the element, and the engine",
			len(list.Components), len(info.Deps), len(packages))
	}
	for name, version := range map[string]string{"dynoxide": "1.2.1", "preact": "11.2.0", "monaco-editor": "0.52.2", "std": strings.TrimPrefix(info.GoVersion, "go")} {
		check.Equal(t, version, versions[name])
	}
	contains(t, string(content), `"pkg:npm/%40graphiql/react@`, `"id": "MPL-2.0"`)
}

// An upgrade restarts the service, a removal stops it, and neither fails where systemd refuses, as
// it does for a masked service.
func TestScriptsOfPackages(t *testing.T) {
	for _, row := range []struct{ script, argument, want string }{
		{"after-install.sh", "configure", "daemon-reload\ntry-restart talkback.service\n"},
		{"before-remove.sh", "upgrade", ""},
		{"before-remove.sh", "1", ""},
		{"before-remove.sh", "remove", "disable --now talkback.service\n"},
		{"before-remove.sh", "0", "disable --now talkback.service\n"},
	} {
		folder := t.TempDir()
		text := string(must.Get(os.ReadFile(filepath.Join(provisiontest.Root(t), "infra", "linux", row.script)))(t))
		script := "getent() { :; }\nsystemctl() { echo \"$*\"; return 1; }\n" + strings.ReplaceAll(text, "/run/systemd/system", folder)
		said, err := exec.Command("sh", "-c", script, row.script, row.argument).CombinedOutput()
		if err != nil || string(said) != row.want {
			t.Errorf("%s %s: %v, %q; want %q", row.script, row.argument, err, said, row.want)
		}
	}
}

// systemd-analyze finds nothing to say about the unit: it ends with status 0 after an unknown key.
// It starts a program again that crashed.
func TestUnit(t *testing.T) {
	tool := provisiontest.Program(t, "systemd-analyze", "the unit of systemd")
	unit := filepath.Join(provisiontest.Root(t), "infra", "linux", "talkback.service")
	said, err := exec.Command(tool, "verify", "--man=no", unit).CombinedOutput()
	missing := "talkback.service: Command /usr/bin/talkback is not executable: No such file or directory\n"
	if said := string(said); said != "" && said != missing {
		t.Errorf("%v: %s", err, said)
	}
	text := string(must.Get(os.ReadFile(unit))(t))
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	crash := exec.Command(filepath.Join(provisiontest.Root(t), "bin", "talkback"), "health", "--listen", listener.Addr().String())
	crash.Dir, crash.Env = t.TempDir(), []string{"PATH=/usr/bin"}
	for _, variable := range regexp.MustCompile(`(?m)^Environment=(.+)$`).FindAllStringSubmatch(text, -1) {
		crash.Env = append(crash.Env, variable[1])
	}
	must.Do(t, crash.Start())
	defer must.Get(listener.Accept())(t).Close()
	must.Do(t, crash.Process.Signal(syscall.SIGQUIT)) // the runtime crashes
	_ = crash.Wait()
	if status := fmt.Sprint("RestartPreventExitStatus=", crash.ProcessState.ExitCode()); strings.Contains(text, status+"\n") {
		t.Errorf("a crash ends with a status after which systemd does not start the service again: %s", status)
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
