package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/talkback/talkback/internal/browsertest"
)

// What the tests look for on the page, as JavaScript.
const (
	tabTitles = `[...document.querySelectorAll('.graphiql-tab-button')].map((tab) => tab.textContent)`
	activeTab = `document.querySelector('.graphiql-tab-active .graphiql-tab-button')?.textContent`
	marked    = `[...document.querySelectorAll('.examples [aria-current] strong')].map((title) => title.textContent)`
	folded    = `document.querySelector('.graphiql-toggle-editor-tools')?.getAttribute('aria-label').startsWith('Show')`
	noticed   = `document.querySelector('.notice')?.innerText`
	planShown = `document.querySelector('.plan')?.innerText`
	shown     = `globalThis.__MONACO?.editor.getModels().find(({ uri }) => uri.path.endsWith('%s'))?.getValue()`

	// tabInView is whether all of the active tab can be seen.
	tabInView = `(() => {
		const tab = document.querySelector('.graphiql-tab-active').getBoundingClientRect();
		const strip = document.querySelector('.graphiql-tabs').getBoundingClientRect();
		return tab.left >= strip.left - 1 && tab.right <= strip.right + 1;
	})()`
)

// query and variables are what the editors hold.
var query, variables = fmt.Sprintf(shown, "operation.graphql"), fmt.Sprintf(shown, "variables.json")

// until waits for an expression to be true.
func until(expression string) chromedp.Action { return is(expression, true) }

// is waits for an expression to have a value, and tells what it has instead if that does not come.
func is(expression string, want any) chromedp.Action {
	text, _ := json.Marshal(want) // strings, lists of them and truths
	return chromedp.ActionFunc(func(ctx context.Context) error {
		inTime, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		condition := fmt.Sprintf(`JSON.stringify(%s) === JSON.stringify(%s)`, expression, text)
		err := browsertest.Until(condition, nil).Do(inTime)
		if err != nil {
			var got string
			err = errors.Join(err, chromedp.Evaluate(fmt.Sprintf(`JSON.stringify(%s) ?? ''`, expression), &got).Do(ctx))
			return fmt.Errorf("%s is %s, want %s: %w", expression, got, text, err)
		}
		return nil
	})
}

// patience is how long a test waits for one thing.
const patience = 20 * time.Second

// has waits for a text to contain another.
func has(expression, part string) chromedp.Action {
	return is(fmt.Sprintf(`(%s ?? '').includes(%q)`, expression, part), true)
}

// choose clicks an example.
func choose(title string) chromedp.Action {
	return chromedp.Click(fmt.Sprintf(`//button[strong[text()=%q]]`, title))
}

// set puts a text into an editor, which is named by the expression of what it holds.
func set(editor, text string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`%s.setValue(%q)`, strings.TrimSuffix(editor, "?.getValue()"), text), nil)
}

// One browser tries all of what the explorer does by itself. Each subtest has a server of its own
// and so, for the browser, nothing that was stored before.
func TestExplorer(t *testing.T) {
	ctx := browsertest.Open(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, context.Context)
	}{
		{"first visit", firstVisit},
		{"own tabs", ownTabs},
		{"links", links},
		{"sharing", sharing},
		{"plan", plan},
		{"narrow", narrow},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, ctx) })
	}
}

// Who comes for the first time sees one tab, its answer and the plan of that. Later they find
// their own tabs, and nothing runs by itself.
func firstVisit(t *testing.T, ctx context.Context) {
	address, asked := serveNoting(t)
	var answer string
	browsertest.Visit(t, ctx, address+"/playground",
		browsertest.Answer(&answer),
		is(tabTitles, []string{"NewestComments"}),
		is(marked, []string{"Newest comments"}),
		is(folded, true),
		has(planShown, "0.5 read units, 1 wave"),
		has(planShown, "P#1/5"),
		set(query, "query Own { __typename }"),
		until(`!!localStorage.getItem('graphiql:tabState')?.includes('query Own')`),
		chromedp.Reload(),
		is(tabTitles, []string{"Own"}),
		browsertest.SchemaKnown())
	if got := asked(); !slices.Equal(got, []string{"NewestComments"}) {
		t.Errorf("asked by themselves: %q, want the first example once", got)
	}
}

// An example opens in a tab of its own, which is in view and marked; variables are unfolded where
// there are any.
func ownTabs(t *testing.T, ctx context.Context) {
	var clicks chromedp.Tasks
	titles := []string{}
	for _, example := range examples(t) {
		titles = append(titles, example.operation)
		clicks = append(clicks, choose(example.title),
			is(activeTab, example.operation), is(marked, []string{example.title}),
			is(folded, example.variables == nil), until(tabInView))
	}
	first := examples(t)[0]
	browsertest.Visit(t, ctx, serve(t)+"/playground",
		chromedp.WaitEnabled(fmt.Sprintf(`//button[strong[text()=%q]]`, first.title)),
		clicks, is(tabTitles, titles),
		choose(first.title), is(activeTab, first.operation), until(tabInView), is(tabTitles, titles),
		set(query, first.query+"# changed"),
		until(`!!localStorage.getItem('graphiql:tabState')?.includes('# changed')`), is(marked, []string{first.title}),
		choose(first.title), is(tabTitles, append(titles, first.operation)))
}

// What comes by a link is shown in a tab of its own, with what is wrong with it, and never run.
func links(t *testing.T, ctx context.Context) {
	address, asked := serveNoting(t)
	both := "query A { __typename }\nquery B { __typename }"
	for _, test := range []struct {
		reason, query, variables, name string
		shows, holds, says             string
	}{
		{"a query", "query Mine { __typename }", `{"a":1}`, "", "query Mine { __typename }", "{\n  \"a\": 1\n}", "This query came with the link and was not run"},
		{"the same once more", "query Mine { __typename }", `{"a":1}`, "", "query Mine { __typename }", "{\n  \"a\": 1\n}", "was not run"},
		{"a mutation", "mutation M { __typename }", "", "", "mutation M { __typename }", "", "It changes data when you press"},
		{"one of two", both, "", "B", both, "", "This query came with the link"},
		{"one that is not there", both, "", "C", both, "", "“C”, which its query does not have"},
		{"not a query", "hello", "", "", "hello", "", "The query of the link has an error: Syntax Error"},
		{"variables that are no JSON", "{a}", "{", "", "{a}", "{", "The variables of the link are not JSON"},
		{"variables that are no object", "{a}", "[1]", "", "{a}", "[1]", "are not a JSON object"},
		{"markup", "{b}", "<img src=x onerror=alert(1)>", "<b>", "{b}", "<img src=x onerror=alert(1)>", "“<b>”, which"},
		{"variables alone", "", "{}", "", "{b}", "<img src=x onerror=alert(1)>", "The link has no query"},
	} {
		given := url.Values{}
		for key, value := range map[string]string{"query": test.query, "variables": test.variables, "operationName": test.name} {
			if value != "" {
				given.Set(key, value)
			}
		}
		actions := chromedp.Tasks{has(noticed, test.says), is(query, test.shows), is(variables, test.holds), is(folded, test.holds == ""), browsertest.SchemaKnown()}
		if test.reason == "one of two" {
			actions = append(actions, is(activeTab, "B"))
		}
		if test.reason == "the same once more" {
			actions = append(actions, is(tabTitles, []string{"Mine"}))
		}
		t.Run(test.reason, func(t *testing.T) { browsertest.Visit(t, ctx, address+"/playground?"+given.Encode(), actions...) })
	}
	if got := asked(); len(got) > 0 {
		t.Errorf("links made the browser ask for %q", got)
	}
}

// The address that is copied leads another visitor to the same query and variables, and holds no
// headers. One that is too long is not offered.
func sharing(t *testing.T, ctx context.Context) {
	const press = `button[aria-label^="Copy a link"]`
	const copies = `navigator.clipboard.writeText = async (text) => { window.copied = text; }`
	const refuses = `navigator.clipboard.writeText = async () => { throw new Error('no'); }`
	headers := fmt.Sprintf(shown, "request-headers.json")
	const shared = "query Shared($n: Int) {\n  # é & + % <b>\n  leaderboard(first: $n) { rank }\n}"
	var copied string
	browsertest.Visit(t, ctx, serve(t)+"/playground",
		chromedp.WaitVisible(press, chromedp.ByQuery), until(`globalThis.__MONACO?.editor.getModels().length >= 4`),
		chromedp.Evaluate(copies, nil),
		chromedp.Click(`//button[text()="Headers"]`), set(headers, `{"Authorization": "Bearer top-secret"}`),
		set(query, shared), set(variables, `{"n": 2}`),
		chromedp.Click(press, chromedp.ByQuery), has(noticed, "no headers"), chromedp.Evaluate(`copied`, &copied),
		chromedp.Evaluate(refuses, nil),
		chromedp.Click(press, chromedp.ByQuery), is(`document.querySelector('.notice input')?.value === copied`, true),
		set(query, "# "+strings.Repeat("x", 8000)),
		chromedp.Click(press, chromedp.ByQuery), has(noticed, "send the query itself"))
	if strings.Contains(copied, "secret") {
		t.Errorf("the address holds a token: %s", copied)
	}
	parsed, err := url.Parse(copied)
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Visit(t, ctx, serve(t)+parsed.RequestURI(), is(query, shared), has(variables, `"n": 2`))
}

// Where a query asks for no plan, or for a part of it, a button asks for all; what comes out is a
// query that the API takes.
func plan(t *testing.T, ctx context.Context) {
	var answer string
	address, asked := serveNoting(t)
	browsertest.Visit(t, ctx, address+"/playground",
		browsertest.Example("Several products", &answer),
		has(planShown, "what that cost: ask for its plan."),
		chromedp.Click(`//button[text()="Add it to the query"]`),
		has(query, "plan { summary"),
		until(`!document.querySelector('.plan button')`), // all is asked for, so nothing more is offered
		chromedp.Click(".graphiql-execute-button", chromedp.ByQuery),
		has(planShown, "Partition key"),
		browsertest.Example("One language", &answer),
		chromedp.Click(`//button[text()="Ask for all of it"]`),
		has(query, "candidates {"),
		chromedp.Click(".graphiql-execute-button", chromedp.ByQuery),
		has(fmt.Sprintf(shown, "response.json"), "OneLanguage"),
		chromedp.Click(`.plan summary`, chromedp.ByQuery), until(`!document.querySelector('.plan').open`),
		chromedp.Reload(),
		browsertest.Example("Newest comments", &answer), until(`!document.querySelector('.plan').open`),
		browsertest.Example("Add a comment", &answer),
		has(`document.querySelector('.plan')?.textContent`, "Only lists of comments have a plan"))
	if got := asked(); len(got) < 6 {
		t.Errorf("asked %q", got)
	}
}

// fits is whether nothing on the page is beyond its edges but what scrolls, and every button that
// stands alone is large enough for a finger.
const fits = `(() => {
	const wide = document.documentElement.clientWidth, high = document.documentElement.clientHeight;
	const scrolls = '.monaco-editor, .graphiql-tabs, .graphiql-plugin, .graphiql-footer';
	const outside = [...document.querySelectorAll('#switch *, #explorer *')].filter((element) => {
		const box = element.getBoundingClientRect();
		return element.checkVisibility({ opacityProperty: true }) && !element.closest('svg') && !element.parentElement.closest(scrolls) &&
			box.width > 1 && (box.left < -1 || box.right > wide + 1 || box.top < -1 || box.bottom > high + 1);
	});
	const small = [...document.querySelectorAll('.switch button, .graphiql-sidebar button, .graphiql-toolbar button, .examples button, .plan button')]
		.filter((button) => button.checkVisibility() && button.getBoundingClientRect().height < 40);
	const tools = document.querySelector('.graphiql-editor-tools');
	const covered = [...document.querySelectorAll('.graphiql-toolbar button')]
		.filter((button) => button.checkVisibility() && button.getBoundingClientRect().bottom > tools.getBoundingClientRect().top);
	const longer = [document.documentElement].filter((page) => page.scrollHeight > high || page.scrollWidth > wide);
	return [...outside, ...small, ...covered, ...longer].map((element) => element.tagName + '.' + element.className);
})()`

// On a phone one part is on screen at a time; the switch works by touch and by keyboard, and
// nothing is cut off.
func narrow(t *testing.T, ctx context.Context) {
	part := func(title string) string { return fmt.Sprintf(`//div[@class="switch"]/button[text()=%q]`, title) }
	visible := func(selectors ...string) chromedp.Action {
		const all = `['.graphiql-plugin', '.graphiql-query-editor', '.graphiql-response']`
		return is(all+`.filter((part) => document.querySelector(part)?.checkVisibility())`, selectors)
	}
	var answer string
	browsertest.Visit(t, ctx, serve(t)+"/playground", chromedp.EmulateViewport(320, 568),
		browsertest.Answer(&answer), visible(".graphiql-response"), has(planShown, "P#1/5"), is(fits, []string{}),
		chromedp.Click(part("Examples")), visible(".graphiql-plugin"), is(fits, []string{}),
		choose("Ratings and languages"), visible(".graphiql-query-editor"), is(fits, []string{}),
		is(`document.activeElement.textContent`, "Query"), // it is not lost in what is hidden now
		chromedp.Click(".graphiql-execute-button", chromedp.ByQuery), visible(".graphiql-response"),
		has(planShown, "P#1/5"), is(fits, []string{}),
		chromedp.Focus(part("Examples")), chromedp.KeyEvent(kb.Enter), visible(".graphiql-plugin"),
		chromedp.Click(`button[aria-label="Show History"]`, chromedp.ByQuery), is(fits, []string{}),
		chromedp.Click(`button[aria-label="Hide History"]`, chromedp.ByQuery), visible(".graphiql-query-editor"),
		chromedp.Click(part("Examples")), visible(".graphiql-plugin"), has(`document.querySelector('.graphiql-plugin').innerText`, "Examples"),
		chromedp.EmulateViewport(768, 800), visible(".graphiql-plugin", ".graphiql-query-editor", ".graphiql-response"), is(fits, []string{}),
		chromedp.EmulateViewport(1280, 800), visible(".graphiql-plugin", ".graphiql-query-editor", ".graphiql-response"), is(fits, []string{}))
}

// The explorer keeps the rules of accessibility, light and dark, wide and narrow. Left out are the
// tabs, which are GraphiQL's: each has the role of a tab and holds buttons.
func TestExplorerIsAccessible(t *testing.T) {
	ctx := browsertest.Open(t)
	var answer string
	for _, scheme := range []string{"light", "dark"} {
		look := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
		browsertest.Visit(t, ctx, serve(t)+"/playground?query={a}", look, chromedp.EmulateViewport(1280, 800),
			has(noticed, "came with the link"), browsertest.Example("Ratings and languages", &answer), has(planShown, "P#1/5"))
		browsertest.Axe(t, ctx, ".graphiql-tabs")
		browsertest.Visit(t, ctx, serve(t)+"/playground", chromedp.EmulateViewport(360, 640),
			browsertest.Answer(&answer), has(planShown, "P#1/5"))
		browsertest.Axe(t, ctx, ".graphiql-tabs")
	}
}
