package limits_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
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
	return slices.Concat(
		lexing(tb), parsing(tb), expanding(tb), comparing(tb), decoding(tb), coercing(tb), literals(tb), introspecting(tb), reading(tb), answering(tb),
	)
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

// An attack costs no more than it may. If it exceeds a limit, the error names the limit, the value
// and the cure. Each limit is exceeded by some attack.
func TestAttacks(t *testing.T) {
	all, met, ran := attacks(t), map[string]bool{}, 0
	if len(all) < 60 {
		t.Errorf("%d attacks are not all there are", len(all))
	}
	handler := newServer(&shop{text: "Ni plus ni moins."}, nil)
	ask(t, handler, `{ __typename }`, nil)
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			ran++
			for _, err := range a.check(t, handler).Errors {
				exceeded := err.Extensions
				if exceeded.Limit == 0 {
					continue
				}
				met[exceeded.Code] = true
				for _, part := range []string{fmt.Sprint(exceeded.Limit), fmt.Sprint(exceeded.Value), ": "} {
					if !strings.Contains(err.Message, part) {
						t.Errorf("%q does not say %q", err.Message, part)
					}
				}
				if exceeded.Value <= exceeded.Limit {
					t.Errorf("%d is within the limit of %d", exceeded.Value, exceeded.Limit)
				}
			}
		})
	}
	for _, code := range limits.Codes() {
		if ran == len(all) && !met[string(code)] && code != limits.IntrospectionIsOff && code != limits.EventReads && code != limits.AnswerTooManyBytes {
			t.Errorf("no attack is refused with %s", code)
		}
	}
}

func (a attack) check(t *testing.T, handler http.Handler) answer {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := processorTime(t)
	status, raw := post(handler, a.body)
	took := processorTime(t) - start
	runtime.ReadMemStats(&after)

	allocated := int(after.TotalAlloc-before.TotalAlloc) >> 10
	t.Logf("%d bytes asked, %d bytes answered, %v, %d KB allocated", len(a.body), len(raw), took, allocated)
	got := checked(t, a.body, status, raw)
	if a.code != otherwise && got.code() != a.code {
		t.Errorf("code %q, want %q\n%.300s", got.code(), a.code, raw)
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
	return got
}

// processorTime returns the processor time that this process has used.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	must.Do(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
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
		inUse := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		for {
			select {
			case <-stop:
				peak <- highest
				return
			case <-time.After(time.Millisecond):
				metrics.Read(inUse)
				highest = max(highest, inUse[0].Value.Uint64()+inUse[1].Value.Uint64())
			}
		}
	}()
	var group sync.WaitGroup
	for attacker := range 200 {
		group.Go(func() {
			for i := range 3 {
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

// lexing: texts that cost much before they are parsed.
func lexing(tb testing.TB) []attack {
	return []attack{
		asked(tb, "lexing/long text", "QUERY_TOO_LONG", "{product(id:\"x\"){id}}"+repeat(" ", 60_000)),
		asked(tb, "lexing/many tokens", "TOO_MANY_TOKENS", "{"+repeat("a ", 8000)+"}"),
		asked(tb, "lexing/many comments", "TOO_MANY_TOKENS", repeat("#\n", 8000)+"{__typename}"),
		asked(tb, "lexing/one long comment", fine, "#"+repeat("x", 16_000)+"\n{__typename}"),
		asked(tb, "lexing/punctuation alone", "TOO_MANY_TOKENS", repeat("!", 16_000)),
		asked(tb, "lexing/a long name", "NAME_TOO_LONG", "{"+repeat("n", 16_000)+"}"),
		asked(tb, "lexing/a long alias on a page", "NAME_TOO_LONG", `{product(id:"x"){comments(first:100){nodes{`+repeat("n", 10_000)+`:id}}}}`),
		asked(tb, "lexing/a string without end", unparsed, `{product(id:"`+repeat("x", 16_000)),
		asked(tb, "lexing/a block string without end", unparsed, `{product(id:"""`+repeat("x\\\n", 5000)),
		asked(tb, "lexing/a block string of quotes", unparsed, `{product(id:"""`+repeat(`""x`, 5000)),
		asked(tb, "lexing/a block string of empty lines", badInput, `{product(id:"""`+repeat("\n", 16_000)+`"""){id}}`),
		asked(tb, "lexing/a block string of indented lines", badInput, `{product(id:"""`+repeat("\n    x", 2600)+`"""){id}}`),
		asked(tb, "lexing/block strings by the hundred", "TOO_MANY_TOKENS", "{"+repeat(`"""""" `, 2000)+"}"),
		asked(tb, "lexing/escapes", badInput, `{product(id:"`+repeat(`\u0041`, 2600)+`"){id}}`),
		asked(tb, "lexing/half an escape", unparsed, `{product(id:"\u00`),
		asked(tb, "lexing/escaped surrogates alone", "BAD_REQUEST", `{product(id:"`+repeat(`\uD800`, 2600)+`"){id}}`),
		asked(tb, "lexing/characters that no one sees", unparsed, "{"+repeat("\u200b", 5000)+"}"),
		asked(tb, "lexing/byte order marks", fine, repeat("\ufeff", 5000)+"{__typename}"),
		asked(tb, "lexing/nul bytes", unparsed, repeat("\x00", 9000)),
		asked(tb, "lexing/a number of many digits", invalid, `{product(id:`+repeat("9", 16_000)+`){id}}`),
		asked(tb, "lexing/a fraction of many digits", invalid, `{product(id:"x"){comments(first:0.`+repeat("9", 16_000)+`){nodes{id}}}}`),
		asked(tb, "lexing/right to left", unparsed, "{"+repeat("\u202e", 5000)+"product}"),
		asked(tb, "lexing/carriage returns", fine, repeat("\r\n\r", 5000)+"{__typename}"),
	}
}

// parsing: the parser recurses for each bracket.
func parsing(tb testing.TB) []attack {
	return []attack{
		asked(tb, "parsing/braces", "TOO_MANY_TOKENS", repeat("{a", 5000)),
		asked(tb, "parsing/braces within the tokens", "NESTED_TOO_DEEP", repeat("{a", 490)),
		asked(tb, "parsing/closed braces", "NESTED_TOO_DEEP", repeat("{a", 300)+repeat("}", 300)),
		asked(tb, "parsing/lists", "NESTED_TOO_DEEP", `{a(b:`+repeat("[", 900)),
		asked(tb, "parsing/objects", "NESTED_TOO_DEEP", `{a(b:`+repeat("{c:", 300)),
		asked(tb, "parsing/types of lists", "NESTED_TOO_DEEP", `query($a:`+repeat("[", 400)+"Int"+repeat("]", 400)+"){__typename}"),
		asked(tb, "parsing/brackets that do not match", unparsed, repeat("{(}", 30)),
		asked(tb, "parsing/closing first", unparsed, repeat("}", 400)+repeat("{a", 200)),
		asked(tb, "parsing/inline fragments", "NESTED_TOO_DEEP", "{"+repeat("...{", 400)+"a"),
		asked(tb, "parsing/fields as deep as brackets allow", "TOO_DEEP", repeat("{a", 31)+repeat("}", 31)),
		asked(tb, "parsing/nothing", invalid, ""),
		asked(tb, "parsing/comments alone", invalid, "# nothing\n"),
		asked(tb, "parsing/operations", "TOO_MANY_OPERATIONS", repeat("query{a}", 200)),
		asked(tb, "parsing/operations of one name", invalid, repeat("query q{__typename}", 10)),
		asked(tb, "parsing/definitions of types", unparsed, repeat("type T{a:Int}", 100)),
	}
}

// decoding: bodies that are no request. The transport decides how to refuse them; here any refusal
// will do.
func decoding(testing.TB) []attack {
	body := func(name, text string) attack {
		return attack{name: "decoding/" + name, code: otherwise, body: []byte(text), allocKB: 6 << 10}
	}
	return []attack{
		body("nothing", ""),
		body("no object", `[1, 2]`),
		body("brackets", repeat("[", 60_000)),
		body("brackets in variables", `{"query":"{__typename}","variables":{"a":`+repeat("[", 9000)+repeat("]", 9000)+`}}`),
		body("objects in variables", `{"query":"{__typename}","variables":`+repeat(`{"a":`, 9000)+"1"+repeat("}", 9000)+`}`),
		body("variables that are a list", `{"query":"{__typename}","variables":[`+repeat("1,", 20_000)+`1]}`),
		body("a query that is a number", `{"query":`+repeat("1", 60_000)+`}`),
		body("one key many times", `{`+repeat(`"query":"{a}",`, 4000)+`"query":"{__typename}"}`),
		body("a long name of an operation", `{"query":"{__typename}","operationName":"`+repeat("n", 60_000)+`"}`),
		body("extensions", `{"query":"{__typename}","extensions":{"a":[`+repeat("1,", 25_000)+`1]}}`),
		body("no end", `{"query":"{__typename}`+repeat("x", 60_000)),
		body("no text", "{\"query\":\"\xff\xfe\"}"),
	}
}

// chain returns an operation that spreads the first of a chain of fragments. Each fragment spreads
// the next one several times; spreads is how often.
func chain(length, spreads int, last string) string {
	var b strings.Builder
	b.WriteString("query{...F0}")
	for i := range length {
		fmt.Fprintf(&b, "fragment F%d on Query{%s}", i, repeat(fmt.Sprintf("...F%d ", i+1), spreads))
	}
	fmt.Fprintf(&b, "fragment F%d on Query{%s}", length, last)
	return b.String()
}

// expanding: fragments that expand.
func expanding(tb testing.TB) []attack {
	var all, deep strings.Builder
	for i := range 30 {
		fmt.Fprintf(&all, "fragment F%d on Query{__typename %s}", i, repeat(fmt.Sprintf("...F%d ", (i+1)%30), 5))
		fmt.Fprintf(&deep, "fragment F%d on __Type{ofType{...F%d}}", i, i+1)
	}
	return []attack{
		asked(tb, "expanding/doubling", "TOO_MANY_FIELDS", chain(20, 2, "__typename")),
		asked(tb, "expanding/tenfold", "TOO_MANY_FIELDS", chain(25, 10, "__typename")),
		asked(tb, "expanding/beyond any number", "TOO_MANY_FIELDS", chain(28, 13, "a")),
		asked(tb, "expanding/to nothing", "TOO_MANY_FIELDS", chain(28, 13, "...G")),
		asked(tb, "expanding/a fragment of itself", invalid, "{...F}fragment F on Query{...F}"),
		asked(tb, "expanding/a fragment of itself, unused", invalid, "{__typename}fragment F on Query{a{...F}}"),
		asked(tb, "expanding/a ring", invalid, "{...F0}"+all.String()),
		asked(tb, "expanding/a ring within introspection", invalid, `{__schema{...A ...B}}fragment A on __Schema{types{...B}...B}fragment B on __Schema{types{...A}...A}`),
		asked(tb, "expanding/many fragments", "TOO_MANY_FRAGMENTS", "{__typename}"+repeat("fragment F on Query{a}", 140)),
		asked(tb, "expanding/fragments of one name", invalid, "{...F}"+repeat("fragment F on Query{__typename}", 30)),
		asked(tb, "expanding/unused fragments", "TOO_MANY_FIELDS", strings.Replace(chain(20, 2, "__typename"), "...F0", "__typename", 1)),
		asked(tb, "expanding/depth through fragments", "TOO_DEEP", `{__type(name:"a"){...F0}}`+strings.Replace(deep.String(), "...F30", "name", 1)),
		asked(tb, "expanding/aliases through fragments", "TOO_MANY_ALIASES", `{product(id:"x"){...F ...F ...F ...F}}fragment F on Product{`+distinct("a%d:id ", 10)+"}"),
		asked(tb, "expanding/unknown fragments", invalid, "{"+repeat("...G ", 60)+"}"),
		asked(tb, "expanding/operations that share a fragment", "TOO_MANY_FIELDS", distinct("query q%d{__schema{...F}}", 10)+"fragment F on __Schema{"+repeat("description ", 60)+"}"),
	}
}

// distinct repeats a text with the numbers from 0.
func distinct(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// tree returns nested fields, with two of the same name in each place.
func tree(depth int) string {
	if depth == 0 {
		return "name"
	}
	inner := tree(depth - 1)
	return "ofType{" + inner + "}ofType{" + inner + "}"
}

// comparing: fields and directives that validation compares with each other.
func comparing(tb testing.TB) []attack {
	wide := func(n int) string { return repeat(`product(id:"x"){id}`, n) }
	conflicts := distinct(`a:product(id:"%d"){id}`, 20)
	return []attack{
		asked(tb, "comparing/one name by the hundred", "SELECTION_TOO_LONG", `{product(id:"x"){`+repeat("id ", 900)+"}}"),
		asked(tb, "comparing/one name with inner fields", "TOO_MANY_ROOT_FIELDS", "{"+wide(60)+"}"),
		asked(tb, "comparing/conflicts", invalid, "{"+conflicts+"}"),
		asked(tb, "comparing/conflicts in fragments", invalid, `{product(id:"x"){...A ...B}}fragment A on Product{`+repeat("a:id ", 10)+"}fragment B on Product{"+repeat("a:lastCommentedAt ", 10)+"}"),
		asked(tb, "comparing/a tree of one name", "TOO_MANY_OVERLAPS", `{__type(name:"Query"){`+tree(6)+"}}"),
		asked(tb, "comparing/a tree within the limit", fine, `{__type(name:"Query"){`+tree(5)+"}}"),
		asked(tb, "comparing/inline fragments of one name", "TOO_MANY_OVERLAPS", `{product(id:"x"){`+repeat("...{"+repeat("id ", 40)+"}", 10)+"}}"),
		asked(tb, "comparing/one field in many fragments", "TOO_MANY_OVERLAPS", `{product(id:"x"){`+distinct("...F%d ", 20)+"}}"+distinct("fragment F%d on Product{id id id id id id}", 20)),
		asked(tb, "comparing/directives in one place", "TOO_MANY_DIRECTIVES", `{product(id:"x")`+repeat("@skip(if:false)", 100)+"{id}}"),
		asked(tb, "comparing/directives that are unknown", invalid, `{product(id:"x")@a @b @c @d @e{id}}`),
		asked(tb, "comparing/directives in many places", invalid, `{product(id:"x"){`+repeat("id@a@b@c@d ", 60)+"}}"),
		asked(tb, "comparing/arguments of one name", invalid, `{product(`+repeat(`id:"x" `, 300)+"){id}}"),
		asked(tb, "comparing/arguments of two fields", invalid, `{product(`+distinct(`a%d:1 `, 150)+"){id}product("+distinct(`a%d:1 `, 150)+"){id}}"),
		asked(tb, "comparing/aliases", "TOO_MANY_ALIASES", `{product(id:"x"){`+distinct("a%d:id ", 50)+"}}"),
		asked(tb, "comparing/root fields", "TOO_MANY_ROOT_FIELDS", "{"+distinct(`a%d:product(id:"x"){id}`, 25)+"}"),
		asked(tb, "comparing/unknown fields", invalid, `{product(id:"x"){`+distinct("unheardOfField%d ", 60)+"}}"),
		asked(tb, "comparing/unknown fields with long names", invalid, `{product(id:"x"){`+repeat(repeat("latestPositive", 9)+" ", 60)+"}}"),
		{ // each name is compared with those of all types, so that the memory grows with the schema
			name: "comparing/unknown types with long names", code: invalid, allocKB: 3 << 10,
			body: envelope(tb, "{__typename}"+distinct("fragment F%d on "+repeat("Comment", 18)+"{a}", 30), nil),
		},
		asked(tb, "comparing/unknown variables", invalid, `{product(id:"x"){`+repeat("id@skip(if:$a) ", 60)+"}}"),
		asked(tb, "comparing/a subscription", invalid, "subscription{a b c}"),
		asked(tb, "comparing/a mutation of nothing", invalid, "mutation{a}"),
	}
}
