package component

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// One browser for all, and a visitor for each.
func TestInABrowser(t *testing.T) {
	browser := browsertest.Open(t)
	s := openShop(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, context.Context, shop)
	}{
		{"one request for each change", oneRequestForEachChange},
		{"the address", theAddress},
		{"the keyboard", theKeyboard},
		{"forms", theForms},
		{"load more", loadMore},
		{"goes back to more", goesBackToMore},
		{"load again", loadsAgain},
		{"votes while more comes", votesWhileMoreComes},
		{"pages without numbers", pagesWithoutNumbers},
		{"the latest wins", theLatestWins},
		{"drawn under the press", drawnUnderThePress},
		{"clicked twice", clickedTwice},
		{"stars under the pointer", starsUnderThePointer},
		{"fails in sight", failsInSight},
		{"no answer", noAnswer},
		{"trouble", trouble},
		{"offline", offline},
		{"hostile texts", hostileTexts},
		{"long texts", longTexts},
		{"nothing to show", nothingToShow},
		{"how this was answered", howThisWasAnswered},
		{"attributes and properties", attributesAndProperties},
		{"reads addresses as the server does", readsAddresses},
		{"properties before and after the definition", propertiesAtAnyTime},
		{"pages that change what is under way", pagesThatInterfere},
		{"what others left in the storage", foreignStorage},
		{"more than is served", moreThanIsServed},
		{"nothing moves meanwhile", nothingMovesMeanwhile},
		{"for everyone", forEveryone},
		{"large type", largeType},
		{"fits its contents", fitsItsContents},
		{"another origin", anotherOrigin},
		{"takes over what the server rendered", takesOver},
		{"a customer's comment that waits", showsOwn},
		{"a customer's comment that is changed while it waits", changesOwn},
		{"pictures", pictures},
		{"pictures that change", picturesThatChange},
		{"languages", speaksLanguages},
		{"writing", writes},
		{"votes", votes},
		{"votes of visitors", visitorsVote},
		{"a foreign theme", foreignTheme},
		{"examples of themes", examplesOfThemes},
		{"what a page puts into the slot", slots},
		{"the language around", theLanguageAround},
		{"put back", putBack},
		{"two that navigate", twoNavigate},
		{"less motion", lessMotion},
		{"on paper", onPaper},
		{"in colours of the system", inColoursOfTheSystem},
		{"a customer without a name", nameless},
		{"a draft from before", draftFromBefore},
		{"one draft", oneDraft},
		{"another customer", anotherCustomer},
		{"two forms", twoForms},
		{"who writes to the page", writesToThePage},
		{"new comments", tellsNewComments},
		{"new comments are followed", followsOneList},
		{"new comments and trouble", followsThroughTrouble},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, browsertest.NewVisitor(t, browser), s) })
	}
}

func oneRequestForEachChange(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "lamp",
		says(".result", "130 comments"),
		holds(root+".querySelectorAll('.list > li').length === 20"),
		click(".bar[href='?rating=5']"),
		says(".result", "26 of 130 comments, average 5.0"),
		focused(".bar[aria-current]"),
		says(".chip[href*='only=verified'] .count", "13"),
		click(".bar[href='?rating=5&rating=4']"),
		says(".result", "78 of 130 comments, average 4.3"),
		says(".chip[href*='only=verified'] .count", "39"),     // as many as the list has
		holds("location.search === '' && history.length > 0"), // the address is the shop's own
		click(".chip[href*='language=de']"),
		holds(root+".querySelector('.chip[aria-current]') !== null"),
		holds(idle),
		click(".order a[href*=oldest]"),
		holds(root+".querySelector('.order [aria-current]').textContent === 'Oldest first'"),
		holds(idle),
		says(".list .title", "Title 129"),
		click(".clear"),
		says(".result", "130 comments"),
		focused(".result"), // the pressed element is gone
	)
	asked := s.requests("lamp")
	if len(asked) != 6 {
		t.Errorf("%d requests, want 1 for the first view and 1 for each of 5 changes", len(asked))
	}
	if asked[0].Variables.Highlights == asked[1].Variables.Highlights {
		t.Error("the latest praise is asked for on the first page of everything, and only there")
	}
}

// A picture opens large in a dialog, which the keyboard pages through and closes. Closing returns
// the focus. With a modifier key, the link opens a new tab as usual.
func pictures(t *testing.T, ctx context.Context, s shop) {
	const second, shown = ".list .media li:nth-child(2) a", root + ".querySelector('.lightbox[open]')"
	s.opens(t, ctx, "pictures",
		says(".list .verified", "Verified purchase"),
		says(".list .media .video", "Video 3"),
		holds(root+".querySelector('.highlights .media') === null"),
		holds("[..."+root+".querySelectorAll('.list > :first-child .media img')].map(({ lang }) => lang).join() === 'en,'"),
		focus(second),
		chromedp.KeyEvent(kb.Enter),
		holds(shown+"?.ariaLabel === 'Picture 2'"),
		focused(".lightbox"),
	)
	t.Run("large", func(t *testing.T) { browsertest.Axe(t, ctx) })
	run(t, ctx,
		chromedp.KeyEvent(kb.Escape),
		holds(shown+" === null"),
		chromedp.EmulateViewport(320, 200), // as a page that is four times as large
		focus(second),
		chromedp.KeyEvent(kb.Enter),
		focused(".lightbox"),
		holds(shown+".scrollHeight > "+shown+".clientHeight && "+shown+".scrollTop === 0"), // the picture is in view
		chromedp.EmulateViewport(320, 568),
		holds(shown+".scrollHeight <= "+shown+".clientHeight"), // on a small phone all of it is, such as the button that closes it
		chromedp.EmulateViewport(1280, 800),
		chromedp.KeyEvent(kb.ArrowLeft),
		holds(shown+".querySelector('img').alt === 'A kettle'"),
		says(".lightbox [role=status]", "A kettle 1/3"),
		says(".lightbox bdi[lang=en]", "A kettle"), // which may be written from the right, and is in the comment's language
		chromedp.KeyEvent(kb.ArrowLeft),
		holds(shown+".querySelector('video') !== null"),
		chromedp.KeyEvent(kb.ArrowRight),
		holds(shown+".querySelector('video') === null"),
		chromedp.KeyEvent(kb.Escape),
		holds(shown+" === null"),
		focused(second),
		holds(root+".querySelector('"+second+"').dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true, cancelable: true }))"),
		holds(shown+" === null"),
	)
}

// A vote shows at once, the same button takes it back, and a refusal reverts it. A press during a
// vote is sent after it. Readers cannot vote about their own comments.
func votes(t *testing.T, ctx context.Context, s shop) {
	button := func(n int, which string) string { return fmt.Sprintf(".list > :nth-child(%d) .votes %s", n, which) }
	const helpful, not = ":nth-child(1)", ":nth-child(2)"
	said := func(n int, text string) chromedp.Action { return says(button(n, "[role=status]"), text) }
	pressed := func(n int, one, other bool) chromedp.Action {
		state := "%s.querySelector(%q).ariaPressed === '%v'"
		return holds(fmt.Sprintf(state+" && "+state, root, button(n, helpful), one, root, button(n, not), other))
	}
	s.opens(t, ctx, "votes",
		says(button(1, helpful), "Helpful (12)"),
		pressed(1, false, false),
		click(button(1, helpful)),
		says(button(1, helpful), "Helpful (13)"),
		pressed(1, true, false),
		said(1, "Your vote counts."),
		focused(button(1, helpful)),
		click(button(1, helpful)),
		said(1, "Your vote is taken back."),
		says(button(1, helpful), "Helpful (12)"),
		pressed(1, false, false),
		focus(button(1, not)),
		chromedp.KeyEvent(" "),
		pressed(1, false, true),
		said(1, "Your vote counts."),
		chromedp.Evaluate(fmt.Sprintf("{ const status = %s.querySelector(%q); window.heard = []; new MutationObserver(() => heard.push(status.textContent)).observe(status, { childList: true, characterData: true, subtree: true }) }",
			root, button(1, "[role=status]")), nil),
		click(button(1, helpful)),
		holds("heard.join('|') === '|Your vote counts.'"), // announced again
		pressed(1, true, false),
		holds(root+".querySelectorAll('.list > :nth-child(2) :is(.votes, .helpful)').length === 0"), // the reader's own
		says(button(3, helpful), "Helpful"),
		click(button(3, helpful)),
		says(button(3, "[role=alert]"), "Your vote was not taken."),
		says(button(3, helpful), "Helpful"),
		pressed(3, false, false),
		click(button(4, not)),
		says(button(4, "[role=alert]"), "That was too much in a short time. Try again in a moment."),
		pressed(4, false, false),
		chromedp.Evaluate(fmt.Sprintf("for (const which of [%q, %q, %q]) %s.querySelector(which).click()",
			button(5, helpful), button(5, not), button(5, not), root), nil),
		said(5, "Your vote is taken back."),
		pressed(5, false, false),
	)
	s.voted(t, "0 HELPFUL", "0 NONE", "0 NOT_HELPFUL", "0 HELPFUL", "2 HELPFUL", "3 NOT_HELPFUL", "4 HELPFUL", "4 NONE")
}

// voted expects votes since the last call.
func (s shop) voted(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.votes, want) {
		t.Errorf("voted %q, want %q", s.votes, want)
	}
	s.votes = nil
}

// A visitor gets a token with the first vote, and keeps it, also after a reload, until it expires.
// Before that, no request asks about votes. A reader with a token of the page becomes no visitor.
// Where visitors can no longer vote, the token is removed, but not because a function of the page
// throws.
func visitorsVote(t *testing.T, ctx context.Context, s shop) {
	button := func(n int, which string) string { return fmt.Sprintf(".list > :nth-child(%d) .votes %s", n, which) }
	s.opens(t, ctx, "visitors",
		chromedp.Evaluate(fmt.Sprintf("for (const which of [%q, %q]) %s.querySelector(which).click()",
			button(1, "button"), button(2, "button"), root), nil),
		says(button(1, "[role=status]"), "Your vote counts."),
		says(button(2, "[role=status]"), "Your vote counts."),
		chromedp.Reload(),
		holds(idle),
		chromedp.Evaluate("document.querySelector('talkback-comments').token = () => null", nil), // nobody is signed in
		holds(idle),
		click(button(6, "button")),
		says(button(6, "[role=status]"), "Your vote counts."),
		chromedp.Evaluate("document.querySelector('talkback-comments').token = 't1'", nil), // of the page
		holds(idle),
		click(button(6, "button")),
		says(button(6, "[role=alert]"), "Sign in again to write or vote."),
		chromedp.Evaluate(`{
			console.warn = () => {};
			const throws = () => { throw new Error('nobody is signed in'); };
			Object.assign(document.querySelector('talkback-comments'), { token: throws, product: 'unvisited' });
		}`, nil),
		says(".write slot p", "Sign in again to write or vote."),
		holds("Object.keys(localStorage).some((key) => key.startsWith('talkback visitor'))"),
	)
	browsertest.Visit(t, ctx, s.address+"/shop/unvisited",
		says(".write slot p", "Sign in to write a comment."),
		holds("!Object.keys(localStorage).some((key) => key.startsWith('talkback visitor'))"),
	)
	s.mu.Lock()
	slices.Sort(s.votes)
	s.mu.Unlock()
	s.voted(t, "0 HELPFUL Bearer t1", "1 HELPFUL Bearer t1", "5 HELPFUL Bearer t1", "5 HELPFUL Bearer t2", "5 NONE Bearer t1")
	var asked []string
	for _, r := range append(s.requests("visitors"), s.requests("unvisited")...) {
		asked = append(asked, fmt.Sprint(r.Variables.Voter, r.authorization))
	}
	if want := []string{"false", "trueBearer t1", "trueBearer t1", "trueBearer t1", "trueBearer -", "trueBearer t2", "false"}; !slices.Equal(asked, want) {
		t.Errorf("the pages were asked for with %q, want %q", asked, want)
	}
}

// The author of a comment that others do not see finds it above the list, with its state. Other
// readers' pages do not request it: a page without a token does not ask for it.
func showsOwn(t *testing.T, ctx context.Context, s shop) {
	const own = ".list ~ .highlight, .highlight:has(~ .list)"
	for _, row := range []struct{ product, state, text string }{
		{"waits", "Your comment waits for the shop.", ""},
		{"rejected", "Your comment is not shown.", "Off topic"},
		{"edited", "Your comment waits for the shop.", "Anders."},
	} {
		s.opens(t, ctx, row.product,
			holds(root+`.querySelector("`+own+`") === null`),
			chromedp.Evaluate("{ const element = document.querySelector('talkback-comments'); element.token = 'me'; element.refresh() }", nil),
			says(".highlight:has(+ .list) h3", row.state),
			holds(fmt.Sprintf("%s.querySelector('.highlight:has(+ .list)').textContent.includes(%q)", root, row.text)),
			holds("(ids => new Set(ids).size === ids.length)([..."+root+".querySelectorAll('[id]')].map(({ id }) => id))"),
			click(".bar[href='?rating=5']"),
			holds(root+".querySelector('.bar[aria-current]') !== null"),
			holds(root+`.querySelector("`+own+`") === null`), // not requested with a filter
		)
		var asked []bool
		for _, r := range s.requests(row.product) {
			asked = append(asked, r.Variables.Own)
		}
		if !slices.Equal(asked, []bool{false, true, false}) {
			t.Errorf("%s: the own comment was asked for: %v", row.product, asked)
		}
	}
	// Texts of a page, which may have been written before there were reasons.
	s.opens(t, ctx, "rejected",
		chromedp.Evaluate("{ const element = document.querySelector('talkback-comments'); element.token = 'me'; element.strings = { 'own.rejected': 'Hidden.' } }", nil),
		says(".highlight:has(+ .list) h3", "Hidden."),
		says(".highlight:has(+ .list) .hint", "Off topic"),
		chromedp.Evaluate("document.querySelector('talkback-comments').strings = { 'reason.OFF_TOPIC': 'About something else' }", nil),
		says(".highlight:has(+ .list) .hint", "About something else"),
	)
	s.opens(t, ctx, "approved",
		chromedp.Evaluate("{ const element = document.querySelector('talkback-comments'); element.token = 'me'; element.refresh() }", nil),
		holds(root+".querySelector('.root[aria-busy=false] .list') !== null"),
		holds(root+`.querySelector("`+own+`") === null`),
	)
}

// A comment that waits or was rejected is edited and deleted above the list. The service takes the
// version of an edit that waits, which the list does not know.
func changesOwn(t *testing.T, ctx context.Context, s shop) {
	const own, signsIn = ".highlight:has(+ .list) ", "{ const element = document.querySelector('talkback-comments'); element.token = 'me'; element.refresh() }"
	dialog := root + ".querySelector('.highlight dialog[open]')"
	for _, product := range []string{"waits", "rejected"} {
		s.opens(t, ctx, product,
			chromedp.Evaluate(signsIn, nil),
			click(own+".actions button:last-child"),
			holds(dialog+" !== null"),
			click(".highlight .danger"),
			says(".said", "The comment is deleted."),
			holds(idle+" && "+root+".querySelector('"+own+"') === null"), // though the service still has it in its answers
			focused(".list"),
		)
	}
	// One of a guest is in no answer. It is gone when it is deleted, also after the time in which
	// answers may lag.
	s.opens(t, ctx, "signed",
		click(".write button"),
		click(".write [value='4']"),
		click(".write .primary"),
		says(own+"h3", "Your comment waits for the shop."),
		click(own+".actions button:last-child"),
		holds(dialog+" !== null"),
		// An attempt fails after Escape closed the dialog, which is open again to say so.
		chromedp.Evaluate("{ const { fetch } = window; window.fetch = async () => { window.fetch = fetch; await new Promise((release) => { window.release = release; }); throw new TypeError(); }; }", nil),
		click(".highlight .danger"),
		holds("typeof window.release === 'function'"),
		chromedp.KeyEvent(kb.Escape),
		holds(dialog+" === null"),
		release,
		holds(dialog+"?.querySelector('[role=alert]')?.textContent.length > 0"),
		click(".highlight .danger"),
		says(".said", "The comment is deleted."),
		chromedp.Evaluate("performance.now = () => 1e9", nil),
		refresh,
		holds(idle+" && "+root+".querySelector('"+own+"') === null"),
	)
	// Nor does one of a guest wait any longer that everyone sees.
	s.opens(t, ctx, "signed approved",
		click(".write button"),
		click(".write [value='4']"),
		click(".write .primary"),
		says(".said", "Thank you. Your comment is shown once the shop has read it."),
		holds(idle+" && "+root+".querySelector('.list [id=c_mine]') !== null && "+root+".querySelector('"+own+"') === null"),
	)
	saved := func(text string) []chromedp.Action {
		return []chromedp.Action{enter("form textarea", text), click("form .primary")}
	}
	waits := "Thank you. Your comment is shown once the shop has read it."
	s.opens(t, ctx, "edited", append(append([]chromedp.Action{
		chromedp.Evaluate(signsIn, nil),
		says(own+".text", "Anders."),
		holds(root + ".querySelector('.list .actions') === null"), // it is edited above
		click(own + ".actions button"),
		holds(root + ".querySelector('.highlight textarea').value === 'Anders.'"),
	}, saved("Noch einmal anders.")...),
		says(".said", waits),
		says(own+".text", "Noch einmal anders."),
		focused(own),
	)...)
	s.opens(t, ctx, "edited", append(append([]chromedp.Action{
		chromedp.Evaluate(signsIn, nil),
		says(own+".text", "Noch einmal anders."),
		click(".bar[href='?rating=1']"), // where nothing of it stands above
		click(".list .actions button"),
		holds(root + ".querySelector('.list textarea').value.startsWith('Text 0')"),
	}, saved("Noch einmal ganz anders.")...),
		says(".theirs .text", "Noch einmal anders."),
		click("form .primary"), // keeps what was typed
		says(".said", waits),
	)...)
	// An edit that is rejected at once waits no longer, and the comment can be edited where it stands.
	s.opens(t, ctx, "edited", append(append([]chromedp.Action{
		chromedp.Evaluate(signsIn, nil),
		says(own+".text", "Noch einmal ganz anders."),
		click(own + ".actions button"),
	}, saved(rejected)...),
		says(".said", waits),
		holds(idle+" && "+root+".querySelector('"+own+"') === null && "+root+".querySelector('.list .actions') !== null"),
	)...)
}

// The element loads the texts of its language, on a page of any origin. Without them it is English,
// and a page may provide a language of its own.
func speaksLanguages(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/lamp?a-lang=ar-SA",
		says(".result", "130 مراجعة"),
		holds(root+".querySelector('.root[lang=ar][dir=rtl]') !== null"),
		holds(root+".querySelector('.bar').getBoundingClientRect().right > "+root+".querySelector('.list').getBoundingClientRect().right"), // it begins at the right
		chromedp.Evaluate("document.querySelector('talkback-comments').lang = 'pl'", nil),
		says(".result", "130 opinii"),
		says(".list time", "24 maja 2026"),
		holds(root+".querySelector('.root[lang=pl][dir=ltr]') !== null"),
	)
	browsertest.Visit(t, ctx, s.address+"/shop/lamp?a-lang=zh-TW", says(".result", "130 comments")) // ours is simplified
	browsertest.Visit(t, ctx, s.address+"/shop/lamp?a-lang=da",
		says(".result", "130 comments"),
		chromedp.Evaluate("document.querySelector('talkback-comments').strings = { 'comments.one': '{n} anmeldelse', 'comments.other': '{n} anmeldelser' }", nil),
		says(".result", "130 anmeldelser"),
		says(".list time", "24. maj 2026"),
		chromedp.Evaluate("document.querySelector('talkback-comments').lang = 'ps-AF'", nil), // Pashto
		holds(root+".querySelector('.root[lang=ps][dir=rtl]') !== null"),
		chromedp.Evaluate("document.querySelector('talkback-comments').lang = 'iw'", nil), // Hebrew, as Java had it
		holds(root+".querySelector('.root[lang=iw][dir=rtl]') !== null"),
	)
	run(t, ctx,
		chromedp.Navigate(s.elsewhere+"/shop/lamp?a-lang=ja"),
		says(".result", "レビュー130件"),
		says(".list time", "2026年5月24日"),
		chromedp.Evaluate(`{
			const { fetch } = window;
			window.fetch = (address, init) => (String(address).endsWith('sv.json') ? Promise.reject(new TypeError('no network')) : fetch(address, init));
			document.querySelector('talkback-comments').lang = 'sv';
		}`, nil),
		says(".result", "130 comments"),
	)
}

// A form opens from the top too, suggests the languages at hand, guesses the language of the text,
// and reports the result. A comment that waits for the shop is shown to its author only, and not in
// the list.
func writes(t *testing.T, ctx context.Context, s shop) {
	language := func(want string) chromedp.Action {
		return holds(fmt.Sprintf("%s.querySelector('.write select').value === %q", root, want))
	}
	var options [][3]any                                                         // whether a name is the server's, or the English one of a language that the browser does not speak
	names := string(must.Get(os.ReadFile("../product/texts/languages.json"))(t)) // as the server has them
	s.opens(t, ctx, "signed?a-customer-name=Ada",
		click(".compose button"),
		focused(".write [name=rating]"),
		says(".write form .quiet", "Cancel"),
		says(".write label[for=new-title]", "Title (optional)"),
		holds("[..."+root+".querySelector('.write select').children].slice(0, 4).map(({ value, localName }) => value ?? localName).join() === 'en,de,it,hr'"),
		holds("![..."+root+".querySelector('.write select').options].some(({ value, text }) => value !== '' && text.toLowerCase() === value)"),
		chromedp.Evaluate(fmt.Sprintf("[...%s.querySelector('.write select').options].filter(({ value }) => value !== '').map(({ value, text }) => [text === (%s)[value], text === new Intl.DisplayNames('en', { type: 'language' }).of(value), text])", root, names), &options),
		language("en"),
		enter(".write [name=text]", "Der Kaffee ist nicht heiß, aber die Maschine ist gut."),
		language("de"),
		says("#new-language-notes", "Guessed from your text."),
		says(".write form .quiet", "Discard"),
		enter(".write [name=text]", "まあまあです。すぐに届きました。"),
		language("ja"),
		enter(".write [name=language]", "ko"),
		enter(".write [name=text]", "El café no está muy caliente, pero la máquina es buena."),
		language("ko"), // a choice is not overruled
		says("#new-language-notes", ""),
		click(".write form .primary"),
		says(".trouble", "Your comment could not be published."),
		says("#new-rating-notes", "Choose 1 to 5 stars."),
		click(".write [name=rating][value='4']"),
		enter(".write [name=text]", "stripped"),
		click(".write form .primary"),
		says(".trouble", "Your comment could not be published.That did not work.Try again in a moment.Your text is kept."),
		enter(".write [name=text]", "El café no está muy caliente, pero la máquina es buena."),
		click(".write form .primary"),
		says(".said", "Thank you. Your comment is shown once the shop has read it."),
		says("[class~='own.waits'] h3", "Your comment waits for the shop."),
		focused("[class~='own.waits']"),
		holds(root+".querySelector('.list [id=c_mine]') === null"),
		holds("sessionStorage.length === 0"),
		click(".order a[href*=oldest]"),
		says(".said", ""),
	)
	same := 0
	for _, o := range options {
		if o[0] == true {
			same++
		} else if o[1] != true {
			t.Errorf("a language is called %v, and otherwise on the server", o[2])
		}
	}
	if same < 46 { // to most readers
		t.Errorf("%d languages are called as on the server", same)
	}
}

func theAddress(t *testing.T, ctx context.Context, s shop) {
	for _, attributes := range []string{"a-navigate=&colour=red", "a-navigate=&base=%2F"} {
		visitByAddress(t, ctx, s, attributes)
	}
	// What a page changes in its own part of the address stays, also where the service drew the
	// comments.
	s.opens(t, ctx, "desk?a-navigate=&colour=red",
		chromedp.Evaluate("history.replaceState(null, '', '?a-navigate=&colour=blue')", nil),
		click(".bar[href$='rating=4']"),
		says(".result", "52 of 130 comments, average 4.0"),
		holds("location.search === '?a-navigate=&colour=blue&rating=4'"),
	)
	browsertest.Visit(t, ctx, s.address+"/products/desk?colour=red&rating=5",
		holds(root+".querySelector('.bar[href*=colour]') !== null"),
		click(".bar[href$='rating=4']"),
		holds("location.search === '?colour=red&rating=5&rating=4'"),
		click(".clear"),
		says(".result", "130 comments"),
		holds("location.search === '?colour=red'"),
	)
}

// visitByAddress follows links, and looks where they would lead in another tab.
func visitByAddress(t *testing.T, ctx context.Context, s shop, attributes string) {
	t.Helper()
	s.opens(t, ctx, "desk?"+attributes+"#/lamps/desk", // by which some shops find their product
		click(".bar[href$='rating=4']"),
		says(".result", "52 of 130 comments, average 4.0"),
		holds("[..."+root+".querySelectorAll('a')].every((link) => link.href.split('?')[0] === location.href.split('?')[0])"),
		holds("location.search + location.hash === '?"+attributes+"&rating=4#/lamps/desk'"),
		click(".pages a[href*='page=3']"),
		says(".pages [aria-current]", "3"),
		focused(".list"),
		holds("location.search === '?"+attributes+"&page=3&rating=4'"),
		holds(root+".querySelector('.list').getAttribute('start') === '41'"),
		chromedp.Evaluate("history.back()", nil),
		says(".pages [aria-current]", "1"),
		chromedp.Evaluate("history.back()", nil),
		says(".result", "130 comments"),
		chromedp.Evaluate("history.forward()", nil),
		says(".result", "52 of 130 comments, average 4.0"),
		chromedp.Reload(),
		says(".result", "52 of 130 comments, average 4.0"),
	)
}

func theKeyboard(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "keys",
		focus(".bar[href='?rating=2']"),
		chromedp.KeyEvent(kb.Enter),
		holds(root+".querySelector('.bar[aria-current] .label').textContent === '2 stars'"),
		holds(idle),
		focused(".bar[aria-current]"),
		chromedp.KeyEvent(kb.Enter),
		says(".result", "130 comments"),
		focus(".pages .step[rel=next]"),
		chromedp.KeyEvent(kb.Enter),
		says(".pages [aria-current]", "2"),
		focused(".list"),
		holds(fmt.Sprintf("Math.abs(%s.querySelector('.result').getBoundingClientRect().top) < innerHeight / 2", root)),
	)
	// Languages that were unfolded stay so, and who empties the dates, which are folded then, goes on
	// at the result.
	dates := func(day string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf("{ const from = %s.querySelector('[name=from]'); from.value = %q; from.form.querySelector('button').focus() }", root, day), nil)
	}
	s.opens(t, ctx, "polyglot",
		focus("details.more summary"),
		chromedp.KeyEvent(kb.Enter),
		focus("details.more .chip"),
		chromedp.KeyEvent(kb.Enter),
		holds(root+".querySelector('details.more .chip[aria-current]') !== null && "+idle+" !== null"),
		chromedp.KeyEvent(kb.Enter),
		holds(root+".querySelector('.chip[aria-current]') === null && "+idle+" !== null"),
		holds(root+".querySelector('details.more').open"),
		focused("details.more .chip"),
		chromedp.KeyEvent(kb.Enter),
		holds(root+".querySelector('details.more .chip[aria-current]') !== null && "+idle+" !== null"),
		focus("details.more summary"),
		chromedp.KeyEvent(kb.Enter),
		refresh,
		holds("!"+root+".querySelector('details.more').open"), // as the reader left it
		click(".clear"),
		holds(root+".querySelector('.chip[aria-current]') === null && "+idle+" !== null"),
		focus(".dates summary"),
		chromedp.KeyEvent(kb.Enter),
		dates("2026-05-20"),
		chromedp.KeyEvent(kb.Enter),
		says(".result", "5 of 130 comments, average 3.0"),
		dates(""),
		chromedp.KeyEvent(kb.Enter),
		says(".result", "130 comments"),
		focused(".result"),
	)
	var reached []string
	everything := fmt.Sprintf(`[...%s.querySelectorAll('a[href], button, input:not([type=hidden]), summary')]
		.filter((found) => found.tabIndex < 0).map((found) => found.outerHTML)`, root)
	if run(t, ctx, chromedp.Evaluate(everything, &reached)); len(reached) > 0 {
		t.Errorf("not reached by Tab: %q", reached)
	}
}

func theForms(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "forms?a-navigate=&method=post&reset=1&action=no&submit=", // of the page, and names of what forms have
		click(".dates summary"),
		chromedp.Evaluate(fmt.Sprintf(`for (const name of ['from', 'to']) %s.querySelector('[name=' + name + ']').value = '2026-05-20'`, root), nil),
		click(".dates button"),
		says(".result", "1 of 130 comments, average 4.0"),
		holds("location.search.endsWith('from=2026-05-20&to=2026-05-20')"),
		says(".chip[href*='only=verified']", "Verified purchase only"), // which is not counted by dates
		holds(root+".querySelector('.bar [value]') !== null"),
		click(".clear"),
		says(".result", "130 comments"),
		holds(root+".querySelector('[name=from]').value === ''"),
		focus(".jump [name=page]"),
		chromedp.Evaluate(root+".querySelector('.jump [name=page]').select()", nil),
		chromedp.KeyEvent("6"+kb.Enter),
		says(".pages [aria-current]", "6"),
		focused(".list"),
		click(".pages .step[rel=prev]"),
		says(".pages [aria-current]", "5"),
		holds(root+".querySelector('.jump [name=page]').value === '5'"),
		focus(".jump [name=page]"),
		chromedp.Evaluate(root+".querySelector('.jump [name=page]').select()", nil),
		holdingBack(`"page":7`, chromedp.KeyEvent("7"+kb.Enter)),
		holds(root+".querySelector('.jump [name=page]').value === '7'"), // which is on its way
		release,
		says(".pages [aria-current]", "7"),
	)
}

// Those who read on by keyboard go on at the first comment that came.
func loadMore(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "more?a-mode=more&a-page-size=50",
		says(".shown", "50 of 130 comments shown"),
		focus("button.more"),
		chromedp.KeyEvent(" "),
		says(".shown", "100 of 130 comments shown"),
		focused(".list > :nth-child(51)"),
		click("button.more"),
		says(".shown", "130 of 130 comments shown"),
		focused(".list > :nth-child(101)"),
		holds(root+".querySelector('button.more') === null"),
		holds(fmt.Sprintf("new Set([...%s.querySelectorAll('.list article')].map(({ id }) => id)).size === 130", root)),
	)
	// Opened in the middle: what comes before is a link away.
	s.opens(t, ctx, "middle?a-mode=more&a-navigate=&page=3",
		click("button.more"),
		says(".shown", "40 of 130 comments shown"),
		click(".pages [rel=prev]"),
		says(".list .title", "Title 20"),
	)
	// Of a single comment, nothing is to be counted.
	s.opens(t, ctx, "single?a-mode=more", says(".result", "1 comment"), holds(root+".querySelector('.shown') === null"))
	// Beside numbered pages, a reader may choose it.
	s.opens(t, ctx, "both?a-navigate=&page=2&a-explain=",
		chromedp.Evaluate("history.replaceState({ mine: 1 }, '')", nil),
		focus("a.more"),
		chromedp.KeyEvent(kb.Enter),
		says(".pages [aria-current]", "3"),
		holds(root+".querySelectorAll('.list > li').length === 40 && location.search.includes('page=3') && history.state?.mine === 1"),
		focused(".list > :nth-child(21)"),
		holds(root+".querySelector('.pages [rel=prev]').search.indexOf('page') < 0 && "+root+".querySelector('.pages [rel=next]').search.includes('page=4')"),
		click(".pages [rel=next]"),
		says(".list .title", "Title 60"),
	)
}

// What is read again, such as after a customer signed in, stays as far as it was loaded. It is not
// shorter meanwhile.
func loadsAgain(t *testing.T, ctx context.Context, s shop) {
	for _, test := range []struct{ page, more, first, address string }{
		{"again?a-navigate=&page=2", "a.more", "Title 20", "&page=4"},
		{"again?a-mode=more", "button.more", "Title 0", "a-mode=more"},
		{"cursors?a-navigate=&after=c19", "a.more", "Title 20", "&after=c59"},
	} {
		for _, again := range []string{"element.refresh()", "element.token = 'me'"} {
			list := root + ".querySelectorAll('.list > li')"
			s.opens(t, ctx, test.page,
				click(test.more),
				holds(list+".length === 40"),
				click(test.more),
				holds(list+".length === 60"),
				holds("location.search.endsWith('"+test.address+"')"),
				chromedp.Evaluate(`{
					window.lengths = new Set();
					const element = document.querySelector('talkback-comments');
					const before = element.shadowRoot.querySelector('.root');
					new MutationObserver(() => lengths.add(`+list+`.length)).observe(before, { childList: true, subtree: true, attributes: true });
					element.addEventListener('talkback-answer', () => { window.answers = (window.answers ?? 0) + 1; });
					void (`+again+`);
				}`, nil),
				holds("window.answers === 3"),
				holds(idle),
				says(".list .title", test.first),
				holds("[...lengths].join() === '60'"),
				holds("location.search.endsWith('"+test.address+"')"),
				holds(fmt.Sprintf("new Set([...%s.querySelectorAll('.list article')].map(({ id }) => id)).size === 60", root)),
			)
		}
	}
}

// "Back" leads to all that was loaded, also if its address names the last page alone.
func goesBackToMore(t *testing.T, ctx context.Context, s shop) {
	list := root + ".querySelectorAll('.list > li')"
	for _, test := range []struct{ page, more, first string }{
		{"back?a-navigate=&page=2", "a.more", "Title 20"},
		{"back?a-navigate=&a-mode=more", "button.more", "Title 0"},
		{"cursors?a-navigate=&after=c19", "a.more", "Title 20"},
	} {
		s.opens(t, ctx, test.page,
			click(test.more),
			holds(list+".length === 40"),
			click(".bar[href*='rating=4']"),
			holds("location.search.includes('rating=4')"),
			holds(idle),
			chromedp.Evaluate("history.back()", nil),
			holds(list+".length === 40"),
			holds(idle),
			says(".list .title", test.first),
			chromedp.Evaluate("history.forward()", nil),
			says(".result", "52 of 130 comments, average 4.0"),
			holds(idle),
			holds(list+".length === 20"),
		)
	}
}

func pagesWithoutNumbers(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "cursors?a-navigate=",
		holds(root+".querySelectorAll('.pages .step').length === 1 && "+root+".querySelector('.pages ol, .error') === null"),
		click(".pages [rel=next]"),
		holds("location.search.endsWith('after=c19')"),
		says(".list .title", "Title 20"),
		click(".pages [rel=prev]"),
		says(".list .title", "Title 0"),
	)
	// A page behind a cursor has the number of the closest one, which contradicts no count.
	s.opens(t, ctx, "middle?a-navigate=&after=c110", says(".result", "130 comments"), says(".pages [aria-current]", "7"))
	// Where numbers are off, the reader is told so, and goes on from the first page of the same list.
	run(t, ctx,
		chromedp.Navigate(s.address+"/shop/off?a-navigate=&rating=5&page=2"),
		says(".error p", "This page cannot be found right now. The first pages can."),
		click(".error [href='?a-navigate=&rating=5']"),
		holds("location.search === '?a-navigate=&rating=5'"),
		holds(root+".querySelectorAll('.pages .step').length === 1 && "+root+".querySelector('.error') === null"),
	)
	// So is one with a cursor of another list.
	run(t, ctx,
		chromedp.Navigate(s.address+"/shop/elsewhere?a-navigate=&after=c99"),
		says(".error p", "This page cannot be found right now. The first pages can."),
		click(".error [href='?a-navigate=']"),
		says(".result", "130 comments"),
		holds("location.search === '?a-navigate='"),
	)
}

func theLatestWins(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/slow",
		holds(root+".querySelector('.root[aria-busy=true] .skeleton') !== null"),
		says(".waiting [role=status]", "Loading comments"),
		says(".waiting .slow", "This takes longer than usual."),
		chromedp.Evaluate("document.querySelector('talkback-comments').refresh()", nil),
		says(".result", "130 comments"),
		holds(root+".querySelector('.waiting') === null"),
	)
	// More of what is shown is the latest wish, too: the filter that was chosen before it is no
	// longer.
	s.opens(t, ctx, "lamp?a-navigate=",
		holdingBack(`"ratings":[5]`, click(".bar[href$='rating=5']")),
		click("a.more"),
		holds(root+".querySelectorAll('.list > li').length === 40"),
		release,
		holds("location.search === '?a-navigate=&page=2' && "+root+".querySelector('.bar[aria-current], .clear') === null"),
	)
	browsertest.Visit(t, ctx, s.address+"/shop/overtaken",
		says(".result", "130 comments"),
		click(".bar[href='?rating=5']"),
		holds(root+".querySelector('.root[aria-busy=true] .result').textContent === '130 comments'"), // the earlier list stays
		click(".bar[href='?rating=5&rating=4']"),
		says(".result", "78 of 130 comments, average 4.3"),
	)
	select {
	case <-s.gaveUp:
	case <-time.After(patience):
		t.Error("the request that was overtaken is still under way")
	}
}

// A request that is never answered ends after a timeout, which the test shortens.
func noAnswer(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/lamp",
		says(".result", "130 comments"),
		chromedp.Evaluate(`{
			const timeout = AbortSignal.timeout.bind(AbortSignal);
			AbortSignal.timeout = (milliseconds) => {
				AbortSignal.timeout = timeout; // for the next request, which is answered
				return timeout(milliseconds / 1000);
			};
			console.warn = () => {};
			document.querySelector('talkback-comments').setAttribute('product', 'stuck');
		}`, nil),
		says(".error", "No answer came in time.Try again in a moment.Try again"),
		click(".error a"),
		says(".result", "130 comments"),
	)
}

func trouble(t *testing.T, ctx context.Context, s shop) {
	for _, test := range []struct{ product, want, why string }{
		{"throttled", "Too many people are asking right now.Try again in 7 seconds.Try again", "the time is that of Retry-After"},
		{"limited", "That was too much in a short time.Try again in 12 seconds.Try again", "a limit of this client says nothing of others"},
		{"proxy", "Too many people are asking right now.Try again in 1 second.Try again", "a proxy speaks no GraphQL"},
		{"broken", "The comments cannot be shown right now.Try again in a moment.Try again", "no list in the answer"},
		{"stripped", "The comments cannot be shown right now.Try again in a moment.Try again", "an answer lacks most of what was asked for"},
		{"unlisted", "The comments cannot be shown right now.Try again in a moment.Try again", "its list has no comments to count"},
		{"stripped?a-lang=de", "Die Kommentare können gerade nicht angezeigt werden.Versuchen Sie es gleich noch einmal.Noch einmal versuchen", "it came before the texts"},
		{"secret", "Sign in to see the comments.Try again", "the service is not public"},
		{"gone", "The comments cannot be reached right now.Try again in a moment.Try again", "the connection broke"},
	} {
		result := "130 comments"
		if strings.Contains(test.product, "=de") {
			s.forgive("stripped")
			result = "130 Kommentare"
		}
		run(t, ctx,
			chromedp.Navigate(s.address+"/shop/"+test.product),
			says(".error", test.want),
			holds(root+".querySelector('.error').getAttribute('role') === 'alert'"),
			holds(root+".querySelector('.write').offsetHeight === 0 || "+root+".querySelector('.write .button') !== null"), // no empty box
			focus(".error a"),
			chromedp.KeyEvent(kb.Enter),
			says(".result", result),
			holds(root+".querySelector('.error') === null"),
		)
	}
}

// Without a network the element says so, keeps its list, and asks again once there is one.
func offline(t *testing.T, ctx context.Context, s shop) {
	run(t, ctx,
		chromedp.Navigate(s.address+"/shop/offline"),
		says(".result", "130 comments"),
		network.Enable(), // for what follows
		network.EmulateNetworkConditions(true, 0, -1, -1),
		click(".bar[href='?rating=5']"),
		says(".error p", "You are offline. Try again once connected."),
		holds(root+".querySelectorAll('.list > li').length === 20"),
		network.EmulateNetworkConditions(false, 0, -1, -1),
		says(".result", "26 of 130 comments, average 5.0"),
		holds(root+".querySelector('.error') === null"),
		network.EmulateNetworkConditions(true, 0, -1, -1),
		click("a.more"),
		says(".error p", "You are offline. Try again once connected."),
		network.EmulateNetworkConditions(false, 0, -1, -1),
		holds(root+".querySelectorAll('.list > li').length === 26 && "+idle),
	)
}

func hostileTexts(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "hostile",
		holds(fmt.Sprintf("%s === %q", text(".list .text"), hostile)),
		holds(fmt.Sprintf("%s === %q", text(".list .author"), hostile)),
		holds(root+".querySelector('script, img, svg, b') === null && document.title === 'A shop'"),
		// Marks that are stacked paint over no other comment.
		holds("[..."+root+".querySelectorAll('.list > li, .highlight')].every((part) => getComputedStyle(part).overflowY === 'clip')"),
	)
}

func nothingToShow(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/empty",
		says(".empty", "No comments yet."),
		holds(root+".querySelector('.summary, .filters, .result, .pages') === null"),
		holds(root+".querySelector('.empty').offsetWidth === "+root+".querySelector('.root').offsetWidth"))
	browsertest.Visit(t, ctx, s.address+"/shop/single",
		says(".result", "1 comment"),
		holds(root+".querySelector('.languages, .pages') === null"))
	// A comment is listed before it is counted, and is gone before counts follow. No number
	// contradicts the list.
	numbers := func(want string) chromedp.Action {
		part := func(selector string) string {
			return fmt.Sprintf("[...%s.querySelectorAll(%q)].map(({ textContent }) => textContent).join()", root, selector)
		}
		all := "[" + part(".average") + ", " + part(".bar .count") + ", " + part(".chip") + ", " + part(".result") + "].join('; ')"
		return waitFor(fmt.Sprintf("%s && %s === %q", idle, all, want), all)
	}
	s.opens(t, ctx, "first", numbers("1.01 comment; 0,0,0,0,1; ; 1 comment"))
	s.opens(t, ctx, "lagging", numbers("2.33 comments; 1,0,0,0,2; Deutsch1,English1,Italiano1; 3 comments"),
		click(".bar[href='?rating=1']"),
		holds(root+".querySelector('.bar[aria-current]') !== null"),
		holds(root+".querySelectorAll('.list > li').length === 2"),
		says(".result", "2 of 2 comments, average 1.0"))
	s.opens(t, ctx, "full", numbers("; ; Deutsch10,English5,Italiano5; "),
		click("a.more"),
		numbers("2.921 comments; 4,8,0,0,9; Deutsch10,English6,Italiano5; 21 comments"),
		says(".pages [aria-current]", "2"))
	s.opens(t, ctx, "full?a-navigate=&page=2", numbers("; ; Deutsch10,English5,Italiano5; "),
		click(".pages [rel=prev]"),
		says(".list .title", "Title 0"))
	s.opens(t, ctx, "emptied", says(".empty", "No comments yet."), numbers("; ; ; "))
	browsertest.Visit(t, ctx, s.address+"/shop/desk?a-navigate=&page=9",
		says(".empty p", "The comments end before this page."),
		click(".empty a"),
		says(".pages [aria-current]", "7"))
}

func howThisWasAnswered(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "plans?a-explain=",
		says(".cost", "0.5 read units, 1 wave, 2.3 ms"),
		click(".plan summary"),
		focus(".bar[href='?rating=5']"),
		chromedp.KeyEvent(kb.Enter),
		says(".result", "26 of 130 comments, average 5.0"),
		holds(root+".querySelector('.plan').open"),
		holds(root+".querySelector('.plan > summary + .overview > :first-child .grid') !== null"),
		holds(root+".querySelector('.plan').offsetHeight <= innerHeight * 0.45"),
		chromedp.Evaluate("scrollBy(0, "+root+".querySelector('.pages .step').getBoundingClientRect().bottom - innerHeight + 40)", nil),
		focus(".pages .step"), // the drawer does not cover the focused element
		holds(root+".activeElement.getBoundingClientRect().bottom <= "+root+".querySelector('.plan').getBoundingClientRect().top"),
		says(".plan tbody tr td:nth-child(3)", "P#plans/5"),
		holds(root+".querySelectorAll('.grid .read.wanted').length === "+root+".querySelectorAll('.grid .wanted:not(g:last-child *)').length"),
	)
	// Where texts run from right to left, the picture's words lie beside its cells, too.
	const edges = ".map((element) => element.getBoundingClientRect())"
	s.opens(t, ctx, "plans?a-explain=&a-lang=ar",
		holds("getComputedStyle("+root+".querySelector('.sentence')).direction === 'ltr'"), // English
		click(".plan summary"),
		holds(root+".querySelectorAll('.grid .label').length === 3"),
		holds(fmt.Sprintf("[...%[1]s.querySelectorAll('.grid .label')]%[2]s.every(({ right }) => [...%[1]s.querySelectorAll('.grid .label ~ .cell')]%[2]s.every(({ left }) => right <= left))", root, edges)),
		holds("getComputedStyle("+root+".querySelector('code')).direction === 'ltr'"), // a key
	)
}

func attributesAndProperties(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/german?a-lang=de-AT&a-page-size=10&a-order=oldest",
		says(".result", "130 Kommentare"),
		holds(root+".querySelectorAll('.list > li').length === 10"),
		holds(root+".querySelector('.root').lang === 'de'"),
		says(".list .title", "Title 129"),
		says(".list time", "15. Januar 2026"),
		chromedp.Evaluate(`{
			const element = document.querySelector('talkback-comments');
			element.token = async () => 'told';
			addEventListener('talkback-answer', ({ detail }) => { document.title = detail.plan.summary; });
			element.setAttribute('product', 'other');
		}`, nil),
		holds("document.title === '1 partitions in one wave'"),
	)
	if asked := s.requests("other"); len(asked) != 1 || asked[0].authorization != "Bearer told" {
		t.Errorf("asked %+v, want one request with the token", asked)
	}
}

// Settings of a page count whether or not the element is defined yet, and whether or not it is in
// the page. Several at once cost one request. Values that frameworks set again with each drawing
// cost none.
func propertiesAtAnyTime(t *testing.T, ctx context.Context, s shop) {
	const (
		element = "const element = document.querySelector('talkback-comments'); "
		put     = "const element = document.createElement('talkback-comments'); document.querySelector('talkback-comments').replaceWith(element); "
		set     = "Object.assign(element, { strings: { write: 'Tell us' }, filter: 'rating=5&page=3', token: async () => 'told', customerName: 'Ada', product: 'signed' }); "
	)
	load := chromedp.Evaluate("document.head.append(Object.assign(document.createElement('script'), { src: '/talkback.js' }))", nil)
	for name, steps := range map[string][]chromedp.Action{
		"before the definition":         {chromedp.Evaluate("{"+element+set+"}", nil), load},
		"made before the definition":    {chromedp.Evaluate("{"+put+set+"}", nil), load},
		"after the definition":          {load, holds(root + " !== null"), chromedp.Evaluate("{"+element+set+"}", nil)},
		"made after the definition":     {load, holds(root + " !== null"), chromedp.Evaluate("{"+put+set+"}", nil)},
		"set before it is in the page":  {load, holds(root + " !== null"), chromedp.Evaluate("{"+element+"element.remove(); "+set+"document.body.append(element)}", nil)},
		"by attributes, and a property": {load, holds(root + " !== null"), chromedp.Evaluate("{"+element+`element.token = () => 'told'; for (const [name, value] of Object.entries({ product: 'signed', 'customer-name': 'Ada', filter: 'rating=5', strings: '{"write":"Tell us"}' })) element.setAttribute(name, value)}`, nil)},
	} {
		s.requests("signed")
		browsertest.Visit(t, ctx, s.address+"/shop/?bare", append(steps,
			says(".result", "26 of 130 comments, average 5.0"),
			says(".write .button", "Tell us"),
			click(".write .button"),
			holds(root+".querySelector('.write [name=text]') !== null"),
			holds(root+".querySelector('.write [name=name]') === null"), // the page set it
			chromedp.Evaluate("{"+element+"Object.assign(element, { token: async () => 'told', strings: { ...element.strings }, filter: element.filter, product: element.product })}", nil),
			chromedp.Evaluate("{"+element+"element.strings = { write: 'Say it' }}", nil),
			says(".write h2", "Say it"),
			chromedp.Evaluate("{"+element+"element.token = 'another'; element.filter = 'rating=4'}", nil),
			says(".result", "52 of 130 comments, average 4.0"),
			chromedp.Evaluate("sessionStorage.clear()", nil), // otherwise the form is open the next time
		)...)
		asked := s.requests("signed")
		if len(asked) != 2 || asked[0].authorization != "Bearer told" || asked[1].authorization != "Bearer another" {
			t.Errorf("%s: asked %+v, want one request with each token", name, asked)
		}
	}
	run(t, ctx,
		chromedp.Evaluate(`console.error = (text) => { document.title = text; }; document.querySelector('talkback-comments').strings = { wirte: 'Tell us', write: 5, count: 'x' }`, nil),
		holds("document.title.includes('wirte, write, count')"),
	)
}

// A page moves the element while it waits, and its token never comes. Then the element shows
// another product before a comment is written. A browser fills in several fields at once.
func pagesThatInterfere(t *testing.T, ctx context.Context, s shop) {
	s.forgive("slow")
	browsertest.Visit(t, ctx, s.address+"/shop/slow",
		holds(root+".querySelector('.skeleton') !== null"),
		chromedp.Evaluate(`document.body.append(document.querySelector('talkback-comments'))`, nil),
		says(".result", "130 comments"),
	)
	browsertest.Visit(t, ctx, s.address+"/shop/lamp",
		says(".result", "130 comments"),
		chromedp.Evaluate(`{
			const timeout = AbortSignal.timeout.bind(AbortSignal);
			AbortSignal.timeout = (milliseconds) => timeout(milliseconds / 1000);
			console.warn = () => {};
			const element = document.querySelector('talkback-comments');
			element.token = () => new Promise(() => {});
			void element.refresh();
		}`, nil),
		says(".error", "No answer came in time.Try again in a moment.Try again"),
	)
	browsertest.Visit(t, ctx, s.address+"/shop/signed",
		says(".result", "130 comments"),
		click(".write .button"),
		chromedp.Evaluate(`{
			const { fetch } = window;
			window.fetch = async (address, init) => {
				if (!init.body.includes('mutation')) return fetch(address, init);
				await new Promise((resolve) => { window.written = resolve; });
				const comment = { id: 'c_late', rating: 5, language: 'en', title: 'Late', text: '', author: { customerId: 'me', name: 'I' }, createdAt: '2026-05-24T14:21:49.000Z', updatedAt: null, version: 1 };
				return Response.json({ data: { value: { comment, errors: [] } } });
			};
			addEventListener('talkback-written', ({ detail }) => { document.title = detail.comment.id; });
			for (const name of ['title', 'text']) {
				const field = `+root+`.querySelector('.write [name=' + name + ']');
				field.value = 'My ' + name;
				field.dispatchEvent(new InputEvent('input', { bubbles: true }));
			}
		}`, nil),
		holds("Object.values(sessionStorage).some((kept) => kept.includes('My title') && kept.includes('My text'))"),
		focus(".write .primary"),
		chromedp.KeyEvent(kb.Enter),
		holds("typeof window.written === 'function'"),
		holds("["+root+".querySelector('.write [name=title]'), "+root+".querySelector('.write textarea')].every(({ readOnly }) => readOnly)"),
		holds("[..."+root+".querySelectorAll('.write :is([type=radio], select)')].every((field) => field.matches(':disabled'))"),
		chromedp.Evaluate(`document.querySelector('talkback-comments').setAttribute('product', 'lamp')`, nil),
		holds(root+".querySelector('.write .button') === null && "+idle),
		chromedp.Evaluate("window.written()", nil),
		holds("document.title === 'c_late'"),
		holds(root+".querySelector('[id=c_late]') === null"),
	)
}

// Drafts of another product, and malformed ones, open no form and break none.
func foreignStorage(t *testing.T, ctx context.Context, s shop) {
	const draft = `JSON.stringify({ rating: 1, language: 'en', tag: '', title: 'Mine', text: '', name: '', key: 'k', version: 0 })`
	run(t, ctx, chromedp.Navigate(s.address+"/shop/signed"))
	for _, kept := range []string{
		`sessionStorage.setItem(place + 'deluxe ', ` + draft + `)`, // the product "signed deluxe"
		`sessionStorage.setItem(place, '{"text":5}')`,
		`sessionStorage.setItem(place, '[]')`,
		`sessionStorage.setItem(place, '{')`,
		`localStorage.setItem('talkback guest', '{"id":7}')`,
	} {
		run(t, ctx, chromedp.Evaluate(`sessionStorage.clear(); { const place = 'talkback ' + location.origin + '/graphql signed '; `+kept+`; }`, nil))
		browsertest.Visit(t, ctx, s.address+"/shop/signed",
			says(".write .button", "Write a comment"),
			click(".write .button"),
			holds(root+".querySelector('.write [name=title]').value === ''"),
			chromedp.Evaluate(`sessionStorage.clear(); localStorage.clear();`, nil),
		)
	}
}

// A choice that the service refuses stays, and the reader is told why, and where to go on.
func moreThanIsServed(t *testing.T, ctx context.Context, s shop) {
	const tooMuch = "This is too much to look up. Choose fewer filters or an earlier page."
	run(t, ctx,
		chromedp.Navigate(s.address+"/shop/costly?a-navigate=&language=de"),
		says(".error p", tooMuch),
		holds(root+".querySelectorAll('.error a').length === 1 && location.search === '?a-navigate=&language=de'"),
		click(".error [rel=nofollow]"),
		says(".result", "130 comments"),
		holds("location.search === '?a-navigate='"),
	)
	s.forgive("costly")
	run(t, ctx,
		chromedp.Navigate(s.address+"/shop/costly?a-navigate=&page=3&language=de"),
		says(".error p", tooMuch),
		holds("location.search === '?a-navigate=&page=3&language=de'"),
		click(".error a:not([rel])"),
		holds("location.search === '?a-navigate=&language=de'"),
		holds(idle), // otherwise this request gets the next refusal
	)
	s.forgive("costly")
	run(t, ctx,
		chromedp.Evaluate(`history.pushState(null, '', '?a-navigate=&language=fr'); dispatchEvent(new PopStateEvent('popstate'))`, nil),
		says(".error p", tooMuch),
		holds("location.search === '?a-navigate=&language=fr'"),
	)
}

// A text of more than twelve lines, or of more than four above the list, is folded until its reader
// unfolds it, in any view. Paper shows all of it.
func longTexts(t *testing.T, ctx context.Context, s shop) {
	const (
		above = "[..." + root + ".querySelectorAll('.highlight .comment > .text')]"
		texts = "[..." + root + ".querySelectorAll('.list .comment > .text')]"
		text  = root + ".querySelector('.list .unfold').previousElementSibling"
		whole = text + ".clientHeight >= " + text + ".scrollHeight"
	)
	s.opens(t, ctx, "long",
		holds(texts+".map((text) => text.nextElementSibling.className === 'unfold' ? 1 : 0).join('') === '01010101'.repeat(2) + '0101'"),
		holds(texts+".every((text, i) => i % 2 === 0 || text.clientHeight < text.scrollHeight)"),
		holds(above+".map((text) => text.nextElementSibling.className === 'unfold' && text.clientHeight < text.scrollHeight).join() === 'false,true'"),
		focus(".highlight .unfold summary"),
		chromedp.KeyEvent(kb.Enter),
		holds(above+".every((text) => text.clientHeight >= text.scrollHeight)"),
		focus(".list .unfold summary"),
		chromedp.KeyEvent(kb.Enter),
		holds(whole),
		holds(root+".querySelector('.list .unfold summary').innerText === 'Show less'"),
		refresh,
		holds(whole),
		focused(".list .unfold summary"),
		chromedp.KeyEvent(kb.Enter),
		holds("!("+whole+")"),
		holds(root+".querySelector('.list .unfold summary').innerText === 'Read more'"),
		emulation.SetEmulatedMedia().WithMedia("print"),
		holds(whole+" && "+root+".querySelector('.unfold').offsetHeight === 0"),
		emulation.SetEmulatedMedia().WithMedia(""),
	)
}

// The progress bar moves nothing, itself included: browsers count shifts by a layout property.
func nothingMovesMeanwhile(t *testing.T, ctx context.Context, s shop) {
	const moved = `window.moved = []; new PerformanceObserver((list) => moved.push(...list.getEntries().map(({ value }) => value))).observe({ type: 'layout-shift' })`
	s.forgive("slow")
	run(t, ctx,
		chromedp.Navigate(s.address+"/shop/slow"),
		holds(root+"?.querySelector('.skeleton')"),
		chromedp.Evaluate(moved, nil),
		holds(root+".getAnimations().some((running) => running.animationName === 'talkback-run' && running.currentTime > 1000)"),
		holds("moved.length === 0"),
	)
}

// Each state, on the smallest screen: axe-core finds nothing, and nothing is cut off. That holds at
// half the width too, which a phone has when its user enlarges pages twice.
func forEveryone(t *testing.T, ctx context.Context, s shop) {
	run(t, ctx, chromedp.EmulateViewport(320, 640))
	for _, test := range []struct{ address, ready, state string }{
		{"lamp?a-explain=&a-navigate=&rating=5&page=2", ".list", "a filtered page, with its plan"},
		{"lamp?a-mode=more", "button.more", "a list without pages"},
		{"empty", ".empty", "no comments"},
		{"hostile", ".list", "long words"},
		{"long%20pictures%20votes", ".unfold", "long texts, pictures and buttons to vote"},
		{"refused", ".error", "an error"},
		{"slow", ".skeleton", "waiting"},
	} {
		s.forgive(productOf(t, test.address))
		run(t, ctx,
			chromedp.Navigate(s.address+"/shop/"+test.address),
			holds(fmt.Sprintf("%s?.querySelector(%q)", root, test.ready)),
			chromedp.Evaluate(fmt.Sprintf("%s.querySelectorAll('details').forEach((details) => { details.open = true; })", root), nil))
		for _, width := range []int64{180, 320} {
			var cut []string
			run(t, ctx,
				chromedp.EmulateViewport(width, 640),
				chromedp.Evaluate(fmt.Sprintf(`[...%s.querySelectorAll('.root > *')]
				.filter((part) => part.getBoundingClientRect().right > innerWidth || document.documentElement.scrollWidth > innerWidth)
				.map((part) => part.className)`, root), &cut))
			if len(cut) > 0 {
				t.Errorf("%s: wider than a screen of %d pixels: %q", test.state, width, cut)
			}
		}
		t.Run(test.state, func(t *testing.T) { browsertest.Axe(t, ctx) })
	}
}

// Type of twice the size leaves nothing beyond the element's edges in a narrow window, in languages
// with long words. Nor is anything beyond its panel.
func largeType(t *testing.T, ctx context.Context, s shop) {
	run(t, ctx, page.SetFontSizes(&page.FontSizes{Standard: 32}), chromedp.EmulateViewport(320, 640))
	for _, lang := range []string{"de", "nl", "pl"} {
		var beyond []string
		s.opens(t, ctx, "signed?a-filter=rating%3D5%26from%3D2020-01-01&a-lang="+lang,
			chromedp.Evaluate("document.body.style.whiteSpace = 'nowrap'", nil), // as around a carousel
			click(".write .button"),
			click(".write .primary"),
			holds(root+".querySelector('#new-rating-notes .error') !== null"),
			chromedp.Evaluate(`[...`+root+`.querySelectorAll('.root *')].filter((part) => {
				const [inner, outer] = [part, part.closest('.write, .error, .highlight') ?? part.closest('.root')].map((one) => one.getBoundingClientRect());
				return part.checkVisibility() && !part.closest('.hidden') && (inner.right > outer.right + 1 || inner.left < outer.left - 1 || part.matches('h2, p') && part.scrollWidth > part.clientWidth + 1);
			}).map((part) => part.outerHTML.slice(0, 100))`, &beyond),
			chromedp.Evaluate("sessionStorage.clear()", nil), // otherwise the form is open the next time
		)
		if len(beyond) > 0 {
			t.Errorf("%s: beyond the edges: %q", lang, beyond)
		}
	}
}

// A plain page of another origin, with a strict policy of its own. The browser is not watched, for
// the watch is for one host.
func anotherOrigin(t *testing.T, ctx context.Context, s shop) {
	s.requests("far")
	run(t, ctx,
		chromedp.Navigate(s.elsewhere+"/shop/far"),
		says(".result", "130 comments"),
		holds(root+".adoptedStyleSheets.length === 1"),
	)
	if asked := s.requests("far"); len(asked) != 1 || asked[0].origin != s.elsewhere {
		t.Errorf("asked %+v, want one request from %s", asked, s.elsewhere)
	}
	run(t, ctx,
		chromedp.Evaluate(`{
			addEventListener('talkback-error', ({ detail }) => { document.title = detail.detail; });
			document.querySelector('talkback-comments').setAttribute('endpoint', 'http://127.0.0.1:1/graphql');
		}`, nil),
		says(".error p", "The comments cannot be reached right now."),
		holds("document.title.includes('start it with --cors-origin "+s.elsewhere+"')"),
		chromedp.Evaluate(`document.querySelector('talkback-comments').setAttribute('endpoint', 'http://[shop')`, nil),
		holds("document.title.startsWith('about:invalid#http://[shop cannot be reached')"),
		chromedp.Evaluate(`document.querySelector('talkback-comments').setAttribute('endpoint', '`+s.address+`/graphql')`, nil),
		says(".result", "130 comments"),
	)
	// A path that looks like another host is none.
	run(t, ctx,
		chromedp.Navigate(s.elsewhere+"//127.0.0.1:1/desk"),
		says(".result", "130 comments"),
		click(".bar[href='?rating=4']"),
		holds(root+".querySelector('.clear')?.href === location.href"),
		chromedp.Navigate(s.elsewhere+"//127.0.0.1:1/desk?a-navigate=&rating=4"),
		says(".result", "52 of 130 comments, average 4.0"),
		click(".clear"),
		says(".result", "130 comments"),
		holds("location.href === '"+s.elsewhere+"//127.0.0.1:1/desk?a-navigate='"),
	)
}
