package command_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/sample"
)

// promises are parts of the answers to the explorer's examples, in the order in which the test
// clicks them. The comment that is added is then edited and deleted.
var promises = []struct{ title, shows string }{
	{"Newest comments", `"summary"`},
	{"One language", `"language": "de"`},
	{"Ratings and languages", `"partitionKey": "P#espresso-machine`}, // its index depends on the statistics
	{"Next page", `"hasPreviousPage": false`},
	{"Previous page", `"hasNextPage": false`},
	{"Date range", `"createdAt": "2024-`},
	{"Latest praise and complaint", `"latestNegative": {`},
	{"One comment", `"title": "The best espresso I've had at home"`},
	{"Several products", `"id": "never-commented-on"`},
	{"Statistics", `"totalCount": `},
	{"Leaderboard", `"leaderboard": [`},
	{"Comments counted in a range of dates", `"counted": true`},
	{"Numbered links", `"isCurrent": true`},
	{"Add a comment", `"userErrors": []`},
	{"Edit a comment", `"version": 2`},
	{"Delete a comment", `"title": "Better after a week"`},
}

// tryExplorer clicks the explorer's examples in a real browser, on a server with the sample data
// that has two subscriptions at most. Each answers without an error and shows what it promises.
func tryExplorer(t *testing.T, s *server) {
	browser := browsertest.Open(t)
	answers := make([]string, len(promises))
	var clicks chromedp.Tasks
	for i, promise := range promises {
		clicks = append(clicks, browsertest.Example(promise.title, &answers[i]))
	}
	browsertest.Visit(t, browser, s.address+"/playground", clicks...)
	t.Run("subscriptions", func(t *testing.T) { subscribeInExplorer(t, browser, s) })
	for i, promise := range promises {
		t.Run(promise.title, func(t *testing.T) {
			var parsed struct{ Errors []any }
			if err := json.Unmarshal([]byte(answers[i]), &parsed); err != nil || len(parsed.Errors) > 0 {
				t.Fatalf("%v\n%s", err, answers[i])
			}
			if !strings.Contains(answers[i], promise.shows) {
				t.Errorf("the answer does not show %s:\n%s", promise.shows, answers[i])
			}
		})
	}
}

// subscribeInExplorer checks that each event of a subscription replaces the one before until the
// subscription is stopped. It also checks the server's reason to refuse one.
func subscribeInExplorer(t *testing.T, browser context.Context, s *server) {
	press := browsertest.Click(".graphiql-execute-button")
	shows := func(part string) chromedp.Action {
		return browsertest.Until(`globalThis.__MONACO?.editor.getModels().some((model) => model.uri.path.endsWith('response.json') && model.getValue().includes('`+part+`'))`, nil)
	}
	button := func(label string) chromedp.Action {
		return browsertest.Until(`document.querySelector('.graphiql-execute-button')?.ariaLabel.startsWith('`+label+`')`, nil)
	}
	visit := func(query string, actions ...chromedp.Action) {
		address := s.address + "/playground?" + url.Values{"query": {query}}.Encode()
		browsertest.Visit(t, browser, address, append([]chromedp.Action{browsertest.SchemaKnown(), press}, actions...)...)
	}
	adds := chromedp.ActionFunc(func(context.Context) error { s.added(t, "samovar"); return nil })
	visit(`subscription { stats(productId: "samovar") { total } }`,
		shows(`"total": 0`), button("Stop"), adds, shows(`"total": 1`), press, button("Execute"), shows(`"total": 1`))
	visit(`subscription { commentEvents(productId: "samovar") { comment { product { stats { total } } } } }`,
		shows("EVENT_READS"), button("Execute"))
}

// Every comment and product that an example names is in the sample data, except for one whose name
// says that it is not.
func TestIDsOfExamplesExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"never-commented-on": true}
	for c := range sample.Comments() {
		known[string(c.ID)], known[c.ProductID] = true, true
	}
	paths := must.Get(filepath.Glob("../web/explorer/examples/*"))(t)
	ids := regexp.MustCompile(`"(c_\w+)"|product\(id: "([^"]+)"\)|"productId": "([^"]+)"|"ids": \[([^]]+)\]`)
	found := 0
	for _, path := range paths {
		text := must.Get(os.ReadFile(path))(t)
		for _, match := range ids.FindAllStringSubmatch(string(text), -1) {
			for id := range strings.SplitSeq(strings.Join(match[1:], ""), ",") {
				if id = strings.Trim(id, `" `); !known[id] {
					t.Errorf("%s: %q is not in the sample", path, id)
				}
				found++
			}
		}
	}
	if found < len(promises) {
		t.Errorf("%d ids found in the examples, want at least one for each of most", found)
	}
}
