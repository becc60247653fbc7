package bench

import (
	"os"
	"os/exec"
	"testing"

	"github.com/talkback/talkback/internal/provisiontest"
)

// startApollo starts Apollo Server over the AWS SDK for JavaScript. Where it is not installed, it
// says so and returns nil.
func startApollo(tb testing.TB, environment []string) *program {
	tb.Helper()
	if _, err := provisiontest.FindPackages("Apollo Server", "internal/bench/apollo", "internal/bench/apollo"); err != nil {
		tb.Logf("left out: %v", err) // make bench fetches it
		return nil
	}
	process := exec.Command("node", "--expose-gc", "server.mjs")
	process.Dir = "apollo"
	process.Env = append(append(os.Environ(), "NODE_ENV=production"), environment...)
	return startProgram(tb, "apollo", process)
}
