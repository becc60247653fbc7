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

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
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
		{"in trouble", moderateInTrouble},
		{"what was typed", keepWhatWasTyped},
		{"slow network", decideWhileItLoads},
		{"signed out meanwhile", signOutWhileItLoads},
		{"nothing is kept", moderateWithoutStorage},
		{"hostile texts", moderateHostileTexts},
		{"long texts", moderateLongTexts},
		{"accessible", deskIsAccessible},
		{"large text", deskWithLargeText},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, openDesk(t, browser)) })
	}
	t.Run("sign in", func(t *testing.T) { moderatorsSignIn(t, browser) })
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

// unhurried makes later pages keep decisions until a test calls pass, in place of the 10 seconds in which a decision can
// be undone: a busy machine may need more than these for a test.
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

// hold lets the next request through the troubled address arrive, and answers it when release is closed.
func (d *desk) hold(answer trouble) (arrived <-chan struct{}, release chan<- struct{}) {
	came, goesOn := make(chan struct{}), make(chan struct{})
	d.site.meet(func(w http.ResponseWriter, r *http.Request, program http.Handler) {
		d.site.meet(nil)
		close(came)
		<-goesOn
		answer(w, r, program)
	})
	return came, goesOn
}

// late is no trouble but the wait before it.
func late(w http.ResponseWriter, r *http.Request, program http.Handler) { program.ServeHTTP(w, r) }

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

// leaveWithMuch leaves the page with more decisions than a browser then sends in one request. The browser asks first.
// Meanwhile the decisions are sent in parts, small enough to be sent for a page that is gone.
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
	d.write("pt-BR", "oi", "")
	d.visit(d.site.address)
	d.says("#count", "24 comments wait")
	d.until(`document.querySelectorAll('article').length === 20`)
	d.click("#more")
	d.until(`document.querySelectorAll('article').length === 24 && document.querySelector('#more').hidden`)
	d.focused("20")
	d.click("#filter summary")
	d.click("#languages")
	d.press("pt-br, de" + kb.Enter)
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

func heldEdit(t *testing.T, d *desk) {
	id := d.write("en", "Quick", "It boils fast. The handle stays cool.")
	d.visit(d.site.address)
	d.mouse(0, ".approve")
	d.click("#refresh")
	d.decided(id, "APPROVED")
	d.site.edited(t, id, 1, "It boils slowly. The handle stays cool, too.")
	d.click("#refresh")
	d.until(`document.querySelector('.text del')?.textContent === 'removed: fast' && document.querySelector('.text ins')?.textContent === 'added: slowly'`)
	d.until(`document.querySelectorAll('.text ins')[1].textContent === 'added: , too' && document.querySelector('.status').textContent === 'shown'`)
	d.until(`[...document.querySelectorAll('.reasons li')].some(({ textContent }) => textContent === 'Was edited')`)
	d.mouse(0, ".approve")
	d.click("#refresh")
	d.says("#empty", "No comment waits.")
	d.site.writtenIs(t, "lamp", func(all []stored) bool {
		return len(all) == 1 && all[0].Text == "It boils slowly. The handle stays cool, too."
	})
	// Words that mark a change are the page's. The direction is that of the comment, also if its beginning has changed.
	id = d.write("he", "", "רותח")
	d.click("#refresh")
	d.says(".text", "רותח")
	d.mouse(0, ".approve")
	d.click("#refresh")
	d.decided(id, "APPROVED")
	d.site.edited(t, id, 1, "קר")
	d.click("#refresh")
	d.until(`document.querySelector('.text ins')?.textContent === 'added: קר'`)
	d.until(`getComputedStyle(document.querySelector('.text')).direction === 'rtl'`)
	d.until(`[...document.querySelectorAll('textarea')].every(({ dir }) => dir === 'auto')`)
	d.quiet()
}

// A moderator sees the pictures and the badge that everyone will see, and how an edit changes them.
func picturesAtTheDesk(t *testing.T, d *desk) {
	media := func(names ...string) (all []map[string]any) {
		for _, name := range names {
			alt, _, _ := strings.Cut(name, ".")
			all = append(all, map[string]any{"url": d.site.shop.URL + "/" + name, "alt": alt})
		}
		return all
	}
	var got struct {
		AddComment struct{ Comment struct{ ID string } }
	}
	d.site.ask(t, `mutation($media: [MediaInput!]) { addComment(input: {
		productId: "lamp", rating: 4, language: "en", text: "", author: {id: "ada", name: "Ada"}, isVerifiedPurchase: true, media: $media
	}) { comment { id } } }`, map[string]any{"media": media("on.jpg", ".jpg", "film.mp4")}, &got)
	d.write("en", "without", "text")
	shown := func(want string) {
		t.Helper()
		d.until(fmt.Sprintf(`[...document.querySelectorAll('[data-state=open]')[0].querySelectorAll('.media li')]
			.map((li) => [li.querySelector('img')?.alt ?? li.querySelector('a').ariaLabel, li.textContent].join('/')).join() === %q`, want))
		d.until(`[...document.querySelectorAll('.media img')].every(({ complete, naturalWidth }) => complete && naturalWidth > 0)`)
	}
	d.visit(d.site.address)
	shown("on/on,Picture 2/,film/film")
	d.until(`[...document.querySelectorAll('.verified, .media')].map(({ hidden }) => hidden).join() === 'false,false,true,true'`)
	d.mouse(0, ".approve")
	d.click("#refresh")
	d.decided(got.AddComment.Comment.ID, "APPROVED")
	d.site.ask(t, `mutation($id: ID!, $media: [MediaInput!]) { editComment(input: {id: $id, version: 1, media: $media}) { comment { id } } }`,
		map[string]any{"id": got.AddComment.Comment.ID, "media": media("on.jpg", "off.jpg")}, &struct{}{})
	d.click("#refresh")
	d.titles("without", "")
	d.mouse(0, ".approve")
	shown("on/on,off/added: off,Picture 1/removed: ,film/removed: film")
	browsertest.Axe(t, d.ctx)
	d.fits("pictures")
	d.quiet()
}

func replyAtTheDesk(t *testing.T, d *desk) {
	id := d.write("en", "title", "It broke.")
	d.visit(d.site.address)
	d.mouse(0, ".reply")
	d.until(`document.activeElement?.id === 'reply-text'`)
	d.press(" ")
	d.click("#reply [type=submit]")
	d.until(`document.querySelector('#reply-error').textContent !== ''`) // the server requires a text
	d.click("#reply-text")
	d.press("ja") // keys of the page do nothing here
	d.click("#reply [type=submit]")
	d.until(`!document.querySelector('#reply').open`)
	d.states("open")
	d.mouse(0, ".reply")
	d.do(chromedp.Evaluate(`document.querySelector('#reply-text').value = 'We send\na new <b>one</b>.'`, nil))
	d.click("#reply [type=submit]")
	d.says(".said", "We send\na new <b>one</b>.")
	d.says("#live", "The reply is saved.")
	var got struct {
		Comment struct{ Reply struct{ Text string } }
	}
	d.site.ask(t, `query($id: ID!) { comment(id: $id) { reply { text } } }`, map[string]any{"id": id}, &got)
	if got.Comment.Reply.Text != "We send\na new <b>one</b>." {
		t.Errorf("the reply is %q", got.Comment.Reply.Text)
	}

	// It is deleted, and can be saved again.
	d.mouse(0, ".reply")
	d.click("#reply-delete")
	d.says("#reply-done", "The reply is deleted. Save it to write it again.")
	d.until(`document.querySelector('#reply-delete').hidden && document.querySelector('.answer').hidden`)
	var now struct {
		Comment struct{ Reply *struct{ Version int } }
	}
	version := func() int {
		d.site.ask(t, `query($id: ID!) { comment(id: $id) { reply { version } } }`, map[string]any{"id": id}, &now)
		if now.Comment.Reply == nil {
			return 0
		}
		return now.Comment.Reply.Version
	}
	if version() != 0 {
		t.Error("the reply is there after it was deleted")
	}
	d.click("#reply [type=submit]")
	d.says(".said", "We send\na new <b>one</b>.")
	if got := version(); got != 4 {
		t.Errorf("the reply that is saved again has version %d, want 4: two writes and a deletion came before", got)
	}

	// While one is being saved, the dialog may be about another comment, whose text stays.
	d.write("en", "another", "It broke, too.")
	d.click("#refresh")
	d.titles("title", "another")
	d.do(chromedp.Evaluate(`{
		const send = fetch;
		globalThis.fetch = async (...request) => {
			globalThis.fetch = send;
			await new Promise((release) => { globalThis.release = release; });
			const answer = await send(...request);
			return { json: async () => { const body = await answer.json(); setTimeout(() => { globalThis.answered = true; }); return body; } };
		};
	}`, nil))
	d.mouse(0, ".reply")
	d.do(chromedp.Evaluate(`document.querySelector('#reply-text').value = 'Late.'`, nil))
	d.click("#reply [type=submit]")
	d.until(`typeof release === 'function'`)
	d.press(kb.Escape)
	d.mouse(1, ".reply")
	d.do(chromedp.Evaluate(`document.querySelector('#reply-text').value = 'For the other.'; release()`, nil))
	d.until(`globalThis.answered && document.querySelector('.said').textContent === 'Late.'`)
	d.until(`document.querySelector('#reply').open && document.querySelector('#reply-text').value === 'For the other.'`)
	d.click("#reply [type=submit]")
	d.until(`!document.querySelector('#reply').open && [...document.querySelectorAll('.said')].map(({ textContent }) => textContent).join() === 'Late.,For the other.'`)
	d.quiet()
}

// Decisions, reports and the author's other comments are read when they are opened, not before.
func recordsOfAComment(t *testing.T, d *desk) {
	first := d.write("en", "", "An older text.")
	d.write("de", "Titel", "Text")
	d.visit(d.site.address)
	d.do(chromedp.Evaluate(`{
		globalThis.asked = '';
		const send = fetch;
		globalThis.fetch = (...request) => (asked += request[1].body, send(...request));
	}`, nil))
	d.until(`[...document.querySelectorAll('.reports')].every(({ hidden }) => hidden)`) // nobody could report them
	d.mouse(1, ".others summary")
	const lines = `[...document.querySelectorAll('[data-state=open]')[1].querySelectorAll('.others li')].map(({ textContent }) => textContent)`
	d.until(`/^2 comments in all/.test(` + lines + `[0]) && /^★★★★☆ lamp not shown .* An older text\.$/.test(` + lines + `[1]) && ` + lines + `.length === 2`)
	if asked := eval[string](d.tab, `asked`); strings.Count(asked, "commentsBy(customerId: $customer)") != 1 || strings.Contains(asked, "reports(") {
		t.Errorf("the page asked %s", asked)
	}
	d.mouse(0, ".history summary")
	d.until(`document.querySelector('.history li')?.textContent === 'No decision yet.'`)
	d.mouse(0, ".approve")
	d.click("#refresh")
	d.decided(first, "APPROVED")
	d.until(`document.querySelectorAll('[data-state]').length === 1`) // otherwise a redraw may close it again
	d.site.edited(t, first, 1, "A newer text.")
	d.click("#refresh")
	d.until(`document.querySelectorAll('.reports:not([hidden])').length === 1`) // of the comment that everyone sees
	d.click(".reports:not([hidden]) summary")
	d.until(`document.querySelector('.reports:not([hidden]) li')?.textContent === 'Nobody reported it.'`)
	d.quiet()
}

// What a moderator typed is kept until it is saved or cancelled: after their token has expired, while an answer is
// under way, when Escape closes the dialog or the page is loaded again, and beside a decision that was not taken.
func keepWhatWasTyped(t *testing.T, d *desk) {
	reply := d.reply
	id := d.write("en", "title", "text")
	d.unhurried()
	d.visit(d.site.troubled)
	reply("")
	d.press("Thank")
	d.press(kb.Escape)
	reply("Thank")
	d.press(" you")
	d.do(chromedp.Reload())
	d.titles("title")
	reply("Thank you")
	d.press(".")
	d.expire("#reply [type=submit]")
	d.titles("title")
	reply("Thank you.")

	// The answer comes when the dialog is closed.
	arrived, release := d.hold(answers(500, "oh no"))
	d.click("#reply [type=submit]")
	<-arrived
	d.press(kb.Escape)
	close(release)
	d.says(".notice", "The server could not answer. Try again in a moment.")
	reply("Thank you.")

	// It comes while more is typed.
	arrived, release = d.hold(late)
	d.click("#reply [type=submit]")
	<-arrived
	d.click("#reply-text")
	d.press(" Bye.")
	close(release)
	d.says(".said", "Thank you.")
	d.click("#reply [type=submit]")
	d.says(".said", "Thank you. Bye.")
	d.until(`!document.querySelector('#reply').open && document.querySelector('.notice').hidden`)
	reply("Thank you. Bye.")
	d.press("!")
	d.click("#reply-cancel")
	reply("Thank you. Bye.")
	d.press(kb.Escape)

	d.mouse(0, ".reject")
	d.press("1")
	d.click("#note")
	d.press("As before.")
	d.click("#reject [type=submit]")
	d.site.edited(t, id, 1, "other text")
	d.click("#refresh")
	d.says(".notice", "The comment was changed meanwhile. This is how it is now. Decide again.")
	d.mouse(0, ".reject")
	d.until(`document.querySelector('#note').value === 'As before.'`)
	d.press("1" + kb.Enter)
	d.expire("#sign-out") // what was decided is not sent yet
	d.decided(id, "REJECTED")

	// Signing out drops no decision without a word.
	d.write("en", "another", "text")
	d.click("#refresh")
	d.titles("another")
	reply("")
	d.press("Never sent.")
	d.press(kb.Escape)
	d.mouse(0, ".approve")
	d.site.meet(answers(500, "oh no"))
	d.click("#sign-out")
	d.says("#trouble span", "The server could not answer. Try again in a moment. 1 decision is not saved.")
	d.states("failed")
	d.click("#sign-out")
	d.until(`document.activeElement?.id === 'token' && document.querySelector('article') === null && sessionStorage.length === 0`)
}

// reply opens the dialog of the first comment, which begins with a text.
func (d *desk) reply(want string) {
	d.t.Helper()
	d.mouse(0, ".reply")
	d.until(fmt.Sprintf(`document.activeElement?.id === 'reply-text' && document.activeElement.value === %q`, want))
}

// expire has the token expire at a click, and signs in again.
func (d *desk) expire(selector string) {
	d.t.Helper()
	d.site.meet(answers(401, `{"errors":[{"message":"","extensions":{"code":"UNAUTHENTICATED"}}]}`))
	d.click(selector)
	d.says("#sign-in-error", "Sign in again. Your decisions and texts are kept.")
	d.until(`document.activeElement?.id === 'token'`)
	d.site.meet(nil)
	d.press("x" + kb.Enter) // which a server without tokens does not require
}

// A comment that changed or disappeared before the decision is shown in its present state.
func decisionConflicts(t *testing.T, d *desk) {
	one, two, three := d.write("en", "one", "text"), d.write("en", "two", "text"), d.write("en", "three", "text")
	d.visit(d.site.address)
	d.click("#select-all")
	d.click("#approve-all")
	d.site.edited(t, one, 1, "spam instead")
	d.site.ask(t, `mutation($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`, map[string]any{"id": two}, &struct{}{})
	d.click("#refresh")
	d.states("open", "gone", "saved")
	d.says("[data-state=open] .text", "spam instead")
	d.says("[data-state=open] .notice", "The comment was changed meanwhile. This is how it is now. Decide again.")
	d.decided(one, "PENDING")
	d.decided(three, "APPROVED")
	d.mouse(0, ".reject")
	d.press("1" + kb.Enter)
	d.click("#refresh")
	d.decided(one, "REJECTED")
	d.quiet()
}

// What is decided while the list is being loaded stays decided when it is there, also in a dialog that was open.
func decideWhileItLoads(t *testing.T, d *desk) {
	one, two := d.write("en", "one", "text"), d.write("en", "two", "text")
	d.unhurried()
	d.visit(d.site.troubled)
	for _, decide := range []func(release chan<- struct{}){
		func(release chan<- struct{}) {
			d.mouse(0, ".approve")
			close(release)
			d.titles("two", "more")
		},
		func(release chan<- struct{}) {
			d.mouse(0, ".reject")
			close(release)
			d.titles("two", "more", "more")
			d.press("1" + kb.Enter)
			d.titles("more", "more")
		},
	} {
		d.write("en", "more", "text")
		arrived, release := d.hold(late)
		d.click("#refresh")
		<-arrived
		decide(release)
	}
	d.states("decided", "open", "open")
	d.click("#refresh")
	d.titles("more", "more")
	d.decided(one, "APPROVED")
	d.decided(two, "REJECTED")
	d.quiet()
}

// The page works in a browser that lets it keep nothing, until it is left.
func moderateWithoutStorage(t *testing.T, d *desk) {
	id := d.write("en", "one", "text")
	d.onEachPage(`for (const storage of ['sessionStorage', 'localStorage']) {
		Object.defineProperty(window, storage, { get() { throw new DOMException('no', 'SecurityError'); } });
	}`)
	d.visit(d.site.troubled)
	d.reply("")
	d.press("Thank you.")
	d.click("#reply [type=submit]")
	d.says(".said", "Thank you.")
	d.until(`!document.querySelector('#reply').open`)
	d.press("a")
	d.click("#refresh")
	d.decided(id, "APPROVED")
	d.quiet()
	d.write("en", "two", "text")
	d.click("#refresh")
	d.titles("two")
	d.reply("")
	d.press("Kept.")
	d.expire("#reply [type=submit]")
	d.titles("two")
	d.reply("Kept.")
}

// A list that arrives after its moderator signed out is not shown.
func signOutWhileItLoads(t *testing.T, d *desk) {
	d.write("en", "one", "text")
	d.visit(d.site.troubled)
	d.do(chromedp.Evaluate(`sessionStorage.setItem('talkback moderator', 'x')`, nil), chromedp.Reload()) // which a server without tokens does not require
	d.titles("one")
	d.do(chromedp.Evaluate(`{
		const { json } = Response.prototype;
		Response.prototype.json = async function () {
			const answer = await json.call(this);
			setTimeout(() => globalThis.taken = true); // what waits for the answer goes on first
			return answer;
		};
	}`, nil))
	arrived, release := d.hold(late)
	d.click("#refresh")
	<-arrived
	d.click("#sign-out")
	d.until(`document.activeElement?.id === 'token'`)
	close(release)
	d.until(`globalThis.taken`)
	d.until(`document.querySelector('#desk').hidden && document.querySelector('article') === null`)
	d.quiet()
}

// Decisions stay decided while they cannot be sent.
func moderateInTrouble(t *testing.T, d *desk) {
	one, two := d.write("en", "one", "text"), d.write("en", "two", "text")
	d.site.meet(answers(500, "oh no"))
	d.unhurried()
	d.do(chromedp.Navigate(d.site.troubled + "/moderation"))
	d.says("#trouble span", "The server could not answer. Try again in a moment.")
	d.site.meet(nil)
	d.click("#retry")
	d.titles("one", "two")
	for _, row := range []struct {
		trouble trouble
		want    string
	}{
		{cut, "The server cannot be reached right now. 1 decision is not saved."},
		{answers(503, `{"errors":[{"message":"","extensions":{"code":"OVERLOADED"}}]}`), "The server has too much to do right now. 1 decision is not saved."},
		{answers(200, `{"data":{"decideComments":null},"errors":[{"message":"","extensions":{"code":"FORBIDDEN"}}]}`), "This token may not moderate any more. 1 decision is not saved."},
		{answers(200, `{"data":{"decideComments":{"results":[]}}}`), "The server could not answer. Try again in a moment. 1 decision is not saved."},
	} {
		d.site.meet(row.trouble)
		d.mouse(0, ".approve")
		d.click("#refresh")
		d.says("#trouble span", row.want)
		d.states("failed", "open")
		d.click("[data-state=decided] .undo, [data-state=failed] .undo")
		d.states("open", "open")
		d.until(`document.querySelector('#trouble').hidden`)
	}
	d.mouse(0, ".approve")
	d.site.meet(answers(401, `{"errors":[{"message":"","extensions":{"code":"UNAUTHENTICATED"}}]}`))
	d.click("#refresh")
	d.says("#sign-in-error", "Sign in again. Your decisions and texts are kept.")
	d.site.meet(nil)
	d.click("#token")
	d.press("x" + kb.Enter) // which a server without tokens does not require
	d.decided(one, "APPROVED")
	d.decided(two, "PENDING")
	d.titles("two")
}

func moderateHostileTexts(t *testing.T, d *desk) {
	for _, text := range hostileTexts[:6] {
		d.write("ar", strings.ReplaceAll(text, "\n", " "), text)
	}
	d.visit(d.site.address)
	shown := eval[[]string](d.tab, `[...document.querySelectorAll('.text')].map(({ textContent }) => textContent)`)
	if fmt.Sprintf("%q", shown) != fmt.Sprintf("%q", hostileTexts[:6]) {
		t.Errorf("shown are %q", shown)
	}
	d.until(`[...document.querySelectorAll('.title, .text')].every(({ lang, dir, children }) => lang === 'ar' && dir === 'auto' && children.length === 0)`)
	d.until(`window.broken === undefined && document.querySelector('article img, article script, article b') === null`)
	d.fits("hostile texts")
	d.quiet()
}

// The longest text leaves its buttons in reach. The keyboard scrolls it, and stops at no other text.
func moderateLongTexts(t *testing.T, d *desk) {
	d.write("en", "short", "text")
	d.write("en", "long", "first"+strings.Repeat("\n", 9_900)+"last")
	d.visit(d.site.address)
	d.titles("short", "long")
	d.until(`[...document.querySelectorAll('article')].every((article) => article.offsetHeight < 2 * innerHeight)`)
	d.until(`[...document.querySelectorAll('.text')].map(({ tabIndex }) => tabIndex).join() === '-1,0'`)
	d.do(chromedp.Focus(`[tabindex="0"].text`, chromedp.ByQuery))
	d.press(kb.End)
	d.until(`document.activeElement.matches('.text') && document.activeElement.scrollTop > 100_000`)
	browsertest.Axe(t, d.ctx)
	d.fits("a long text")
	d.quiet()
}

// The page keeps the rules of accessibility in both languages, light and dark, narrow and wide.
func deskIsAccessible(t *testing.T, d *desk) {
	d.unhurried()
	id := d.write("ar", "كوب", "الكوب جميل")
	for i := range 4 {
		d.write("en", fmt.Sprint(i), "text")
	}
	d.visit(d.site.address)
	d.mouse(0, ".approve")
	d.click("#refresh")
	d.decided(id, "APPROVED")
	d.site.edited(t, id, 1, "الكوب ليس جميلا")
	for _, row := range []struct {
		language, scheme string
		width            int64
	}{{"en", "light", 360}, {"de", "dark", 1280}} {
		d.do(colours(row.scheme), network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": row.language}),
			emulation.SetDeviceMetricsOverride(row.width, 800, 1, row.width < 700))
		d.visit(d.site.address)
		d.until(fmt.Sprintf("document.documentElement.lang === %q", row.language))
		d.click("#filter summary")
		d.mouse(4, ".history summary")
		d.mouse(4, ".reports summary")
		d.mouse(3, ".others summary")
		d.mouse(0, ".approve")
		d.mouse(0, ".pick input")
		browsertest.Axe(t, d.ctx)
		d.press("r")
		d.click("#reject [type=submit]")
		browsertest.Axe(t, d.ctx)
		d.click("#reject-cancel")
		d.click("#keys")
		browsertest.Axe(t, d.ctx)
		d.click("#help [type=submit]")
		d.press("u") // the undone comment comes back
		d.states("open", "open", "open", "open", "open")
		if t.Failed() {
			t.Fatalf("that is in %s at %d pixels", row.language, row.width)
		}
	}
	d.fits("the page for moderators")
	d.quiet()
}

// With text of 200 % in a window of 320 pixels, neither the page nor a dialog scrolls sideways.
func deskWithLargeText(t *testing.T, d *desk) {
	d.write("en", "title", "text")
	const wide = `[...document.querySelectorAll(':is(:root, dialog[open])')].filter((box) => box.scrollWidth > box.clientWidth)
		.flatMap((box) => [...box.querySelectorAll('*')].filter((part) => part.getBoundingClientRect().right > box.clientWidth).map((part) => part.outerHTML.slice(0, 80)))`
	d.do(page.SetFontSizes(&page.FontSizes{Standard: 32}), emulation.SetDeviceMetricsOverride(320, 800, 1, true))
	for _, language := range []string{"en", "de"} {
		fits := func(what string) {
			t.Helper()
			if over := eval[[]string](d.tab, wide); len(over) > 0 {
				t.Errorf("%s, in %s: too wide are %.300q", what, language, over)
			}
		}
		d.do(network.SetExtraHTTPHeaders(network.Headers{"Accept-Language": language}))
		d.visit(d.site.address)
		d.click("#filter summary")
		d.mouse(0, ".history summary")
		d.mouse(0, ".pick input")
		fits("the page")
		d.mouse(0, ".reject")
		fits("to reject")
		d.press(kb.Escape)
		d.mouse(0, ".reply")
		fits("to reply")
		d.press(kb.Escape)
		d.click("#keys")
		fits("the keys")
		d.press(kb.Escape)
	}
}

func moderatorsSignIn(t *testing.T, browser context.Context) {
	secret, moderator := strings.Repeat("a secret of the shop ", 3), strings.Repeat("m", 40)
	t.Setenv("TALKBACK_JWT_KEY", secret)
	t.Setenv("TALKBACK_MODERATOR_TOKEN", moderator)
	address := serve(t, "--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table", "--moderation", "hold", "--jwt-algorithm", "HS256")
	customer := must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "ada", "exp": time.Now().Add(time.Hour).Unix()}).SignedString([]byte(secret)))(t)
	(&site{address: address, token: customer}).ask(t, `mutation { addComment(input: {
		productId: "lamp", rating: 1, language: "en", title: "title", text: "text", author: {id: "ada", name: "Ada"}
	}) { comment { id } } }`, nil, &struct{}{})
	d := &desk{newTab(t, browser), nil}
	d.do(chromedp.Navigate(address + "/moderation"))
	d.until(`document.activeElement?.id === 'token'`)
	browsertest.Axe(t, d.ctx)
	for _, row := range []struct{ token, want string }{
		{"", "Fill in the token."},
		{"wrong", "This token is not valid, or no longer. Try another one."},
		{"wröng €", "This token is not valid, or no longer. Try another one."}, // no header can contain it
		{customer, "This token is not that of a moderator. Try another one."},
	} {
		d.do(chromedp.Evaluate("token.value = ''; document.querySelector('#sign-in-error').textContent = ''; token.focus()", nil))
		d.press(row.token + kb.Enter)
		d.says("#sign-in-error", row.want)
	}
	d.press(moderator + kb.Enter)
	d.titles("title")
	d.do(chromedp.Reload())
	d.titles("title")
	kept := eval[string](d.tab, `JSON.stringify([location.href, history.state, document.cookie, {...localStorage}, token.value])`)
	if strings.Contains(kept, moderator) {
		t.Errorf("the token is kept in %s", kept)
	}
	d.mouse(0, ".approve")
	d.click("#sign-out")
	d.until(`document.activeElement?.id === 'token' && document.querySelector('article') === null && sessionStorage.length === 0`)
	d.press(moderator + kb.Enter)
	d.says("#empty", "No comment waits.")
	d.quiet()
}
