// Command talkback-release makes everything that is published of a version, in one folder:
// archives, Linux packages, a container image, lists of contents, and checksums. The same commit
// and Go version make the same bytes.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("talkback-release: ")
	r := release{built: map[string]string{}, engines: map[string]string{}}
	flag.StringVar(&r.root, "root", ".", "`folder` of the module")
	flag.StringVar(&r.out, "out", "bin/release", "output `folder`, which is deleted first")
	flag.StringVar(&r.program, "program", "bin/talkback", "`file` of the program for this system, which prints its completions and manual page")
	systems := flag.String("systems", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64", "`list` of systems to build for")
	flag.Func("built", "`system=file`: a program to publish instead of building it", r.pair(r.built))
	flag.Func("engine", "`system=file`: the local engine", r.pair(r.engines))
	flag.StringVar(&r.flags, "flags", "", "more `flags` for go build, in the form of GOFLAGS")
	flag.StringVar(&r.function, "function", "", "`file` of the function of AWS Lambda for arm64")
	flag.Func("with", "another `file` to publish; skipped if it does not exist", func(file string) error {
		r.with = append(r.with, file)
		return nil
	})
	flag.Parse()
	if err := r.make(strings.Split(*systems, ",")); err != nil {
		log.Fatal(err)
	}
}

// release is the state that all parts of a release share.
type release struct {
	root, out, program string
	built, engines     map[string]string // by system
	flags, function    string
	with               []string
	version            string    // without the v
	time               time.Time // of the commit; all files get it
}

// pair returns the parser of a flag that adds to a map.
func (release) pair(to map[string]string) func(string) error {
	return func(text string) error {
		key, value, found := strings.Cut(text, "=")
		if !found {
			return fmt.Errorf("%s is not system=file, such as linux/amd64=bin/talkback", text)
		}
		to[key] = value
		return nil
	}
}

func (r *release) make(systems []string) error {
	if err := r.begin(); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "talkback-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	common, err := r.common()
	if err != nil {
		return err
	}
	var images []build
	for _, system := range systems {
		b, err := r.build(system, scratch)
		if err != nil {
			return err
		}
		if err := r.publish(b, common); err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		if b.os == "linux" {
			images = append(images, b)
		}
	}
	if err := r.image(images, scratch); err != nil {
		return fmt.Errorf("container image: %w", err)
	}
	if err := r.lambda(); err != nil {
		return fmt.Errorf("function: %w", err)
	}
	if err := r.copyOthers(); err != nil {
		return err
	}
	return r.sum()
}

// begin empties the folder and reads the time of the commit.
func (r *release) begin() error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		out, err := exec.Command("git", "-C", r.root, "log", "-1", "--format=%ct").Output()
		if err != nil {
			return fmt.Errorf("git cannot say when the commit was made (%w): set SOURCE_DATE_EPOCH", err)
		}
		text = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH=%s is not a number of seconds", text)
	}
	r.time = time.Unix(seconds, 0).UTC()
	return nil
}

func (r *release) publish(b build, common []file) error {
	if b.engine != "" {
		if err := r.addEngine(&b.notices); err != nil {
			return err
		}
	}
	if err := r.list(b); err != nil {
		return err
	}
	if err := r.archive(b, common); err != nil {
		return err
	}
	if b.os != "linux" {
		return nil
	}
	return r.packages(b, common)
}

func (r *release) name(parts ...string) string {
	return filepath.Join(r.out, strings.Join(append([]string{"talkback_" + r.version}, parts...), "_"))
}
