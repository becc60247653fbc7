package dynamotest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/talkback/talkback/internal/engine/child"
)

// dynoxideCommand runs Dynoxide in memory, which is what it does without a file.
func dynoxideCommand(port int) (child.Command, error) {
	path, err := findDynoxide()
	if err != nil {
		return child.Command{}, err
	}
	return child.Command{Path: path, Args: []string{"serve", "--host", "127.0.0.1", "--port", strconv.Itoa(port)}}, nil
}

// findDynoxide prefers the one that was provisioned, as the program does.
func findDynoxide() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	for _, candidate := range []string{filepath.Join(root, "bin", "dynoxide"), "dynoxide"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the Dynoxide suite: dynoxide is neither in bin/ nor on PATH; %w", errNotInstalled)
}

// dynamoDBLocalCommand runs DynamoDB Local in memory. It reports its use to Amazon unless told not to. The smaller
// collector and the first compiler alone make it start faster and leave the other tests their memory and processors.
func dynamoDBLocalCommand(port int) (child.Command, error) {
	root, err := moduleRoot()
	if err != nil {
		return child.Command{}, err
	}
	folder := filepath.Join(root, ".cache", "dynamodb-local")
	if _, err := os.Stat(folder); err != nil {
		return child.Command{}, fmt.Errorf("the DynamoDB Local suite: .cache/dynamodb-local does not exist; %w", errNotInstalled)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return child.Command{}, fmt.Errorf("the DynamoDB Local suite: java is not on PATH; %w", errNotInstalled)
	}
	return child.Command{Path: java, Args: []string{
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g",
		"-Djava.library.path=" + folder, "-cp", filepath.Join(folder, "*"),
		"com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
		"-inMemory", "-sharedDb", "-disableTelemetry", "-port", strconv.Itoa(port),
	}}, nil
}

// moduleRoot returns the folder of go.mod, seen from the folder that the test runs in.
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
