// Package provisiontest knows where the programs are that `make provision` fetches for the tests,
// builds those of this module, and leaves out the tests whose programs are missing. It is test
// support, and no shipped code imports it.
package provisiontest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// ErrNotInstalled is wrapped by the errors that leave tests out. Any other error fails them.
var ErrNotInstalled = errors.New("`make provision` fetches it")

// LeaveOut skips the test, aloud; where everything is meant to be there, as the environment
// variable CI says, it fails it.
func LeaveOut(tb testing.TB, why error) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatalf("CI is set, so this test may not be left out: %v", why)
	}
	tb.Skipf("left out: %v", why)
}

// Need ends the test if what it needs could not be had: leaves it out if it is not installed, and
// fails it otherwise.
func Need(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, ErrNotInstalled) {
		LeaveOut(tb, err)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Program returns the path of a program on PATH that a suite of tests needs. Where it is not
// installed, the test is skipped, or fails when the environment variable CI is set.
func Program(tb testing.TB, name, suite string) (path string) {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		LeaveOut(tb, notOnPath(name, suite))
	}
	return path
}

// Fetched returns the path of what `make provision` made for a suite of tests, a file or a folder,
// by its path from the module's root. Where it is missing, the test is skipped, or fails when the
// environment variable CI is set.
func Fetched(tb testing.TB, suite, path string) string {
	tb.Helper()
	found, err := Find(suite, path)
	Need(tb, err)
	return found
}

// Find is Fetched for those who have no test at hand.
func Find(suite, path string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	found := filepath.Join(root, filepath.FromSlash(path))
	if _, err := os.Stat(found); err != nil {
		return "", fmt.Errorf("%s: there is no %s; %w", suite, path, ErrNotInstalled)
	}
	return found, nil
}

// Packages returns the folder of npm packages that npm.sh put into a folder, and leaves a suite of
// tests out like Fetched: also without Node.js, or if they are not those of the package-lock.json
// in packages. Paths are from the module's root.
func Packages(tb testing.TB, suite, packages, folder string) (modules string) {
	tb.Helper()
	modules, err := FindPackages(suite, packages, folder)
	Need(tb, err)
	return modules
}

// FindPackages is Packages for those who can do without.
func FindPackages(suite, packages, folder string) (modules string, err error) {
	if _, err := exec.LookPath("node"); err != nil {
		return "", notOnPath("node", suite)
	}
	lock, err := Find(suite, packages+"/package-lock.json")
	if err != nil {
		return "", err
	}
	if modules, err = Find(suite, folder+"/node_modules"); err != nil {
		return "", err
	}
	wanted, err := os.ReadFile(lock)
	if err != nil {
		return "", err
	}
	if stamp, err := os.ReadFile(filepath.Join(modules, "stamp")); err != nil || !bytes.Equal(stamp, wanted) {
		return "", fmt.Errorf("%s: %s/node_modules has other versions; %w", suite, folder, ErrNotInstalled)
	}
	return modules, nil
}

func notOnPath(name, suite string) error {
	return fmt.Errorf("%s: %s is not on PATH; %w", suite, name, ErrNotInstalled)
}

// DynoxideBinary returns the path of Dynoxide for tests that run it themselves. Where it is not
// installed, the test is skipped, or fails when the environment variable CI is set.
func DynoxideBinary(tb testing.TB) string {
	tb.Helper()
	path, err := FindDynoxide()
	Need(tb, err)
	return path
}

// FindDynoxide prefers the one that was provisioned, as the program does.
func FindDynoxide() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	for _, candidate := range []string{filepath.Join(root, "bin", "dynoxide"), "dynoxide"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the Dynoxide suite: dynoxide is neither in bin/ nor on PATH; %w", ErrNotInstalled)
}

// Build builds a program of this module to a file of the caller's as `make build` does. With the
// flags of the tests, which may watch for races, nearly all packages would be compiled once more.
// It copies bin/talkback first: go build leaves a program as it is if it is up to date, and linking
// takes longer than the copy. It would not notice a copy that was cut off, so the file must not be
// bin/talkback, which others copy at the same time.
func Build(program, path string) error {
	if root, err := moduleRoot(); err == nil {
		if made, err := os.ReadFile(filepath.Join(root, "bin", filepath.Base(program))); err == nil {
			_ = os.WriteFile(path, made, 0o755) // otherwise the program is linked
		}
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w -funcalign=16", "-o", path, program)
	build.Env = append(os.Environ(), AsBuilt()...)
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", program, err, said)
	}
	return nil
}

// AsBuilt returns variables of the environment by which the go command compiles packages as `make
// build` does, and so finds them compiled.
func AsBuilt() []string {
	return []string{"CGO_ENABLED=0", "GOFLAGS=" + os.Getenv("GOFLAGS") + " " + os.Getenv("LEAN")}
}

// Root returns the folder of go.mod, seen from the folder that the test runs in.
func Root(tb testing.TB) string {
	tb.Helper()
	root, err := moduleRoot()
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("the tests must run inside the module, which holds bin/ and .cache/")
		}
		folder = parent
	}
}
