package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// lateness is how late lists may be with a comment that the server did not write itself, or of which
// it was not told that it did: 5 seconds by its --statistics-age, and the clocks of servers.
const lateness = 7 * time.Second

// maxViolations is how many violations are told.
const maxViolations = 10

// Workload is clients of a server. Fields are set before Run.
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
	asOf       time.Time // up to when changes are counted, as any answer told
	number     int       // of the last text
}

// New makes a workload upon the products of an empty table, or on products of its own beside others
// whose names the seed does not make.
func New(url string, seed uint64) *Workload {
	w := &Workload{URL: url, Client: http.DefaultClient, seed: seed, tally: map[string]int{}, model: model{byText: map[string]*story{}}}
	for i := range 4 {
		w.products = append(w.products, fmt.Sprintf("w%d-%d", seed, i))
	}
	return w
}

// Products returns the products that are written about.
func (w *Workload) Products() []string { return w.products }

// Run reads and writes until the context ends, and then until the outcome of each write is known
// that can be known. It returns what was wrong so far.
func (w *Workload) Run(ctx context.Context) error {
	var running sync.WaitGroup
	for i := range cmp.Or(w.Readers, 3) {
		r := reader{w, rand.New(rand.NewPCG(w.seed, uint64(i)))}
		running.Go(func() { w.repeat(ctx, func() { r.read(ctx) }) })
	}
	for i := range cmp.Or(w.Writers, 2) {
		writer := writer{Workload: w, random: rand.New(rand.NewPCG(w.seed, uint64(100+i))), number: i}
		running.Go(func() { w.repeat(ctx, func() { writer.write(context.WithoutCancel(ctx)) }) })
	}
	running.Wait()
	return w.Err()
}

// repeat works until the context ends.
func (w *Workload) repeat(ctx context.Context, work func()) {
	for ctx.Err() == nil {
		work()
		rest(ctx, w.Rest)
	}
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Err returns the violations that were found, nil if there are none.
func (w *Workload) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.violations) == 0 {
		return nil
	}
	return errors.New(strings.Join(w.violations, "\n"))
}

// Tally says how often which operation was answered by what, such as "query ok".
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
