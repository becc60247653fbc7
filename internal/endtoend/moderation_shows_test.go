package endtoend

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/talkback/talkback/internal/browsertest"
)

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
	hint := func(nth int, want string) {
		t.Helper()
		d.mouse(nth, ".reject")
		d.says("#reject .hint", want)
		d.press(kb.Escape)
		d.until(`!document.querySelector('#reject').open`)
	}
	hint(0, "Without its edit, a comment stays as it is, and its author does not see the reason.")
	d.write("en", "another", "text")
	d.click("#refresh")
	d.titles("Quick", "another")
	hint(1, "The author sees the reason.")
	d.mouse(1, ".reject")
	d.press("1" + kb.Enter)
	d.titles("Quick")
	d.mouse(0, ".approve")
	d.click("#refresh")
	d.says("#empty", "No comment waits.")
	d.site.writtenIs(t, "lamp", func(all []stored) bool {
		return len(all) == 1 && all[0].Text == "It boils slowly. The handle stays cool, too."
	})
	// Words that mark a change are the page's. The direction is that of the comment, also if its
	// beginning has changed.
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
	d.says("#reply-error", "Write a text.")
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

	// Another reply came first. The next attempt is about that, and so is a deletion.
	replied := func(text string) {
		t.Helper()
		var is struct{ ReplyToComment struct{ Comment any } }
		d.site.ask(t, `mutation($id: ID!, $version: Int!, $text: String!) { replyToComment(input: {id: $id, version: $version, text: $text}) { comment { id } } }`,
			map[string]any{"id": id, "version": version(), "text": text}, &is)
		if is.ReplyToComment.Comment == nil {
			t.Fatal("another reply was not written")
		}
	}
	d.until(`!document.querySelector('#reply').open`)
	replied("By another.")
	d.reply("We send\na new <b>one</b>.")
	d.press("!")
	d.click("#reply [type=submit]")
	d.says("#reply-done", "The reply is now: By another.")
	d.says(".said", "By another.")
	d.says("#reply-error", "The reply was changed meanwhile.")
	d.click("#reply [type=submit]")
	d.says(".said", "We send\na new <b>one</b>.!")
	d.until(`!document.querySelector('#reply').open`)
	replied("By another again.")
	d.reply("We send\na new <b>one</b>.!")
	d.click("#reply-delete")
	d.says("#reply-done", "The reply is now: By another again.")
	d.click("#reply-delete")
	d.says("#reply-done", "The reply is deleted. Save it to write it again.")
	d.click("#reply [type=submit]")
	d.until(`!document.querySelector('#reply').open`)

	// Another moderator deleted it.
	d.reply("We send\na new <b>one</b>.!")
	d.site.ask(t, `mutation($id: ID!, $version: Int!) { deleteReply(input: {id: $id, version: $version}) { comment { id } } }`,
		map[string]any{"id": id, "version": version()}, &struct{}{})
	d.click("#reply [type=submit]")
	d.says("#reply-error", "The comment or the reply is not there any more.")
	d.click("#reply [type=submit]")
	d.says(".said", "We send\na new <b>one</b>.!")
	d.until(`!document.querySelector('#reply').open`)

	// A text that is refused for itself says nothing new about the reply.
	d.reply("We send\na new <b>one</b>.!")
	for text, want := range map[string]string{" ": "Write a text.", "\u200b": "Write a text.", "\x1b": "The text has characters that cannot be stored."} {
		d.do(chromedp.Evaluate(fmt.Sprintf(`document.querySelector('#reply-text').value = %q`, text), nil))
		d.click("#reply [type=submit]")
		d.says("#reply-error", want)
	}
	d.until(`document.querySelector('#reply-done').textContent === ''`)
	d.click("#reply-cancel")

	// While one is being saved, the dialog may be about another comment, whose text stays.
	another := d.write("en", "another", "It broke, too.")
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

	// Nor is there news of the reply if its comment is gone.
	d.mouse(1, ".reply")
	d.site.ask(t, `mutation($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`, map[string]any{"id": another}, &struct{}{})
	d.press("!")
	d.click("#reply [type=submit]")
	d.says("#reply-error", "The comment or the reply is not there any more.")
	d.until(`document.querySelector('#reply-done').textContent === ''`)
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

// The longest text leaves its buttons in reach. The keyboard scrolls it, and stops at no other
// text.
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
	d.unhurried()
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
		d.do(chromedp.Evaluate(`document.querySelector('#reply-done').textContent = 'W'.repeat(1000)`, nil)) // as another reply may be
		fits("to reply")
		d.press(kb.Escape)
		d.click("#keys")
		fits("the keys")
		d.press(kb.Escape)
		gone := d.write("en", "title", "text")
		d.click("#refresh")
		d.titles("title", "title")
		d.mouse(1, ".approve")
		d.site.ask(d.t, `mutation($id: ID!) { deleteComment(input: {id: $id}) { comment { id } } }`, map[string]any{"id": gone}, &struct{}{})
		d.do(chromedp.Evaluate("pass()", nil))
		d.until(`document.querySelector('[data-state=gone]') !== null`)
		fits("what was decided")
	}
}
