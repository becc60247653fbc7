package bench

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// apolloFolder holds Apollo Server, as make bench fetches it, and its program.
const apolloFolder = "apollo"

// startApollo starts Apollo Server over the AWS SDK for JavaScript. Where it is not installed, it
// says so and returns nil.
func startApollo(tb testing.TB, environment []string) *program {
	tb.Helper()
	if err := apolloInstalled(); err != nil {
		tb.Logf("left out: Apollo Server: %v", err)
		return nil
	}
	process := exec.Command("node", "--expose-gc", "server.mjs")
	process.Dir = apolloFolder
	process.Env = append(append(os.Environ(), "NODE_ENV=production"), environment...)
	return startProgram(tb, "apollo", process)
}

// apolloInstalled reports whether the packages are there, in the versions of package-lock.json.
func apolloInstalled() error {
	if _, err := exec.LookPath("node"); err != nil {
		return errors.New("node is not on PATH")
	}
	wanted, err := os.ReadFile(filepath.Join(apolloFolder, "package-lock.json"))
	if err != nil {
		return err
	}
	// What npm.sh leaves there when all is in place.
	stamp, err := os.ReadFile(filepath.Join(apolloFolder, "node_modules", "stamp"))
	if err != nil || !bytes.Equal(stamp, wanted) {
		return errors.New("internal/bench/apollo/node_modules is not there, or of other versions; `make bench` fetches it")
	}
	return nil
}
