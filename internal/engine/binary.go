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
func findBinary(asked string) (string, error) {
	if asked != "" {
		path, err := exec.LookPath(asked)
		if err != nil {
			return "", fmt.Errorf("the engine given by --engine cannot be run: %w", err)
		}
		return path, nil
	}
	if path, err := besideUs(); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(binaryName)
	if err != nil {
		return "", errMissing
	}
	return path, nil
}

// besideUs looks in the folder of the running executable, where `make` puts the engine.
func besideUs() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return exec.LookPath(filepath.Join(filepath.Dir(self), binaryName))
}
