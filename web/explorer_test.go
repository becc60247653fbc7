package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/animation"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// The parts of the page that the tests look for, as JavaScript.
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

// The contents of the editors, and of the answer.
var (
	query, queryVariables = fmt.Sprintf(shown, "operation.graphql"), fmt.Sprintf(shown, "variables.json")
	headers, result       = fmt.Sprintf(shown, "request-headers.json"), fmt.Sprintf(shown, "response.json")
)

// until waits for an expression to be true.
func until(expression string) chromedp.Action { return is(expression, true) }

// is waits for an expression to have a value, and reports the actual one if that fails.
func is(expression string, want any) chromedp.Action {
	text, _ := json.Marshal(want) // strings, lists of them and truths
	return chromedp.ActionFunc(func(ctx context.Context) error {
		inTime, cancel := context.WithTimeout(ctx, explorerPatience)
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

// explorerPatience is the limit of each wait.
const explorerPatience = 2 * time.Minute

// has waits for a text to contain another.
func has(expression, part string) chromedp.Action {
	return is(fmt.Sprintf(`(%s ?? '').includes(%q)`, expression, part), true)
}

// choose clicks an example.
func choose(title string) chromedp.Action {
	return browsertest.Click(fmt.Sprintf(`//button[strong[text()=%q]]`, title))
}

// set puts a text into an editor, which is named by the expression of what it holds.
func set(editor, text string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`%s.setValue(%q)`, strings.TrimSuffix(editor, "?.getValue()"), text), nil)
}

// explorer is a visitor's tab, and a server for it.
type explorer struct {
	browser, ctx context.Context
	address      string
	asked        func() []string // sent so far
}

// newcomer is another visitor, with empty storage.
func (e explorer) newcomer(t *testing.T) explorer {
	t.Helper()
	e.ctx = browsertest.NewVisitor(t, e.browser)
	return e
}

// visit opens a page of the explorer.
func (e explorer) visit(t *testing.T, query string, actions ...chromedp.Action) {
	t.Helper()
	browsertest.Visit(t, e.ctx, e.address+"/playground"+query, actions...)
}

// One browser and one server try all of the explorer, each part for a newcomer.
func TestExplorer(t *testing.T) {
	e := explorer{browser: browsertest.Open(t)}
	e.address, e.asked = serve(t)
	for _, test := range []struct {
		name string
		run  func(explorer, *testing.T)
	}{
		{"first visit", explorer.firstVisit},
		{"examples", explorer.examples},
		{"tokens are not stored", explorer.tokens},
		{"links", explorer.links},
		{"sharing", explorer.sharing},
		{"plan", explorer.plan},
		{"other plans", explorer.otherPlans},
		{"what a browser keeps", explorer.kept},
		{"no answers", explorer.noAnswers},
		{"schema comes late", explorer.schemaComesLate},
		{"without scripts", explorer.withoutScript},
		{"the script does not come", explorer.scriptDoesNotCome},
		{"narrow", explorer.narrow},
		{"stays in place", explorer.staysInPlace},
		{"accessible", explorer.isAccessible},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(e.newcomer(t), t) })
	}
}

// First-time visitors see one tab, its answer and the plan of that. Later they find their own tabs,
// and nothing runs by itself.
func (e explorer) firstVisit(t *testing.T) {
	var answer string
	e.visit(t, "",
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
	if got := e.asked(); !slices.Equal(got, []string{"NewestComments"}) {
		t.Errorf("asked by themselves: %q, want the first example once", got)
	}
}

// An example opens in its own tab, which is in view and marked, and goes to the server as it was
// written, with its variables. These are unfolded if there are any.
func (e explorer) examples(t *testing.T) {
	all := examples(t)
	answers := make([]string, len(all))
	var clicks chromedp.Tasks
	titles := []string{}
	for i, example := range all {
		titles = append(titles, example.operation)
		clicks = append(clicks, browsertest.Example(example.title, &answers[i]),
			is(activeTab, example.operation), is(marked, []string{example.title}),
			is(folded, example.variables == nil), until(tabInView))
	}
	first, next := all[0], "Next page"
	e.visit(t, "",
		clicks, is(tabTitles, titles),
		choose(first.title), is(activeTab, first.operation), until(tabInView), is(tabTitles, titles),
		set(query, first.query+"# changed"),
		until(`!!localStorage.getItem('graphiql:tabState')?.includes('# changed')`), is(marked, []string{first.title}),
		choose(first.title), is(tabTitles, append(titles, first.operation)),
		// The explorer formats JSON with code of ours in place of Prettier's, and queries with Prettier.
		choose(next), is(marked, []string{next}),
		set(query, "# kept\n{node(id:\"a\"){id}}"), set(queryVariables, `{"a":[1,{"b":null}]}`),
		browsertest.Click(`button[aria-label^="Prettify"]`),
		is(query, "# kept\n{\n  node(id: \"a\") {\n    id\n  }\n}\n"),
		is(queryVariables, "{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ]\n}"))
	for i, example := range all {
		var answer struct {
			Data struct {
				Operation string
				Variables map[string]any
			}
		}
		if err := json.Unmarshal([]byte(answers[i]), &answer); err != nil || answer.Data.Operation != example.operation || !reflect.DeepEqual(answer.Data.Variables, example.variables) {
			t.Errorf("%s: the server was asked for %s: %v", example.title, answers[i], err)
		}
	}
}

// The content of a link is shown in its own tab, with its faults, and never run.
func (e explorer) links(t *testing.T) {
	before := len(e.asked())
	first := strings.TrimSpace(examples(t)[0].query)
	const both, markup = "query A { __typename }\nquery B { __typename }", "<img src=x onerror=alert(1)>"
	for _, test := range []struct {
		reason, query, variables, name string
		holds                          string // the variables, once shown
		says                           []string
	}{
		{"what runs for a newcomer", first, `{"first":100}`, "", "{\n  \"first\": 100\n}", []string{"This query came with the link and was not run"}},
		{"one of two queries", both, `{"a":1}`, "B", "{\n  \"a\": 1\n}", []string{"This query came with the link and was not run"}},
		{"a mutation", "mutation M { __typename }", "[1]", "C", "[1]", []string{"It changes data when you press", "are not a JSON object", "“C”, which its query does not have"}},
		{"not a query", markup, markup, "", markup, []string{"The query of the link has an error: Syntax Error", "The variables of the link are not JSON"}},
		{"variables alone", "", "{}", "", markup, []string{"The link has no query"}}, // the earlier tab stays
	} {
		given := url.Values{"query": {test.query}, "variables": {test.variables}, "operationName": {test.name}}
		shows := cmp.Or(test.query, markup)
		actions := chromedp.Tasks{is(query, shows), is(queryVariables, test.holds), is(folded, false), browsertest.SchemaKnown(), is(`location.search !== ""`, true)}
		for _, part := range test.says {
			actions = append(actions, has(noticed, part))
		}
		if test.name == "B" {
			actions = append(actions, is(activeTab, "B"))
		}
		t.Run(test.reason, func(t *testing.T) { e.visit(t, "?"+given.Encode(), actions...) })
	}
	if got := e.asked()[before:]; len(got) > 0 {
		t.Errorf("links made the browser ask for %q", got)
	}
}

// The copy button, and the browser's permission for it.
const (
	press   = `button[aria-label^="Copy a link"]`
	copies  = `navigator.clipboard.writeText = async (text) => { window.copied = text; }`
	refuses = `navigator.clipboard.writeText = async () => { throw new Error('no'); }`
)

// The address that is copied leads another visitor to the same query and variables, and holds no
// headers. One that is too long is not offered. Once the visitor changes the query, the address is
// no longer its own: a reload shows what they wrote.
func (e explorer) sharing(t *testing.T) {
	const shared = "query Shared($n: Int) {\n  # é & + % <b>\n  leaderboard(first: $n) { rank }\n}"
	var copied string
	e.visit(t, "",
		chromedp.WaitVisible(press, chromedp.ByQuery), until(`globalThis.__MONACO?.editor.getModels().length >= 4`),
		chromedp.Evaluate(copies, nil),
		browsertest.Click(`//button[text()="Headers"]`), set(headers, `{"Authorization": "Bearer top-secret"}`),
		set(query, shared), set(queryVariables, `{"n": 2}`),
		browsertest.Click(press), has(noticed, "no headers"), chromedp.Evaluate(`copied`, &copied),
		chromedp.Evaluate(refuses, nil),
		browsertest.Click(press), is(`document.querySelector('.notice input')?.value === copied`, true),
		set(query, "# "+strings.Repeat("x", 8000)),
		browsertest.Click(press), has(noticed, "send the query itself"))
	if strings.Contains(copied, "secret") {
		t.Errorf("the address holds a token: %s", copied)
	}
	parsed, err := url.Parse(copied)
	if err != nil || parsed.Path != "/playground" {
		t.Fatal(copied, err)
	}
	e.newcomer(t).visit(t, "?"+parsed.RawQuery,
		is(query, shared), has(queryVariables, `"n": 2`), until(`!!localStorage.getItem('graphiql:tabState')`),
		chromedp.Reload(), is(query, shared), is(tabTitles, []string{"Shared"}), // the link is not opened once more
		set(query, shared+"# changed"), is(`location.search`, ""), until(`!!localStorage.getItem('graphiql:tabState')?.includes('# changed')`),
		chromedp.Reload(), is(query, shared+"# changed"), is(tabTitles, []string{"Shared"}))
}

// Where a query asks for no plan, or for a part of it, a button adds the whole plan. The API
// accepts the resulting query.
func (e explorer) plan(t *testing.T) {
	var answer string
	e.visit(t, "",
		browsertest.Example("Several products", &answer),
		has(planShown, "what that cost: ask for its plan."),
		browsertest.Click(`//button[text()="Add it to the query"]`),
		has(query, "plan { summary"),
		until(`!document.querySelector('.plan button')`), // all is asked for, so nothing more is offered
		browsertest.Click(".graphiql-execute-button"),
		has(planShown, "Partition key"),
		until(`(({ left, top }) => document.elementFromPoint(left + 4, top + 4).closest('.plan') !== null)(document.querySelector('.plan-body').getBoundingClientRect())`), // no editor lies over it
		forcedColours("active"),
		until(`new Set([['', 'backgroundColor'], [' path', 'fill']].map(([part, colour]) => getComputedStyle(document.querySelector('.graphiql-execute-button' + part))[colour].match(/\d+, \d+, \d+/)[0])).size === 2`), // its sign is in sight
		forcedColours(""),
		browsertest.Example("One language", &answer),
		browsertest.Click(`//button[text()="Ask for all of it"]`),
		has(query, "candidates {"),
		browsertest.Click(".graphiql-execute-button"),
		browsertest.Answer(&answer),
		browsertest.Click(`.plan summary`), until(`!document.querySelector('.plan').open`),
		chromedp.Reload(),
		browsertest.Example("Newest comments", &answer), until(`!document.querySelector('.plan').open`),
		browsertest.Example("Add a comment", &answer),
		has(`document.querySelector('.plan')?.textContent`, "Only lists of comments have a plan"))
}

// forcedColours has the system choose the colours of pages, if active.
func forcedColours(forced string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "forced-colors", Value: forced}})
}

// answering has the page get an answer of the API, or fail to, by a statement in JavaScript; no
// schema comes then.
func answering(statement string) chromedp.Action {
	return chromedp.Evaluate(`window.fetch = async () => { `+statement+` }`, nil)
}

// before runs a script in each page before its own.
func before(script string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	})
}

// An alias gives any field the name of a plan or of a part of one. The strip shows what it can of
// that, and of many plans the first. A word that is longer than a line is broken.
func (e explorer) otherPlans(t *testing.T) {
	const text = `"<img src=x onerror=alert(1)>"`
	var answer string
	actions := chromedp.Tasks{browsertest.Answer(&answer)}
	for _, test := range []struct{ data, shows string }{
		{`{"plan": {"summary": {"total": 1}, "reads": ` + text + `, "candidates": {"length": 1}, "position": 1}}`, "A plan can say more"},
		{`{"plan": {"skipped": [null, 5, {"index": {}, "limit": ` + text + `}], "readUnits": {}}}`, "<img src=x"},
		{`{"list": [` + strings.Repeat(`{"plan": {"summary": "one"}}, `, 60) + `null]}`, "The other 10 are in the answer alone."},
	} {
		actions = append(actions,
			answering(fmt.Sprintf("return Response.json({ data: %s })", test.data)),
			browsertest.Click(".graphiql-execute-button"), has(planShown, test.shows), until(`!!document.querySelector('.graphiql-container')`))
	}
	e.visit(t, "", append(actions,
		answering(`return Response.json({ data: { plan: { summary: 'P#' + 'x'.repeat(500) } } })`), // a long id
		browsertest.Click(".graphiql-execute-button"), has(planShown, "xxx"),
		is(`(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.graphiql-footer'))`, 0))...)
}

// The page works in a browser that lets it keep nothing, and with what it did not keep in this
// form.
func (e explorer) kept(t *testing.T) {
	for _, script := range []string{
		`Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })`,
		`if (window === top) for (const [key, value] of Object.entries({ tabState: '{"tabs":null}', queries: '5', favorites: '{"favorites":[null]}' })) localStorage.setItem('graphiql:' + key, value)`,
	} {
		var answer string
		visitor := e.newcomer(t)
		must.Do(t, chromedp.Run(visitor.ctx, before(script)))
		visitor.visit(t, "", browsertest.Answer(&answer), has(planShown, "P#1/5"))
	}
}

// Where there is no answer of the API, what came is shown, or what to do.
func (e explorer) noAnswers(t *testing.T) {
	var answer string
	actions := chromedp.Tasks{browsertest.Answer(&answer)}
	for statement, says := range map[string]string{
		`return Response.json(null)`: "HTTP 200: null",
		`return new Response('{"a":'.repeat(20000) + 1 + '}'.repeat(20000), { headers: { 'content-type': 'application/json' } })`: "nested too deeply",
		`return new Response('{"data', { headers: { 'content-type': 'application/json' } })`:                                      `HTTP 200: {\"data`,
		`return new Response('<p>Bad gateway</p>', { status: 502 })`:                                                              "HTTP 502: <p>Bad gateway</p>",
		`return new Response(null, { status: 204 })`:                                                                              "HTTP 204: nothing else came",
		`throw new TypeError('Failed to fetch')`:                                                                                  "Failed to fetch. Look whether it runs",
	} {
		actions = append(actions, answering(statement), browsertest.Click(".graphiql-execute-button"), has(result, says), until(`!document.querySelector('.graphiql-spinner')`))
	}
	e.visit(t, "", append(actions, browsertest.Click(`//button[text()="Headers"]`), set(headers, `{"a b": "c"}`),
		browsertest.Click(".graphiql-execute-button"), has(result, "Correct it in the pane of headers"))...)
}

// A schema that could not be read when the page opened is read with the next run, and a run is what
// the visitor is told to try.
func (e explorer) schemaComesLate(t *testing.T) {
	const docs = `document.querySelector('.graphiql-plugin')?.innerText`
	must.Do(t, chromedp.Run(e.ctx, before(`window.ask = fetch; window.fetch = async () => { throw new TypeError('Failed to fetch'); }`)))
	e.visit(t, "", browsertest.Click(`button[aria-label="Show Documentation Explorer"]`), has(docs, "Error fetching schema"),
		has(result, "press the run button again"), until(`!document.querySelector('.graphiql-spinner')`),
		chromedp.Evaluate(`window.fetch = window.ask`, nil), browsertest.Click(".graphiql-execute-button"), has(docs, "Root Types"))
}

// Where no scripts run, the page says at its top what it needs, and not that it loads.
func (e explorer) withoutScript(t *testing.T) {
	const inView = `[...document.querySelectorAll('.waiting')].filter((part) => part.checkVisibility() && part.getBoundingClientRect().bottom <= innerHeight)
		.map(({ textContent }) => textContent.split('.')[0]).join()`
	var text string
	must.Do(t, chromedp.Run(e.ctx, emulation.SetScriptExecutionDisabled(true)))
	e.visit(t, "", chromedp.Evaluate(inView, &text))
	if want := "The explorer needs JavaScript"; text != want {
		t.Errorf("the page says %q, want %q", text, want)
	}
}

// If the script does not come, the page says so after a while, and not before.
func (e explorer) scriptDoesNotCome(t *testing.T) {
	const inView = `[...document.querySelectorAll('.waiting')].filter((part) => part.checkVisibility({ visibilityProperty: true })).map(({ textContent }) => textContent.split(/[….,]/)[0])`
	must.Do(t, chromedp.Run(e.ctx, network.Enable(), network.SetBlockedURLs([]string{"*/app-*.js"}),
		animation.Enable(), animation.SetPlaybackRate(0), chromedp.Navigate(e.address+"/playground"),
		is(inView, []string{"Loading the explorer"}),
		chromedp.Evaluate(`document.getAnimations().forEach((animation) => animation.finish())`, nil),
		is(inView, []string{"Loading the explorer", "If this lasts"})))
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
	const cut = [...document.querySelectorAll('.switch button')].filter((button) => button.scrollWidth > button.clientWidth);
	const longer = [document.documentElement].filter((page) => page.scrollHeight > high || page.scrollWidth > wide);
	return [...outside, ...small, ...covered, ...cut, ...longer].map((element) => element.tagName + '.' + element.className);
})()`

// narrowPart is a button of the switch, by its text.
const narrowPart = `//div[@class="switch"]/button[text()=%q]`

// On a phone one part is on screen at a time; the switch works by touch and by keyboard, and
// nothing is cut off, also with text of twice the size.
func (e explorer) narrow(t *testing.T) {
	part := func(title string) string { return fmt.Sprintf(narrowPart, title) }
	visible := func(selectors ...string) chromedp.Action {
		const all = `['.graphiql-plugin', '.graphiql-query-editor', '.graphiql-response']`
		return is(all+`.filter((part) => document.querySelector(part)?.checkVisibility())`, selectors)
	}
	var answer string
	e.visit(t, "", chromedp.EmulateViewport(320, 568),
		browsertest.Answer(&answer), visible(".graphiql-response"), has(planShown, "P#1/5"), is(fits, []string{}),
		browsertest.Click(part("Examples")), visible(".graphiql-plugin"), is(fits, []string{}),
		choose("Ratings and languages"), visible(".graphiql-query-editor"), is(fits, []string{}),
		is(`document.activeElement.textContent`, "Query"), // it is not lost in what is hidden now
		browsertest.Click(".graphiql-execute-button"), visible(".graphiql-response"),
		has(planShown, "P#1/5"), is(fits, []string{}),
		chromedp.Focus(part("Examples")), chromedp.KeyEvent(kb.Enter), visible(".graphiql-plugin"),
		browsertest.Click(`button[aria-label="Show History"]`), is(fits, []string{}),
		browsertest.Click(`button[aria-label="Hide History"]`), visible(".graphiql-query-editor"),
		browsertest.Click(part("Examples")), visible(".graphiql-plugin"), has(`document.querySelector('.graphiql-plugin').innerText`, "Examples"),
		chromedp.Evaluate(`document.documentElement.style.fontSize = '200%'`, nil), is(fits, []string{}),
		browsertest.Click(part("Query")), is(fits, []string{}),
		browsertest.Click(part("Result")), is(fits, []string{}),
		chromedp.Evaluate(`document.documentElement.style.fontSize = ''`, nil), browsertest.Click(part("Examples")),
		chromedp.EmulateViewport(768, 800), visible(".graphiql-plugin", ".graphiql-query-editor", ".graphiql-response"), is(fits, []string{}),
		chromedp.EmulateViewport(1280, 800), visible(".graphiql-plugin", ".graphiql-query-editor", ".graphiql-response"), is(fits, []string{}))
}

// shifts tells how far parts of the page moved while it loaded, and which.
const shifts = `(() => {
	const shifts = [];
	const add = (list) => shifts.push(...list);
	const observer = new PerformanceObserver((list) => add(list.getEntries()));
	observer.observe({ type: 'layout-shift', buffered: true });
	return new Promise((done) => setTimeout(() => { add(observer.takeRecords()); done(shifts.map(({ value, sources }) => ({ value, parts: sources.map(
		({ node, previousRect: from, currentRect: to }) => (node?.className || node?.id || node?.nodeName || 'gone') + ': ' + [from.x, from.y, from.width, from.height] + ' to ' + [to.x, to.y, to.width, to.height]) }))); }, 300));
})()`

// Nothing that a visitor sees moves while the explorer loads, on a phone and elsewhere. Browsers
// score moves from 0, and call up to 0.1 good.
func (e explorer) staysInPlace(t *testing.T) {
	for _, size := range [][2]int64{{360, 640}, {768, 800}, {1280, 800}} {
		var answer string
		var moved []struct {
			Value float64
			Parts []string
		}
		visitor := e.newcomer(t)
		must.Do(t, chromedp.Run(visitor.ctx, chromedp.EmulateViewport(size[0], size[1])))
		visitor.visit(t, "", browsertest.Answer(&answer), has(planShown, "P#1/5"),
			chromedp.Evaluate(shifts, &moved, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		sum := 0.0
		for _, move := range moved {
			sum += move.Value
		}
		if sum >= 0.02 {
			t.Errorf("at %d px the layout shifts by %.3f: %+v", size[0], sum, moved)
		}
	}
}

// The explorer is committed as built; this notices without Node when the colours have moved on
// since.
func TestColoursAreInTheBuiltExplorer(t *testing.T) {
	sheets := ""
	for path, file := range shared() {
		if strings.HasPrefix(path, "/playground/") && strings.HasSuffix(path, ".css") {
			sheets += unpacked(t, file.packed())
		}
	}
	for _, declared := range tokenForm.FindAllString(read(t, "look/tokens.css"), -1) {
		if !strings.Contains(sheets, strings.TrimSuffix(declared, ";")) {
			t.Errorf("explorer/dist has not %s of look/tokens.css; run make explorer", declared)
		}
	}
}

// Licences ask for their text, not for their name. The notices are those of Monaco and Prettier,
// which bundle packages themselves.
func TestLicencesOfTheExplorer(t *testing.T) {
	all := unpacked(t, shared()["/playground/licences.txt"].packed())
	for section := range strings.SplitSeq(all, "\n"+strings.Repeat("-", 80)+"\n\n") {
		if len(section) < 500 {
			t.Errorf("explorer/dist has no text of the licence of %s", section)
		}
	}
	for _, notice := range []string{"END OF nodejs path library NOTICES", "# Licenses of bundled dependencies"} {
		if !strings.Contains(all, notice) {
			t.Errorf("explorer/dist lacks the notice %q", notice)
		}
	}
}

// The explorer keeps the rules of accessibility, light and dark, wide and narrow. Left out are the
// tabs, which are GraphiQL's: each has the role of a tab and holds buttons.
func (e explorer) isAccessible(t *testing.T) {
	var answer string
	e.visit(t, "", chromedp.EmulateViewport(1280, 800),
		browsertest.Example("Ratings and languages", &answer), has(planShown, "P#1/5"),
		chromedp.Evaluate(refuses, nil), browsertest.Click(press), until(`!!document.querySelector('.notice input')`))
	for scheme, parts := range map[string][]string{"light": {"", "Examples"}, "dark": {"", "Query", "Result"}} { // a wide window has them all
		look := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
		for _, part := range parts {
			actions := chromedp.Tasks{look, chromedp.EmulateViewport(1280, 800)}
			if part != "" {
				actions = chromedp.Tasks{chromedp.EmulateViewport(360, 640), browsertest.Click(fmt.Sprintf(narrowPart, part))}
			}
			must.Do(t, chromedp.Run(e.ctx, actions))
			browsertest.Axe(t, e.ctx, ".graphiql-tabs")
		}
	}
}
