package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/schematest"
)

// serve starts a server of the pages and a stand-in for the API. It returns its address, and what
// tells the names of the operations that were asked so far.
func serve(t *testing.T) (address string, asked func() []string) {
	t.Helper()
	mux, api := http.NewServeMux(), &stub{schema: schematest.Load(t)}
	mux.Handle("/", Options{}.Handler(api))
	mux.Handle("POST /graphql", api)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, api.names
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
func (e explorer) tokens(t *testing.T) {
	var answer, after, again, cleared string
	kept := func(key string) chromedp.Action {
		return until(`localStorage.getItem('graphiql:` + key + `')?.includes('# once more')`)
	}
	load := chromedp.Tasks{chromedp.Navigate(e.address + "/playground"), chromedp.WaitVisible(".graphiql-container", chromedp.ByQuery)}
	e.visit(t, "",
		browsertest.Example("Newest comments", &answer),
		browsertest.Click(`//button[text()="Headers"]`),
		set(headers, `{"Authorization": "Bearer top-secret"}`),
		set(query, "# once more\nquery NewestComments { __typename }"),
		kept("tabState"), // the editor takes what is typed into its tab a little later
		browsertest.Click(".graphiql-execute-button"),
		kept("queries"),
		has(result, "Bearer top-secret"),
		browsertest.Until(stored, &after),
		load, browsertest.Until(stored, &again),
		chromedp.Navigate(e.address), // where no editor stores anything in between
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
