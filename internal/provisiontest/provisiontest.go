// Package provisiontest knows where the programs are that `make provision` fetches for the tests, builds
// those of this module, and leaves out the tests whose programs are missing. It is test support, and no
// shipped code imports it.
package provisiontest

import (
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

// Program returns the path of a program that a suite of tests needs. Where it is not installed, the
// test is skipped, or fails when the environment variable CI is set.
func Program(tb testing.TB, name, suite string) (path string) {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		LeaveOut(tb, fmt.Errorf("%s: %s is not on PATH; %w", suite, name, ErrNotInstalled))
	}
	return path
}

// DynoxideBinary returns the path of Dynoxide for tests that run it themselves. Where it is not
// installed, the test is skipped, or fails when the environment variable CI is set.
func DynoxideBinary(tb testing.TB) string {
	tb.Helper()
	path, err := FindDynoxide()
	if err != nil {
		LeaveOut(tb, err)
	}
	return path
}

// FindDynoxide prefers the one that was provisioned, as the program does.
func FindDynoxide() (string, error) {
	root, err := ModuleRoot()
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

// Build builds a program of this module to a file, of packages that `make build` compiled. With the
// flags of the tests, which may watch for races, nearly all of them would be compiled once more.
func Build(program, path string) error {
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, program)
	build.Env = append(os.Environ(), AsBuilt()...)
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", program, err, said)
	}
	return nil
}

// AsBuilt returns variables of the environment by which the go command compiles packages as `make build` does, and so
// finds them compiled.
func AsBuilt() []string {
	return []string{"CGO_ENABLED=0", "GOFLAGS=" + os.Getenv("GOFLAGS") + " " + os.Getenv("LEAN")}
}

// ModuleRoot returns the folder of go.mod, seen from the folder that the test runs in.
func ModuleRoot() (string, error) {
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
