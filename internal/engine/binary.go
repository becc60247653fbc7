package engine

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
)

const binaryName = "dynoxide"

// packaged is the GOOS/GOARCH for which the engine's makers publish a program.
const packaged = "linux/amd64"

// missing returns the error of a system without the engine's program, with the cure.
func missing(system string) error {
	if system != packaged {
		return errors.New("the local engine " + binaryName + " is published for Linux on x64 only: start DynamoDB Local, " +
			"which needs Java, and give --endpoint http://localhost:8000, at first with --create-table; " +
			"or use --aws, or put a " + binaryName + " that you built on PATH")
	}
	return errors.New("the local engine " + binaryName + " is neither beside this program nor on PATH: " +
		"`make run` fetches it; or put it on PATH, name it with --engine PATH, " +
		"or use another engine with --endpoint URL or --aws")
}

// findBinary returns the engine's program: the given one, else the one next to this program, else
// the one on PATH.
func findBinary(given string) (string, error) {
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			for inner := err; inner != nil; inner = errors.Unwrap(inner) {
				err = inner // without the operations, which repeat the path
			}
			return "", fmt.Errorf("--engine %s cannot be run (%w): give the path of the program %s, "+
				"or leave --engine out to use the one beside this program or on PATH", given, err, binaryName)
		}
		return path, nil
	}
	path, err := FindProgram(binaryName) // make puts the engine next to this program
	if err != nil {
		return "", missing(runtime.GOOS + "/" + runtime.GOARCH)
	}
	return path, nil
}
