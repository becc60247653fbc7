package safety

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/episode"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/reviewfile"
)

// trap spoils one call to come.
type trap struct {
	mu    sync.Mutex
	calls int // since it was set
	at    int
	fault faulttest.Fault
}

// next implements the plan of a faulttest.Network.
func (t *trap) next(int) faulttest.Fault {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls++; t.calls == t.at {
		return t.fault
	}
	return faulttest.None
}

// set has the n-th call from now on meet a fault, and returns how many there were since it was set
// last.
func (t *trap) set(n int, fault faulttest.Fault) (calls int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls, t.calls, t.at, t.fault = t.calls, 0, n, fault
	return calls
}

// trapped opens a way to the engine on which single calls are spoiled.
func trapped(t *testing.T) (endpoint string, way *trap, network *faulttest.Network) {
	t.Helper()
	address := must.Get(url.Parse(dynamotest.Dynoxide(t)))(t)
	way = &trap{}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	network = faulttest.Over(client, way.next)
	proxy := httptest.NewUnstartedServer(episode.Proxy(network, address))
	proxy.Config.IdleTimeout = 10 * time.Second // each of thousands of commands leaves connections behind
	proxy.Start()
	t.Cleanup(func() { proxy.Close(); client.CloseIdleConnections() })
	return proxy.URL, way, network
}

// everyCall runs a use case with some kinds of faults at each of its calls, or at calls that are up
// to a stride apart in make test. Each time, it is run again without a fault, with an empty text.
func everyCall(t *testing.T, way *trap, network *faulttest.Network, r *rand.Rand, stride, faults int, use func(when string)) {
	t.Helper()
	for _, i := range r.Perm(len(faulttest.Kinds))[:faults] {
		fault := faulttest.Kinds[i]
		for n, met := commenttest.Stride(r, stride), true; met; n += commenttest.Stride(r, stride) {
			way.set(n, fault)
			use(fmt.Sprintf("%s at call %d", fault, n))
			met = way.set(0, faulttest.None) >= n
			must.Do(t, network.Flush())
			use("")
			if t.Failed() {
				t.Fatalf("%s at call %d", fault, n)
			}
		}
	}
}

// export is comments of three products, as lines of an export.
func export(t *testing.T, r *rand.Rand, comments int) (file string) {
	t.Helper()
	var lines []byte
	for i := range comments {
		var err error
		if lines, err = reviewfile.Append(lines, commenttest.Random(r, []string{"cup", "pot", "pan", "cup", "cup"}[i%5])); err != nil {
			t.Fatal(err)
		}
	}
	file = filepath.Join(t.TempDir(), "comments.jsonl")
	must.Do(t, os.WriteFile(file, lines, 0o600))
	return file
}

// filled makes a table with comments that are counted, and returns its name.
func filled(t *testing.T, r *rand.Rand) *site {
	t.Helper()
	s := &site{t: t, direct: dynamotest.Dynoxide(t), table: dynamotest.TableName(t), log: &commenttest.Transcript{}}
	must.Do(t, s.talkback(t.Context(), s.direct, "import", "--restore", "--create-table", export(t, r, 300)))
	return s
}

// queries ask every field of Query and of Product that reads the table. IDS are those of comments.
var queries = []string{
	`{ product(id: "cup") { comments(first: 7) { nodes { id text version author { name } } pageInfo { hasNextPage hasPreviousPage endCursor } } } }`,
	`{ product(id: "cup") { comments(first: 7, order: OLDEST_FIRST, filter: { ratings: [1, 2, 5] }) { nodes { id rating } pageInfo { hasNextPage } totalCount } } }`,
	`{ product(id: "pot") { comments(last: 9, filter: { languages: ["de", "en"], ratings: [4, 5] }) { nodes { id } pageInfo { hasNextPage hasPreviousPage } stats { total ratings { count } } } } }`,
	`{ product(id: "cup") { comments(first: 5, page: 18) { nodes { id } pageCount pageNumber } } }`,
	`{ product(id: "pan") { comments(first: 4, page: 8, filter: { ratings: [5] }) { nodes { id } pageCursors { first { cursor } around { cursor page } last { page } } } } }`,
	`{ product(id: "pan") { comments(first: 4, filter: { createdAfter: "2020-02-29T00:10:00Z" }) { totalCount nodes { id } } } }`,
	`{ product(id: "cup") { stats { total average ratings { count } } languages { language count } commentsInOtherLanguages } }`,
	`{ product(id: "pot") { lastCommentedAt latestPositive { id } latestNegative { id text } } }`,
	`{ products(ids: ["cup", "pot", "none"]) { id stats(lang: "en") { total } comments(first: 1) { nodes { id } } } }`,
	`{ leaderboard(first: 5) { rank count product { id } } german: leaderboard(language: "de") { count product { id } } }`,
	`{ comment(id: "ID") { id text rating product { id stats { total } } } }`,
	`{ nodes(ids: ["ID", "cup", "c_01HZ0000000000000000000000"]) { id ... on Comment { text } ... on Product { stats { total } } } node(id: "ID") { id } }`,
}

// Each call of each query fails once with each fault. The answer is then the same as without it, or
// an error with a documented code, and the next try of the query succeeds.
func TestEveryCallOfEveryQuery(t *testing.T) {
	t.Parallel()
	r := commenttest.Rand(t)
	s := filled(t, r)
	s.start("--endpoint", s.direct, "--table", s.table) // counts all the time
	endpoint, way, network := trapped(t)
	s.url, _ = s.start("--endpoint", endpoint, "--table", s.table, "--no-count")
	id := s.data(t, `{ product(id: "cup") { comments(first: 1) { nodes { id } } } }`, "")
	id = id[strings.Index(id, "c_"):]
	for _, query := range queries {
		query = strings.ReplaceAll(query, "ID", id[:28])
		want := s.data(t, query, "")
		everyCall(t, way, network, r, 12, commenttest.Times(2, len(faulttest.Kinds)), func(when string) {
			if got := s.data(t, query, when); got != "" && got != want {
				t.Errorf("%s: %s is answered by\n%s\nwant\n%s", when, query, got, want)
			}
		})
	}
}

// data asks a query and returns the answer's data. It returns nothing for an answer with errors of
// documented codes, which only a spoiled call may have. A page number may be late for a moment.
func (s *site) data(t *testing.T, query, spoiled string) string {
	t.Helper()
	for patience := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		data, codes := s.ask(t, query)
		if len(codes) == 0 {
			return data
		}
		for _, code := range codes {
			if !slices.Contains([]string{"THROTTLED", "UNAVAILABLE", "TIMEOUT", "OVERLOADED"}, code) {
				t.Fatalf("%s: %s fails with %s\n%s", spoiled, query, code, s.log)
			}
		}
		if spoiled != "" {
			return ""
		}
		if time.Now().After(patience) {
			t.Fatalf("%s still fails with %v\n%s", query, codes, s.log)
		}
	}
}

// ask sends a query, and returns the answer's data and the codes of its errors.
func (s *site) ask(t *testing.T, query string) (data string, codes []string) {
	t.Helper()
	body := must.Get(json.Marshal(map[string]any{"query": query}))(t)
	response := must.Get(http.Post(s.url+"/graphql", "application/json", bytes.NewReader(body)))(t)
	defer response.Body.Close()
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Extensions struct{ Code string } }
	}
	must.Do(t, json.NewDecoder(response.Body).Decode(&answer))
	for _, e := range answer.Errors {
		codes = append(codes, e.Extensions.Code)
	}
	return string(answer.Data), codes
}

// useCase is a command.
type useCase struct {
	arguments []string
	stride    int
	faults    int  // how many kinds are tried in make test
	compared  bool // what it prints is always the same
	counted   bool // everything is counted afterwards
}

// Each call of each command fails once with each fault. The command then prints the same as without
// it, or ends with one sentence. The table is right afterwards, and the next try succeeds.
func TestEveryCallOfEveryCommand(t *testing.T) {
	t.Parallel()
	r := commenttest.Rand(t)
	for name, commands := range map[string][]useCase{
		"reading": {
			{arguments: []string{"stats", "cup"}, stride: 8, faults: 2},
			{arguments: []string{"explain", "--product", "cup", "--ratings", "1,5"}, stride: 8, faults: 2},
			{arguments: []string{"export", "-"}, stride: 12, faults: 2, compared: true},
			{arguments: []string{"verify"}, stride: 60, faults: 2},
		},
		"writing": {
			{arguments: []string{"rebuild"}, stride: 200, faults: 1, counted: true},
			{arguments: []string{"import", "--restore"}, stride: 80, faults: 1, counted: true},
			{arguments: []string{"import", "--restore", "--no-count"}, stride: 20, faults: 2},
		},
	} {
		r := rand.New(rand.NewPCG(r.Uint64(), 0))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := filled(t, r)
			endpoint, way, network := trapped(t)
			for _, c := range commands {
				run := s.runs(t, c, endpoint, r)
				run("")
				everyCall(t, way, network, r, c.stride, commenttest.Times(c.faults, len(faulttest.Kinds)), run)
			}
		})
	}
}

// runs returns a function that runs a command and checks how it ended. Without a text that says
// what is spoiled, it must succeed.
func (s *site) runs(t *testing.T, c useCase, endpoint string, r *rand.Rand) func(spoiled string) {
	want := ""
	return func(spoiled string) {
		arguments := c.arguments
		if arguments[0] == "import" {
			arguments = append(slices.Clone(arguments), export(t, r, commenttest.Times(40, 8))) // verify reads all of them, each time
		}
		out, err := s.prints(t.Context(), endpoint, arguments...)
		if err != nil && (spoiled == "" || !isSentence(err) || strings.Contains(err.Error(), "drift")) {
			t.Errorf("%s: %v", spoiled, err)
		}
		if want == "" {
			want = out
		}
		if diff := cmp.Diff(want, out); c.compared && err == nil && diff != "" {
			t.Errorf("%s: it prints something else: %s", spoiled, diff)
		}
		if spoiled == "" && c.counted {
			if err := s.talkback(t.Context(), s.direct, "verify"); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		}
	}
}

// prints runs a command and returns what it prints.
func (s *site) prints(ctx context.Context, endpoint string, arguments ...string) (string, error) {
	var out, said commenttest.Transcript
	status := talkback(ctx, &out, &said, append(arguments, "--endpoint", endpoint, "--table", s.table)...)
	if status != 0 {
		return out.String(), fmt.Errorf("talkback %s ended with status %d: %s", arguments[0], status, &said)
	}
	return inOrder(out.String()), nil
}

// inOrder returns lines sorted: those of an export have no order.
func inOrder(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// isSentence reports whether a command failed with a sentence, and not with a stack or a raw error.
func isSentence(err error) bool {
	text := strings.TrimSpace(err.Error())
	last := text[strings.LastIndex(text, "\n")+1:]
	return strings.Contains(text, "talkback: ") && !strings.Contains(text, "goroutine ") && !strings.Contains(last, "https response error")
}
