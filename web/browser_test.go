package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/schematest"
)

// serve starts a server of the pages and a stand-in for the API, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	address, _ := serveNoting(t)
	return address
}

// serveNoting is serve, and returns what tells the names of the operations that were asked so far.
func serveNoting(t *testing.T) (address string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var names []string
	note := func(operation string) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, operation)
	}
	mux, api := http.NewServeMux(), stubAPI(schematest.Load(t), note)
	mux.Handle("/", Options{}.Handler(api))
	mux.Handle("POST /graphql", api)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(names)
	}
}

// Each example goes from the list to the server as it was written, with its variables.
func TestExamplesRunInABrowser(t *testing.T) {
	ctx := browsertest.Open(t)
	all := examples(t)
	answers := make([]string, len(all))
	var clicks chromedp.Tasks
	for i, example := range all {
		clicks = append(clicks, browsertest.Example(example.title, &answers[i]))
	}
	browsertest.Visit(t, ctx, serve(t)+"/playground", clicks...)
	for i, example := range all {
		t.Run(example.title, func(t *testing.T) {
			var answer struct {
				Data struct {
					Operation string
					Variables map[string]any
				}
			}
			if err := json.Unmarshal([]byte(answers[i]), &answer); err != nil {
				t.Fatalf("%v in the answer on screen: %s", err, answers[i])
			}
			if answer.Data.Operation != example.operation || !reflect.DeepEqual(answer.Data.Variables, example.variables) {
				t.Errorf("the server was asked for %s", answers[i])
			}
		})
	}
}

// The explorer formats JSON with code of ours in place of Prettier's, and queries with Prettier.
func TestPrettifyInABrowser(t *testing.T) {
	ctx := browsertest.Open(t)
	var ignored string
	const model = `__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith('%s'))`
	query, variables := fmt.Sprintf(model, "operation.graphql"), fmt.Sprintf(model, "variables.json")
	browsertest.Visit(t, ctx, serve(t)+"/playground",
		browsertest.Example("Next page", &ignored),
		chromedp.Evaluate(query+`.setValue('# kept\n{node(id:"a"){id}}')`, nil),
		chromedp.Evaluate(variables+`.setValue('{"a":[1,{"b":null}]}')`, nil),
		browsertest.Click(`button[aria-label^="Prettify"]`),
		browsertest.Until(query+`.getValue() === '# kept\n{\n  node(id: "a") {\n    id\n  }\n}\n'`, nil),
		browsertest.Until(variables+`.getValue() === '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ]\n}'`, nil))
}

// stored is everything that the browser keeps for an origin, as text.
const stored = `(async () => JSON.stringify([
	{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
	await indexedDB.databases(), await caches.keys(), await navigator.serviceWorker.getRegistrations(),
]))()`

// earlier is what versions stored that kept headers.
const earlier = `
	localStorage.setItem('graphiql:headers', '{"Authorization": "Bearer top-secret"}');
	localStorage.setItem('graphiql:shouldPersistHeaders', 'true');
	localStorage.setItem('graphiql:queries', JSON.stringify({ queries: [{ query: '{a}', headers: '{"Authorization": "Bearer top-secret"}' }] }));
	localStorage.setItem('graphiql:favorites', 'torn {"Authorization": "Bearer top-secret"}');
	localStorage.setItem('graphiql:tabState', JSON.stringify({ activeTabIndex: 0, tabs: [
		{ id: '1', title: 't', query: '{earlier}', variables: null, headers: '{"Authorization": "Bearer top-secret"}', operationName: null, response: null },
	] }));`

// A visitor sends a token. The server gets it, tabs and history are kept, and the token is nowhere:
// not after the request, not when the page is loaded again, and none that an earlier version
// stored.
func TestTokensAreNotStored(t *testing.T) {
	ctx := browsertest.Open(t)
	var answer, after, again, cleared string
	const model = `__MONACO.editor.getModels().find(({ uri }) => uri.path.endsWith('%s'))`
	query, headers := fmt.Sprintf(model, "operation.graphql"), fmt.Sprintf(model, "request-headers.json")
	kept := func(key string) chromedp.Action {
		return browsertest.Until(`localStorage.getItem('graphiql:`+key+`')?.includes('# once more')`, nil)
	}
	address := serve(t)
	load := chromedp.Tasks{chromedp.Navigate(address + "/playground"), chromedp.WaitVisible(".graphiql-container", chromedp.ByQuery)}
	browsertest.Visit(t, ctx, address+"/playground",
		browsertest.Example("Newest comments", &answer),
		browsertest.Click(`//button[text()="Headers"]`),
		chromedp.Evaluate(headers+`.setValue('{"Authorization": "Bearer top-secret"}')`, nil),
		chromedp.Evaluate(query+`.setValue('# once more\nquery NewestComments { __typename }')`, nil),
		kept("tabState"), // the editor takes what is typed into its tab a little later
		browsertest.Click(".graphiql-execute-button"),
		kept("queries"),
		browsertest.Until(fmt.Sprintf(model, "response.json")+`.getValue().includes('Bearer top-secret')`, nil),
		browsertest.Until(stored, &after),
		load, browsertest.Until(stored, &again),
		chromedp.Navigate(address), // where no editor stores anything in between
		chromedp.Evaluate(earlier, nil),
		load, browsertest.Until(stored, &cleared))
	for _, row := range []struct{ when, text, keeps string }{
		{"after the request", after, "# once more"},
		{"loaded again", again, "# once more"},
		{"after an earlier version", cleared, "{earlier}"},
	} {
		if strings.Contains(row.text, "top-secret") || !strings.Contains(row.text, row.keeps) {
			t.Errorf("%s, the browser keeps %s", row.when, row.text)
		}
	}
}
