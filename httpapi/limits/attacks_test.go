package limits_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// attack is a request that asks for too much, and its acceptable result.
type attack struct {
	// name begins with the step at which it is aimed.
	name string
	body []byte
	// code is the code of the first error: empty for an answer, "any" where another package
	// decides.
	code string
	// answerKB and allocKB bound the answer and all memory allocated for it, freed or not. 0 stands
	// for the bounds of a refusal.
	answerKB, allocKB int
}

// The bounds on the cost of a refusal. The benchmark measures time; this bound of processor time
// only stops a runaway, however busy the machine is.
const (
	refusalKB      = 12
	refusalAllocKB = 2048
	patience       = time.Second
)

// invalid is the code of GraphQL's own refusals.
const (
	invalid   = "GRAPHQL_VALIDATION_FAILED"
	unparsed  = "GRAPHQL_PARSE_FAILED"
	badInput  = "BAD_INPUT"
	fine      = ""
	otherwise = "any"
)

// attacks returns the whole corpus.
func attacks(tb testing.TB) []attack {
	var all []attack
	for _, group := range [][]attack{
		lexing(tb), parsing(tb), expanding(tb), comparing(tb), decoding(tb), coercing(tb), literals(tb), introspecting(tb), reading(tb), answering(tb),
	} {
		all = append(all, group...)
	}
	return all
}

// asked returns an attack by a query without variables.
func asked(tb testing.TB, name, code, query string) attack {
	tb.Helper()
	return attack{name: name, code: code, body: envelope(tb, query, nil)}
}

// sent returns an attack by a query and its variables.
func sent(tb testing.TB, name, code, query string, variables any) attack {
	tb.Helper()
	return attack{name: name, code: code, body: envelope(tb, query, variables)}
}

func TestAttacks(t *testing.T) {
	all := attacks(t)
	if len(all) < 60 {
		t.Errorf("%d attacks are not all there are", len(all))
	}
	handler := newServer(&shop{text: "Ni plus ni moins."}, nil)
	ask(t, handler, `{ __typename }`, nil)
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) { a.check(t, handler) })
	}
}

func (a attack) check(t *testing.T, handler http.Handler) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := processorTime(t)
	status, raw := post(handler, a.body)
	took := processorTime(t) - start
	runtime.ReadMemStats(&after)

	allocated := int(after.TotalAlloc-before.TotalAlloc) >> 10
	t.Logf("%d bytes asked, %d bytes answered, %v, %d KB allocated", len(a.body), len(raw), took, allocated)
	if got := decode(t, raw); a.code != otherwise && got.code() != a.code {
		t.Errorf("code %q, want %q\n%.300s", got.code(), a.code, raw)
	}
	if status >= http.StatusInternalServerError || bytes.Contains(raw, []byte(`"INTERNAL"`)) {
		t.Errorf("status %d: a client's doing became a fault of ours\n%.300s", status, raw)
	}
	if took > patience {
		t.Errorf("it took %v", took)
	}
	if most := max(a.answerKB, refusalKB); len(raw) > most<<10 {
		t.Errorf("the answer has %d bytes, more than %d KB", len(raw), most)
	}
	if most := max(a.allocKB, refusalAllocKB); allocated > most {
		t.Errorf("%d KB were allocated, more than %d", allocated, most)
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	must.Do(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// A request that exceeds a limit reads nothing. Its error names the limit, the value and the cure.
func TestRefusalsNameTheCure(t *testing.T) {
	met := map[string]bool{}
	handler := newServer(&shop{}, nil)
	for _, a := range attacks(t) {
		_, raw := post(handler, a.body)
		for _, err := range decode(t, raw).Errors {
			if err.Extensions.Limit == 0 {
				continue
			}
			met[err.Extensions.Code] = true
			for _, part := range []string{fmt.Sprint(err.Extensions.Limit), fmt.Sprint(err.Extensions.Value), ": "} {
				if !strings.Contains(err.Message, part) {
					t.Errorf("%s: %q does not say %q", a.name, err.Message, part)
				}
			}
			if err.Extensions.Value <= err.Extensions.Limit {
				t.Errorf("%s: %d is within the limit of %d", a.name, err.Extensions.Value, err.Extensions.Limit)
			}
		}
	}
	for _, code := range limits.Codes() {
		if !met[string(code)] && code != limits.IntrospectionIsOff && code != limits.EventReads && code != limits.AnswerTooManyBytes {
			t.Errorf("no attack is refused with %s", code)
		}
	}
}

// memoryBound bounds the live heap of a process under attack. Each of 200 concurrent requests may
// hold its refusal or answer, and the cache holds its documents.
const memoryBound = 160 << 20

// usualGOGC is the program's own GOGC. `make test` sets a higher one.
const usualGOGC = 100

// 200 attackers at once send different attacks of the corpus again and again.
func TestMemoryUnderAttack(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryBound))
	defer debug.SetGCPercent(debug.SetGCPercent(usualGOGC))
	handler := newServer(&shop{text: repeat("a", 1000)}, nil)
	all := attacks(t)
	stop := make(chan struct{})
	peak := make(chan uint64)
	go func() {
		var highest uint64
		for {
			select {
			case <-stop:
				peak <- highest
				return
			default:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				highest = max(highest, m.HeapInuse)
				runtime.Gosched()
			}
		}
	}()
	var group sync.WaitGroup
	for attacker := range 200 {
		group.Go(func() {
			for i := range 5 {
				post(handler, all[(attacker*7+i*31)%len(all)].body)
			}
		})
	}
	group.Wait()
	close(stop)
	highest := <-peak
	t.Logf("the heap was at most %d MB", highest>>20)
	if highest > memoryBound {
		t.Errorf("the heap was %d MB, more than %d", highest>>20, memoryBound>>20)
	}
}

// Requests of explorers and clients are served.
func TestWhatIsServed(t *testing.T) {
	handler := newServer(&shop{}, nil)
	for name, query := range served(t) {
		if got := ask(t, handler, query.Query, query.Variables); len(got.Errors) > 0 && got.Errors[0].Extensions.Limit > 0 {
			t.Errorf("%s is refused: %s", name, got.Errors[0].Message)
		}
	}
}

// operation is a request that must be served.
type operation struct {
	Query     string
	Variables json.RawMessage
}

func readOperation(t *testing.T, path, variablesPath string) operation {
	t.Helper()
	query := must.Get(os.ReadFile(path))(t)
	o := operation{Query: string(query), Variables: json.RawMessage("null")}
	if raw, err := os.ReadFile(variablesPath); err == nil {
		o.Variables = raw
	}
	return o
}

// BenchmarkAttacks measures the time that a server spends on each attack.
func BenchmarkAttacks(b *testing.B) {
	handler := newServer(&shop{text: "Ni plus ni moins."}, nil)
	for _, a := range attacks(b) {
		b.Run(a.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				post(handler, a.body)
			}
		})
	}
}
