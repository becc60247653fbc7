package commenttest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// seedVariable, set in the environment, replays a test with a seed that it printed.
const seedVariable = "TALKBACK_TEST_SEED"

// Rand makes a source of random numbers that differs from run to run, and prints its seed if the test fails.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedVariable); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s=%s is not a seed: %v", seedVariable, text, err)
		}
		seed = given
	}
	t.Logf("seed: %s=%d", seedVariable, seed)
	return rand.New(rand.NewPCG(seed, 0))
}
