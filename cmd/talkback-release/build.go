package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// maxProgram bounds the size of the program, in bytes.
const maxProgram = 60e6

// build is the program for one system.
type build struct {
	os, arch string
	path     string
	engine   string // path of the local engine, empty for none
	info     *buildinfo.BuildInfo
	notices  notices
}

func (b build) program() string {
	if b.os == "windows" {
		return "talkback.exe"
	}
	return "talkback"
}

// build builds the program for a system, unless it was built already.
func (r *release) build(system, scratch string) (build, error) {
	b := build{path: r.built[system], engine: r.engines[system]}
	b.os, b.arch, _ = strings.Cut(system, "/")
	if b.path == "" {
		b.path = filepath.Join(scratch, b.os+"_"+b.arch)
		if err := r.compile(b); err != nil {
			return b, err
		}
	}
	for _, path := range []*string{&b.path, &b.engine} {
		var err error
		if *path == "" {
			continue
		}
		if *path, err = filepath.EvalSymlinks(*path); err != nil { // a link would be packed as a link
			return b, err
		}
	}
	info, err := os.Stat(b.path)
	if err != nil {
		return b, err
	}
	if info.Size() > maxProgram {
		return b, fmt.Errorf("the program for %s has %.1f MB, more than the limit of %.0f", system, float64(info.Size())/1e6, maxProgram/1e6)
	}
	if b.info, err = buildinfo.ReadFile(b.path); err != nil {
		return b, err
	}
	log.Printf("%s: %.1f MB", system, float64(info.Size())/1e6)
	if err := r.sameVersion(b); err != nil {
		return b, err
	}
	b.notices, err = r.noticesOf(b.info)
	return b, err
}

// compile compiles the program reproducibly: its bytes do not depend on this machine.
func (r *release) compile(b build) error {
	command := exec.Command("go", "build", "-buildvcs=true", "-trimpath", "-ldflags", "-s -w -funcalign=16", "-o", b.path, ".")
	command.Dir = r.root
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+b.os, "GOARCH="+b.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS="+r.flags, "GOEXPERIMENT=")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for %s/%s: %w\n%s", b.os, b.arch, err, out)
	}
	return nil
}

// sameVersion takes the version of the first program, and returns an error if a later one differs.
func (r *release) sameVersion(b build) error {
	version := strings.TrimPrefix(b.info.Main.Version, "v")
	if version == "" || version == "(devel)" {
		version = "0.0.0-devel"
	}
	if r.version = cmp.Or(r.version, version); version != r.version {
		return fmt.Errorf("%s has version %s, but the other programs have %s", b.path, version, r.version)
	}
	return nil
}

// file is a file of archives and packages.
type file struct {
	name    string // in an archive
	content []byte
	mode    int64
}

// common returns the files that accompany the program on every system.
func (r *release) common() ([]file, error) {
	var all []file
	for _, name := range []string{"LICENSE", "README.md"} {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		all = append(all, file{name, content, 0o644})
	}
	for name, arguments := range map[string]string{
		"completions/talkback.bash": "completion bash", "completions/talkback.zsh": "completion zsh",
		"completions/talkback.fish": "completion fish", "talkback.1": "man",
	} {
		content, err := exec.Command(r.program, strings.Fields(arguments)...).Output()
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.program, arguments, err)
		}
		all = append(all, file{name, bytes.TrimLeft(content, "\n"), 0o644})
	}
	return all, nil
}
