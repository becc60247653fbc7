package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxViolations is how many violations a Workload reports.
const maxViolations = 10

// Workload is the clients of a server. Set its fields before Run.
type Workload struct {
	// URL is the server's, without a path.
	URL string
	// Client makes the requests.
	Client *http.Client
	// Readers and Writers are how many there are at a time; 0 is 3 and 2.
	Readers, Writers int
	// Rest is how long each of them rests after an operation.
	Rest time.Duration
	// Servers says that several servers answer at the URL: a list may then be late with what another
	// one wrote.
	Servers bool
	// MayFail are codes that operations may fail with beside those of a table in trouble, such as
	// CONNECTION.
	MayFail []string
	// Import imports lines of an export; nil imports nothing. It is called again after an error.
	Import func(ctx context.Context, lines []byte) error

	products []string
	seed     uint64

	mu         sync.Mutex
	model      model
	tally      map[string]int
	violations []string
	asOf       time.Time // the latest time up to which an answer says that changes are counted
	number     int       // of the last text
}

// languages are those of comments, the most frequent first.
var languages = []string{"en", "de", "fr", "ja"}

// New makes a workload on products of its own, whose names contain the seed. The table may have
// other products.
func New(url string, seed uint64) *Workload {
	w := &Workload{URL: url, Client: http.DefaultClient, seed: seed, tally: map[string]int{}, model: model{byText: map[string]*story{}}}
	for i := range 4 {
		w.products = append(w.products, fmt.Sprintf("w%d-%d", seed, i))
	}
	return w
}

// Products returns the products that the workload writes comments about.
func (w *Workload) Products() []string { return w.products }

// Err returns the violations that were found, nil if there are none.
func (w *Workload) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.violations) == 0 {
		return nil
	}
	return errors.New(strings.Join(w.violations, "\n"))
}

// Tally returns the number of results by operation and outcome, such as "query ok".
func (w *Workload) Tally() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(w.tally)) {
		parts = append(parts, fmt.Sprintf("%s %d", what, w.tally[what]))
	}
	return strings.Join(parts, ", ")
}

// violate notes a violation. The caller holds the lock.
func (w *Workload) violate(format string, arguments ...any) {
	if len(w.violations) < maxViolations {
		w.violations = append(w.violations, fmt.Sprintf(format, arguments...))
	}
}

// rest waits, at most until the context ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// locked runs a function under the lock.
func (w *Workload) locked(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}
