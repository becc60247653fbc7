package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// binaryName is the name of the engine's program.
const binaryName = "dynoxide"

// errMissing says what to do, for each way of installing talkback.
var errMissing = errors.New("the local engine " + binaryName + " is neither beside this program nor on PATH: " +
	"`make run` fetches it; or put it on PATH, name it with --engine PATH, " +
	"or use another engine with --endpoint URL or --aws")

// findBinary returns the engine's program: the given one, else the one beside this program, else
// the one on PATH.
func findBinary(given string) (string, error) {
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return "", fmt.Errorf("the engine given by --engine cannot be run: %w", err)
		}
		return path, nil
	}
	if self, err := os.Executable(); err == nil { // beside which `make` puts the engine
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(self), binaryName)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(binaryName)
	if err != nil {
		return "", errMissing
	}
	return path, nil
}
