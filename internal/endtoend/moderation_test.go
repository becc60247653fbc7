package endtoend

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// TestModeration has a table for each test, since each decides about all waiting comments.
func TestModeration(t *testing.T) {
	browser := browsertest.Open(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *desk)
	}{
		{"approve and reject", approveAndReject},
		{"undo", undoDecisions},
		{"several at once", severalAtOnce},
		{"much at once", leaveWithMuch},
		{"by keyboard", moderateByKeyboard},
		{"filters and pages", filtersAndPages},
		{"held edit", heldEdit},
		{"pictures", picturesAtTheDesk},
		{"reply", replyAtTheDesk},
		{"records", recordsOfAComment},
		{"conflict", decisionConflicts},
		{"waits no more", decideWhatWaitsNoMore},
		{"under way", leaveWhileItSends},
		{"decided while signing out", decideWhileSigningOut},
		{"in trouble", moderateInTrouble},
		{"what was typed", keepWhatWasTyped},
		{"slow network", decideWhileItLoads},
		{"signed out meanwhile", signOutWhileItLoads},
		{"nothing is kept", func(t *testing.T, d *desk) {
			moderateWithoutStorage(t, d, `for (const storage of ['sessionStorage', 'localStorage']) {
				Object.defineProperty(window, storage, { get() { throw new DOMException('no', 'SecurityError'); } });
			}`)
		}},
		{"storage is full", func(t *testing.T, d *desk) {
			moderateWithoutStorage(t, d, `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }`)
		}},
		{"hostile texts", moderateHostileTexts},
		{"long texts", moderateLongTexts},
		{"accessible", deskIsAccessible},
		{"large text", deskWithLargeText},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, openDesk(t, browser)) })
	}
	t.Run("sign in", func(t *testing.T) { moderatorsSignIn(t, browser) })
	t.Run("another moderator", func(t *testing.T) { anotherModeratorSignsIn(t, browser) })
	t.Run("reported edit", func(t *testing.T) { rejectAReportedEdit(t, browser) })
}

// desk is the page for moderators in a tab, and its server.
type desk struct {
	*tab
	site *site
}

// openDesk starts a server that holds every comment.
func openDesk(t *testing.T, browser context.Context) *desk {
	t.Helper()
	s := &site{shop: httptest.NewServer(http.HandlerFunc(picture))}
	t.Cleanup(s.shop.Close)
	s.address = serve(t, "--media-base", s.shop.URL, "--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table", "--moderation", "hold", "--shop-name", "Lamps")
	s.openTroubled(t)
	return &desk{newTab(t, browser), s}
}

// picture answers every request with a picture.
func picture(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20" fill="teal"/></svg>`)
}

// write adds a comment, and returns its id.
func (d *desk) write(language, title, text string) (id string) {
	d.t.Helper()
	var got struct {
		AddComment struct{ Comment struct{ ID string } }
	}
	d.site.ask(d.t, `mutation($input: AddCommentInput!) { addComment(input: $input) { comment { id } } }`, map[string]any{"input": map[string]any{
		"productId": "lamp", "rating": 4, "language": language, "title": title, "text": text, "author": map[string]any{"id": "ada", "name": "Ada"},
	}}, &got)
	for written := time.Now().UnixMilli(); time.Now().UnixMilli() == written; { // comments of one millisecond have no order
		time.Sleep(100 * time.Microsecond)
	}
	return got.AddComment.Comment.ID
}

// visit opens the page and waits for the first comment of the queue, or for the text without one.
func (d *desk) visit(address string) {
	d.t.Helper()
	d.do(chromedp.Navigate(address + "/moderation"))
	d.until(`document.querySelector('#desk:not([hidden]) :is(article, #empty:not([hidden]))') !== null`)
}

// mouse clicks on the element that a selector finds in an undecided comment, by its number from 0.
func (d *desk) mouse(nth int, selector string) {
	d.t.Helper()
	d.do(browsertest.ClickElement(fmt.Sprintf(`document.querySelectorAll('[data-state=open]')[%d].querySelector(%q)`, nth, selector)))
}

func (d *desk) click(selector string) {
	d.t.Helper()
	d.do(browsertest.Click(selector))
}

// says waits until a part of the page is shown with a text.
func (d *desk) says(selector, want string) {
	d.t.Helper()
	d.until(fmt.Sprintf("[...document.querySelectorAll(%q)].some((part) => part.checkVisibility() && part.textContent === %q)", selector, want))
}

// titles waits until the undecided comments have the titles.
func (d *desk) titles(want ...string) {
	d.t.Helper()
	d.until(fmt.Sprintf(`[...document.querySelectorAll('[data-state=open] .title')].map(({ textContent }) => textContent).join() === %q`, strings.Join(want, ",")))
}

// states waits until the comments have these states on the page.
func (d *desk) states(want ...string) {
	d.t.Helper()
	d.until(fmt.Sprintf(`[...document.querySelectorAll('article')].map(({ dataset }) => dataset.state).join() === %q`, strings.Join(want, ",")))
}

// focused waits until the comment with a title has the focus.
func (d *desk) focused(title string) {
	d.t.Helper()
	d.until(fmt.Sprintf(`document.activeElement?.querySelector('.title')?.textContent === %q`, title))
}

// mutations returns how many mutations the tab has sent.
func (d *desk) mutations() int {
	d.t.Helper()
	return eval[int](d.tab, `globalThis.mutations`)
}

// countMutations begins to count mutations.
func (d *desk) countMutations() {
	d.t.Helper()
	d.do(chromedp.Evaluate(`{
		globalThis.mutations = 0;
		const send = fetch;
		globalThis.fetch = (...request) => (request[1].body.includes('mutation') && mutations++, send(...request));
	}`, nil))
}

// unhurried makes later pages keep decisions until a test calls pass, in place of the 10 seconds in
// which a decision can be undone: a busy machine may need more than these for a test.
func (d *desk) unhurried() {
	d.t.Helper()
	d.onEachPage(`{
		const [set, clear, due] = [setTimeout, clearTimeout, new Map()];
		globalThis.setTimeout = (what, after, ...more) => {
			const id = set(what, after === 10_000 ? 3_600_000 : after, ...more);
			if (after === 10_000) due.set(id, what);
			return id;
		};
		globalThis.clearTimeout = (id) => { due.delete(id); clear(id); };
		globalThis.pass = () => { for (const what of due.values()) what(); };
	}`)
}

// decided waits until the API has a comment in a state.
func (d *desk) decided(id, status string) {
	d.t.Helper()
	var got struct {
		Comment struct{ Status string }
	}
	d.site.becomes(d.t, `query($id: ID!) { comment(id: $id) { status } }`, id, &got, func() bool { return got.Comment.Status == status })
}

func approveAndReject(t *testing.T, d *desk) {
	one, two, three := d.write("en", "one", "text"), d.write("en", "two", "text"), d.write("en", "three", "text")
	d.visit(d.site.address)
	d.titles("one", "two", "three")
	d.says("#count", "3 comments wait")
	d.focused("one")
	d.mouse(0, ".approve")
	d.focused("two")
	d.says("#live", "Approved. Press u to undo.")
	d.says("#count", "2 comments wait")
	d.mouse(0, ".reject")
	d.click("#reject [type=submit]")
	d.says("#reject-error", "Choose a reason.")
	d.click("#reject [value=PERSONAL_DATA]")
	d.click("#note")
	d.press("a phone number")
	d.click("#reject [type=submit]")
	d.focused("three")
	d.states("decided", "decided", "open")
	d.click("#refresh")
	d.decided(one, "APPROVED")
	d.decided(two, "REJECTED")
	d.decided(three, "PENDING")
	d.states("open") // the list is there, and no later one closes what is opened below

	// The author edits, and the history tells why it was rejected.
	d.site.edited(t, two, 1, "without the number")
	d.click("#refresh")
	d.titles("three", "two")
	d.mouse(1, ".history summary")
	d.until(`document.querySelectorAll('[data-state=open]')[1].querySelector('.history li')?.textContent.endsWith(": not shown → rejected, version 1, with the moderators' token · Has personal data a phone number")`)
	d.quiet()
}

// An undone decision is never sent. Any other is sent after a while, or when the page is left.
func undoDecisions(t *testing.T, d *desk) {
	d.unhurried()
	one, two := d.write("en", "one", "text"), d.write("en", "two", "text")
	d.visit(d.site.address)
	d.countMutations()
	d.mouse(0, ".approve")
	d.states("decided", "open")
	d.press("u")
	d.states("open", "open")
	d.focused("one")
	d.says("#live", "Undone.")
	d.says("#count", "2 comments wait")
	d.mouse(1, ".approve")
	d.click("[data-state=decided] .undo, [data-state=failed] .undo")
	d.focused("two")
	d.mouse(0, ".approve")
	d.do(chromedp.Evaluate("pass()", nil))
	d.states("saved", "open")
	if sent := d.mutations(); sent != 1 {
		t.Errorf("%d mutations were sent, want that of the decision that was not undone", sent)
	}
	d.decided(one, "APPROVED")
	d.decided(two, "PENDING")
	d.mouse(0, ".approve")
	d.says("#empty", "That was the last one.")
	d.do(chromedp.Navigate(d.site.address + "/"))
	d.decided(two, "APPROVED")
	d.quiet()
}

func severalAtOnce(t *testing.T, d *desk) {
	d.unhurried()
	ids := []string{d.write("en", "a", ""), d.write("en", "b", ""), d.write("en", "c", ""), d.write("en", "d", "")}
	d.visit(d.site.address)
	d.countMutations()
	d.mouse(0, ".pick input")
	d.mouse(2, ".pick input")
	d.says("#selection strong", "2 selected")
	d.click("#approve-all")
	d.says("#live", "2 comments approved. Press u to undo.")
	d.titles("b", "d")
	d.press("u")
	d.titles("a", "b", "c", "d")
	d.click("#select-all")
	d.mouse(1, ".pick input") // without b
	d.says("#selection strong", "3 selected")
	d.click("#reject-all")
	d.says("#reject-title", "Why are 3 comments rejected?")
	d.press("1" + kb.Enter)
	d.titles("b")
	d.focused("b")
	d.click("#refresh")
	for i, status := range []string{"REJECTED", "PENDING", "REJECTED", "REJECTED"} {
		d.decided(ids[i], status)
	}
	if sent := d.mutations(); sent != 1 {
		t.Errorf("%d mutations were sent, want one for all", sent)
	}
	d.quiet()
}

// leaveWithMuch leaves the page with more decisions than a browser then sends in one request. The
// browser asks first. Meanwhile the decisions are sent in parts, small enough to be sent for a page
// that is gone.
func leaveWithMuch(t *testing.T, d *desk) {
	const leaves = `dispatchEvent(new Event('beforeunload', { cancelable: true }))`
	one := d.write("en", "one", "")
	ids := make([]string, 19) // with the one, a page
	for i := range ids {
		ids[i] = d.write("en", "many", "")
	}
	d.visit(d.site.address)
	d.countMutations()
	d.mouse(0, ".approve")
	if !eval[bool](d.tab, leaves) || d.mutations() != 0 {
		t.Error("the page is not left at once with one decision")
	}
	d.click("#select-all")
	d.click("#reject-all")
	d.do(chromedp.Evaluate(fmt.Sprintf(`document.querySelector('#note').value = '€'.repeat(%d)`, comment.MaxNote), nil))
	d.press("1" + kb.Enter)
	d.says("#empty", "That was the last one.")
	if eval[bool](d.tab, leaves) {
		t.Error("the page is left with more decisions than a browser sends then")
	}
	d.decided(one, "APPROVED")
	for _, id := range ids {
		d.decided(id, "REJECTED")
	}
	if sent := d.mutations(); sent < 5 {
		t.Errorf("%d mutations were sent, want one for each 12 KB", sent)
	}
	d.quiet()
}

func moderateByKeyboard(t *testing.T, d *desk) {
	d.unhurried()
	ids := []string{d.write("en", "a", ""), d.write("en", "b", ""), d.write("en", "c", ""), d.write("en", "d", "")}
	d.visit(d.site.address)
	d.press("?")
	d.until(`document.querySelector('#help').open`)
	d.press("a" + kb.Escape) // keys of the page do nothing behind a dialog
	d.states("open", "open", "open", "open")
	d.press("k") // there is none before it
	d.focused("a")
	d.press("jj")
	d.focused("c")
	d.press("k")
	d.focused("b")
	d.press("a")
	d.focused("c")
	d.press("r")
	d.until(`document.querySelector('#reject').open`)
	d.press(kb.Escape)
	d.until(`!document.querySelector('#reject').open`)
	d.focused("c")
	d.press("r")
	d.until(`document.querySelector('#reject').open`)
	d.press("6" + kb.Enter)
	d.focused("d")
	d.do(chromedp.Evaluate(`document.querySelector('#reject').dispatchEvent(new Event('close'))`, nil)) // that of Escape is late
	d.press("x")
	d.says("#live", "1 selected")
	d.press("a") // the selected one
	d.focused("a")
	d.press("u")
	d.focused("d")
	d.click("#refresh")
	for i, status := range []string{"PENDING", "APPROVED", "REJECTED", "PENDING"} {
		d.decided(ids[i], status)
	}
	d.titles("a", "d")
	d.focused("a")
	// A key that is held down decides about one comment. It may move on.
	for _, isRepeated := range []bool{false, true, true} {
		d.do(input.DispatchKeyEvent(input.KeyDown).WithKey("a").WithText("a").WithAutoRepeat(isRepeated))
	}
	d.states("decided", "open")
	d.press("u")
	d.states("open", "open")
	d.focused("a")
	d.do(input.DispatchKeyEvent(input.KeyDown).WithKey("j").WithText("j").WithAutoRepeat(true))
	d.focused("d")
	// Single keys can be turned off, for those who speak to their computer.
	d.click("#keys")
	d.click("#use-keys")
	d.click("#help [type=submit]")
	d.visit(d.site.address)
	d.press("ajx?")
	d.states("open", "open")
	d.until(`document.querySelector('dialog[open]') === null && document.querySelector('.pick :checked') === null`)
	d.quiet()
}

func filtersAndPages(t *testing.T, d *desk) {
	for i := range 23 {
		d.write("en", fmt.Sprint(i), "")
	}
	d.write("cmn", "oi", "")
	d.visit(d.site.troubled)
	d.says("#count", "24 comments wait")
	for _, load := range []string{"#refresh", "#more"} { // who goes on meanwhile is not led away
		d.until(`document.querySelectorAll('article').length === 20`)
		arrived, release := d.hold(late)
		d.click(load)
		<-arrived
		d.press("jj")
		d.focused("1")
		d.do(chromedp.Evaluate(`getSelection().selectAllChildren(document.activeElement.querySelector('.title'))`, nil))
		close(release)
		d.until(`document.querySelectorAll('article').length > 0 && document.querySelector('#live').textContent === '24 comments wait'`)
		d.focused("1")
	}
	d.until(`document.querySelectorAll('article').length === 24 && getSelection().toString() === '1'`)
	d.visit(d.site.address)
	d.until(`document.querySelectorAll('article').length === 20`)
	d.click("#more")
	d.until(`document.querySelectorAll('article').length === 24 && document.querySelector('#more').hidden`)
	d.focused("20")
	d.click("#filter summary")
	d.click("#languages")
	d.press("x-house, CMN, pt-br" + kb.Enter)
	d.titles("oi")
	d.click("#filter [value=LINK]")
	d.says("#empty", "No waiting comment matches this filter.")
	d.until(`document.activeElement.value === 'LINK'`) // an answer does not end a choice
	d.click("#filter [value=LINK]")
	d.titles("oi")
	d.click("#product")
	d.press("kettle" + kb.Enter)
	d.says("#empty", "No waiting comment matches this filter.")
	d.press(kb.Backspace + kb.Backspace + kb.Backspace + kb.Backspace + kb.Backspace + kb.Backspace + "c_1" + kb.Enter)
	d.says("#trouble span", "There is no such product. Change the filter.")
	d.press(kb.Backspace + kb.Backspace + kb.Backspace + "lamp" + kb.Enter)
	d.titles("oi")
	d.click("#languages")
	d.press("?" + kb.Enter)
	d.until(`document.querySelector('#languages').validationMessage === 'Give language tags, such as de, pt-BR.'`)
	d.write("pt-BR", "olá", "")
	d.click("#refresh")
	d.titles("oi", "olá") // of the last languages that were well written
	d.click("#clear")
	d.until(`document.querySelectorAll('article').length === 20`)
	d.click("#select-all")
	d.click("#approve-all")
	d.titles("20", "21", "22", "oi", "olá") // the next ones come when all are decided
	d.click("#select-all")
	d.click("#approve-all")
	d.says("#empty", "That was the last one.")
	d.click("#refresh")
	d.says("#empty", "No comment waits.")
	d.says("#count", "0 comments wait")
	d.quiet()
}
