package commenttest

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// seedVariable is an environment variable. Set to a seed that a test printed, it replays the test.
const seedVariable = "TALKBACK_TEST_SEED"

// tortureVariable is an environment variable that makes random tests run longer.
const tortureVariable = "TALKBACK_TORTURE"

// Torture reports whether this is `make torture`, which makes many more tries than `make test`.
func Torture() bool { return os.Getenv(tortureVariable) != "" }

// Times returns how many random tries to make: the first number in `make test`, the second in `make
// torture`.
func Times(usual, torture int) int {
	if Torture() {
		return torture
	}
	return usual
}

// Stride returns the distance from one call that gets a fault to the next: 1 in `make torture`,
// otherwise a random number from 1 to most. So over several runs every call gets one.
func Stride(r *rand.Rand, most int) int {
	return 1 + r.IntN(Times(most, 1))
}

// Rand returns a source of random numbers that differs from run to run, and from other sources of
// the run, which may fill the same table. It prints the seed of the run if the test fails.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	seed := seedOfRun()
	if text := os.Getenv(seedVariable); text != "" {
		given, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s=%s is not a seed: %v", seedVariable, text, err)
		}
		seed = given
	}
	t.Logf("seed: %s=%d", seedVariable, seed)
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(t.Name())) // never fails
	sources.Lock()
	defer sources.Unlock()
	sources.of[t.Name()]++
	return rand.New(rand.NewPCG(seed, hash.Sum64()+sources.of[t.Name()]))
}

var seedOfRun = sync.OnceValue(func() uint64 { return uint64(time.Now().UnixNano()) })

// sources counts the sources of each test, by its name.
var sources = struct {
	sync.Mutex
	of map[string]uint64
}{of: map[string]uint64{}}
