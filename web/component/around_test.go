package component

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/talkback/talkback/internal/browsertest"
)

// Links and forms that a page puts into the slot belong to the page, even if they look like ours.
func slots(t *testing.T, ctx context.Context, s shop) {
	var hindered []string
	s.opens(t, ctx, "visitors",
		chromedp.Evaluate(`document.querySelector('talkback-comments').innerHTML = '<div slot="sign-in"><a href="?login=1">In</a>' +
			'<a class="more" href="' + location.pathname + '">Here</a><form method="get"><button class="more">Go</button></form></div>'`, nil),
		chromedp.Evaluate(`{
			window.hindered = [];
			for (const kind of ['click', 'submit']) {
				addEventListener(kind, (event) => {
					if (event.defaultPrevented) hindered.push(kind + ' ' + event.target.outerHTML);
					if (kind === 'submit' || event.target.matches('a')) event.preventDefault(); // the test stays here
				});
			}
			document.querySelectorAll('talkback-comments :is(a, button)').forEach((one) => one.click());
			hindered;
		}`, &hindered),
	)
	if len(hindered) > 0 || len(s.requests("visitors")) != 1 {
		t.Errorf("the element took what is the page's: %q, or asked the service again", hindered)
	}
}

// The language is the page's, also within a component of the page, and in the form that many shops
// write.
func theLanguageAround(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/lamp?a-lang=de_AT",
		says(".result", "130 Kommentare"),
		chromedp.Evaluate(`{
			document.documentElement.lang = 'fr';
			let within = document.querySelector('main');
			for (const name of ['outer', 'inner']) {
				const component = document.createElement('div');
				within.append(component);
				within = component.attachShadow({ mode: 'open' });
			}
			window.within = document.createElement('talkback-comments');
			window.within.product = 'lamp';
			within.append(window.within);
		}`, nil),
		holds("window.within.shadowRoot.querySelector('.result')?.textContent === '130 avis'"),
	)
}

// Where a page fits a part of it to its contents, such as a dialog, the element is as wide as a
// line of text, and no wider than the window. Beside what grows, it takes its share, and below what
// floats it has room again. What the page says of its text or makes of its box takes no room from
// what is in it.
func fitsItsContents(t *testing.T, ctx context.Context, s shop) {
	for _, window := range []struct{ width, least, most int64 }{{1280, 600, 720}, {320, 230, 320}} {
		for _, place := range []string{
			"box('position: absolute', element)",
			"box('float: left', element)",
			"box('display: table', box('display: table-cell', element))",
			"box('display: flex', box('', element))",
			"box('display: flex; flex-direction: column; align-items: center', element)",
			"box('display: flex', element, box('flex: 1'))",
			"box('float: left; white-space: nowrap', element)",
			"box('float: left', Object.assign(element, { style: 'line-height: 24px' }))",
			"box('max-width: 640px', box('float: left; width: 60%; height: 9px'), element)",
			"box('max-width: 640px', Object.assign(element, { style: 'display: flex' }))",
		} {
			var width, above, beyond int64
			run(t, ctx,
				chromedp.EmulateViewport(window.width, 800),
				chromedp.Navigate(s.address+"/shop/lamp"),
				chromedp.Evaluate(`{
					const element = document.querySelector('talkback-comments');
					const box = (style, ...contents) => {
						const made = document.createElement('div');
						made.style = style;
						made.append(...contents);
						return made;
					};
					document.body.replaceChildren(`+place+`);
				}`, nil),
				says(".result", "130 comments"),
				chromedp.Evaluate(root+".querySelector('.root').offsetWidth", &width),
				chromedp.Evaluate(root+".querySelector('.root').offsetTop - document.querySelector('talkback-comments').offsetTop", &above),
				chromedp.Evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth", &beyond),
			)
			if width < window.least || width > window.most || above > 0 || beyond > 0 {
				t.Errorf("%s, %d pixels: the element is %d wide below %d of nothing, and the page goes %d beyond", place, window.width, width, above, beyond)
			}
		}
	}
}

// An element that is outside the page leaves the address alone, whatever it learns there. It shows
// the current address when it comes back, and its links are of that. One that is moved keeps its
// large picture open.
func putBack(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/lamp?a-navigate=&page=2",
		says(".pages [aria-current]", "2"),
		chromedp.Evaluate(`{
			const element = document.querySelector('talkback-comments');
			element.remove();
			history.pushState(null, '', '/cart?page=3');
			window.left = element;
		}`, nil),
		chromedp.Evaluate("left.refresh()", nil, awaited),
		holds("location.pathname + location.search === '/cart?page=3'"),
		chromedp.Evaluate(`{
			history.replaceState(null, '', '/shop/lamp?a-navigate=&page=3');
			document.body.append(left);
		}`, nil),
		says(".pages [aria-current]", "3"),
		holds("location.search === '?a-navigate=&page=3'"),
		holds(idle),
		chromedp.Evaluate("left.remove(); history.replaceState(null, '', '/cart'); left.refresh()", nil, awaited),
		chromedp.Evaluate("history.replaceState(null, '', '/shop/lamp?a-navigate=&page=3'); document.body.append(left)", nil),
		click(".pages ol a"), // whose links were of the other page
		says(".pages [aria-current]", "1"),
		holds("location.pathname + location.search === '/shop/lamp?a-navigate='"),
	)
	// A copy of what the server drew, as frameworks keep it of a page that was left, is of an earlier
	// address.
	browsertest.Visit(t, ctx, s.address+"/products/lamp",
		chromedp.Evaluate(`{
			const drawn = document.querySelector('talkback-comments');
			history.pushState(null, '', '?page=3');
			drawn.replaceWith(drawn.cloneNode(true));
		}`, nil),
		says(".pages [aria-current]", "3"),
		holds("location.search === '?page=3'"),
	)
	s.opens(t, ctx, "pictures",
		click(".list .media a"),
		says(".lightbox [role=status]", "A kettle 1/3"),
		chromedp.Evaluate("document.body.append(document.querySelector('talkback-comments'))", nil),
		holds(root+".querySelector('.lightbox').matches(':modal')"),
		chromedp.KeyEvent(kb.Escape),
		holds(root+".querySelector('.lightbox') === null"),
	)
}

// The address of a page is that of one element. Another one that wants it does without, and says so
// once. It gets the address once the first one is gone.
func twoNavigate(t *testing.T, ctx context.Context, s shop) {
	var said []string
	browsertest.Visit(t, ctx, s.address+"/shop/lamp?a-navigate=&page=2&mine=1",
		says(".pages [aria-current]", "2"),
		chromedp.Evaluate(`{
			window.said = [];
			console.warn = (text) => said.push(text);
			document.body.insertAdjacentHTML('beforeend', '<div id="other"><talkback-comments product="cups" navigate filter="rating=5"></talkback-comments></div>');
		}`, nil),
		holds(other+"?.querySelector('.bar[aria-current]')?.search === '?a-navigate=&mine=1'"),
		holds("location.search === '?a-navigate=&page=2&mine=1'"),
		browsertest.ClickElement(other+".querySelector('.clear')"),
		holds(other+".querySelector('.result').textContent === '130 comments'"),
		click(".pages [rel=next]"),
		says(".pages [aria-current]", "3"),
		holds("location.search === '?a-navigate=&mine=1&page=3'"),
		chromedp.Evaluate("history.back()", nil),
		says(".pages [aria-current]", "2"),
		holds(other+".querySelector('.pages [aria-current]').textContent === '1'"),
		chromedp.Evaluate("document.querySelector('talkback-comments').remove()", nil),
		browsertest.ClickElement(root+".querySelector('.pages [rel=next]')"),
		holds("location.search.endsWith('&mine=1&page=2')"),
		chromedp.Evaluate("said", &said),
	)
	if want := []string{"<talkback-comments navigate>: the first one has the address"}; !slices.Equal(said, want) {
		t.Errorf("the console has %q, want %q", said, want)
	}
}

// Nothing moves endlessly for a reader who prefers reduced motion.
func lessMotion(t *testing.T, ctx context.Context, s shop) {
	s.forgive("slow")
	const wanted = "prefers-reduced-motion"
	run(t, ctx,
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: wanted, Value: "reduce"}}),
		chromedp.Navigate(s.address+"/shop/slow"),
		holds(root+"?.querySelector('.skeleton')"),
		holds(root+".getAnimations().length > 0 && "+root+".getAnimations().every(({ effect }) => effect.getComputedTiming().iterations === 1)"),
	)
}

// On paper each comment has its stars and its whole text. Controls are left out, and nothing covers
// the text.
func onPaper(t *testing.T, ctx context.Context, s shop) {
	controls := "['form', '.plan', '.pages', '.order', '.compose', '.write', '.actions', '.votes'].map((part) => [..." + root + ".querySelectorAll(part)])"
	s.opens(t, ctx, "votes?a-explain=",
		holds(controls+".every((parts) => parts.length > 0)"),
		emulation.SetEmulatedMedia().WithMedia("print"),
		holds("[..."+root+".querySelectorAll('.stars, .track')].every((drawn) => getComputedStyle(drawn).printColorAdjust === 'exact')"),
		holds("[..."+root+".querySelectorAll('.list .text, .highlight .text')].every((text) => text.offsetHeight > 0 && getComputedStyle(text).webkitLineClamp === 'none')"),
		holds(controls+".flat().every((part) => part.offsetHeight === 0)"),
		emulation.SetEmulatedMedia().WithMedia(""),
		holds(root+".querySelector('.plan').offsetHeight > 0"),
	)
}

// Where the system chooses the colours, what is chosen has an outline.
func inColoursOfTheSystem(t *testing.T, ctx context.Context, s shop) {
	outlined := func(selector string) chromedp.Action {
		return holds(fmt.Sprintf("getComputedStyle(%s.querySelector(%q)).outlineStyle === 'solid'", root, selector))
	}
	s.opens(t, ctx, "votes",
		click(".list .votes button"),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}),
		outlined(".list .votes [aria-pressed=true]"),
		outlined(".order [aria-current]"),
	)
	s.voted(t, "0 HELPFUL")
}

// A page that knows a customer but not a name gives an empty one. The form asks for it.
func nameless(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "signed?a-customer-name=%20",
		click(".write .button"),
		holds(root+".querySelector('.write [name=name]') !== null"),
	)
}

// A form that opens with its draft does not take the focus, and does not scroll the page.
func draftFromBefore(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "signed",
		click(".write .button"),
		focused(".write [type=radio]"),
		chromedp.Evaluate("scrollTo(0, 0)", nil),
		chromedp.Reload(),
		holds(root+"?.querySelector('.write [name=text]')"),
		holds("document.activeElement === document.body && scrollY === 0"),
	)
}

// Two elements of one product have one draft: what is typed in one form stands in the other, so
// neither replaces it. While one of them sends it, it cannot be changed in the other, which closes
// with it.
func oneDraft(t *testing.T, ctx context.Context, s shop) {
	stands := func(inside, title, text string) chromedp.Action {
		return holds(fmt.Sprintf("['title', 'text'].map((name) => %s.querySelector(`.write [name=${name}]`)?.value).join() === '%s,%s'", inside, title, text))
	}
	browsertest.Visit(t, ctx, s.address+"/shop/signed?a-customer-name=Ada",
		holds(idle),
		chromedp.Evaluate(`document.body.insertAdjacentHTML('beforeend', '<div id="other"><talkback-comments product="signed"></talkback-comments></div>')`, nil),
		holds(other+"?.querySelector('.write .button')"),
		click(".write .button"),
		enter(".write [name=title]", "Fine"),
		browsertest.ClickElement(other+".querySelector('.write .button')"),
		stands(other, "Fine", ""),
		enterIn(other, ".write [name=text]", "Very"),
		stands(root, "Fine", "Very"),
		enter(".write [name=title]", "Finer"),
		stands(other, "Finer", "Very"),
		click(".write [name=rating][value='4']"),
		holdingBack(`addComment`, click(".write .primary")),
		browsertest.ClickElement(other+".querySelector('.write textarea')"),
		chromedp.KeyEvent("lost"),
		release,
		says(".said", "Thank you. Your comment is shown once the shop has read it."),
		holds(root+".querySelector('.write form') === null && "+other+".querySelector('.write form') === null"),
		holds("sessionStorage.length === 0"),
		browsertest.ClickElement(other+".querySelector('.write .button')"),
		browsertest.ClickElement(other+".querySelector('.write textarea')"),
		chromedp.KeyEvent("a"),
		refresh,
		stands(root, "", "a"), // but the focus is where it was
		chromedp.KeyEvent("b"),
		stands(other, "", "ab"),
	)
	if text := s.added(); text != "Very" {
		t.Errorf("published %q, want the text when it was sent", text)
	}
}

// Who signs out leaves nothing to the next customer in the same tab: no text that is not sent yet,
// nor a comment that waits for the shop, also not behind "Back". The text is there again for its
// writer, and stays in sight when a token expires.
func anotherCustomer(t *testing.T, ctx context.Context, s shop) {
	as := func(token string) chromedp.Action {
		return chromedp.Tasks{
			chromedp.Evaluate(fmt.Sprintf("document.querySelector('talkback-comments').token = %q", token), nil),
			holds(idle),
		}
	}
	const form, waits = root + ".querySelector('.write form')", root + ".querySelector(\"[class~='own.waits']\")"
	text := holds(form + "?.elements.text.value === 'My own'")
	s.opens(t, ctx, "shared?a-navigate=&a-customer-name=Ada",
		as("ada"),
		click(".write .button"),
		enter(".write [name=text]", "My own"),
		as("expired"),
		says(".write slot p", "Sign in again to write or vote."),
		text,
		as(""),
		says(".write slot p", "Sign in to write a comment."),
		holds(form+" === null"),
		chromedp.Evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<input aria-label=Search>'); document.querySelector('[aria-label=Search]').focus()", nil),
		as("ada"),
		text,
		holds("document.activeElement.ariaLabel === 'Search'"), // what comes with its draft takes no focus
		as("eve"),
		holds(form+" === null"),
		as("ada"),
		click(".write [name=rating][value='4']"),
		click(".write .primary"),
		says("[class~='own.waits'] h3", "Your comment waits for the shop."),
		click(".pages [rel=next]"),
		says(".pages [aria-current]", "2"),
		as("eve"),
		holdingBack(`"first"`, chromedp.Evaluate("history.back()", nil)),
		holds(waits+" === null"),
		release,
		says(".pages [aria-current]", "1"),
		holds(idle),
		holds(waits+" === null"),
		click(".write .button"),
		holds(form+"?.elements.text.value === ''"),
		as("ada"),
		holds(waits+" !== null"), // the service may not have it yet
	)
}

// Who sends one text and goes on with another is not interrupted when the first is published, or is
// not: the focus and the list stay. A form that is drawn anew meanwhile is the one that is being
// sent, and a text whose comment is gone stays where it is typed. One that is discarded while it is
// sent does not come back, nor does one whose form is gone by then.
func twoForms(t *testing.T, ctx context.Context, s shop) {
	const edited = ".list textarea"
	send := func(text string) chromedp.Action {
		return chromedp.Tasks{
			enter(".write textarea", text),
			holdingBack(`addComment`, click(".write .primary")),
			focus(edited),
		}
	}
	s.opens(t, ctx, "votes?a-navigate=&a-customer-name=Ada&order=oldest&page=7",
		click(".write .button"),
		click(".write [name=rating][value='4']"),
		click(".list .actions button"),
		focused(".list [name=rating]"),
		send("stripped"),
		chromedp.KeyEvent("a"),
		release,
		says(".write .trouble p", "Your comment could not be published."),
		chromedp.KeyEvent("b"),
		send("Very"),
		chromedp.KeyEvent("c"),
		release,
		says(".said", "Thank you. Your comment is shown once the shop has read it."),
		holds(root+".querySelector('.write form') === null && "+idle+" !== null"),
		chromedp.KeyEvent("d"),
		holds(root+".querySelector('"+edited+"').value.endsWith('abcd')"),
		focused(edited),
		holds("location.search.endsWith('order=oldest&page=7')"),
		holdingBack(`editComment`, click(".list form .primary")),
		click(".pages [rel=prev]"),
		holds(root+".querySelector('"+edited+"') === null"),
		click(".pages [rel=next]"),
		holds(root+".querySelector('"+edited+"')?.readOnly"),
		release,
		says(".list .trouble", "The comment was deleted meanwhile. You can publish your text as a new one."),
		focus(edited),
		refresh,
		chromedp.KeyEvent("e"),
		refresh,
		chromedp.KeyEvent("f"),
		holds(root+".querySelector('"+edited+"').value.endsWith('abcdef') && "+root+".querySelector('.write form') === null"),
		focused(edited),
		click(".list form .quiet"),
		click(".list .actions button"),
		holdingBack(`editComment`, click(".list form .primary")),
		click(".list form .quiet"),
		release,
		refresh,
		refresh,
		holds(root+".querySelector('form[method=post]') === null && sessionStorage.length === 0"),
		click(".list .actions button"),
		click(".list form .primary"),
		says(".list .trouble", "The comment was deleted meanwhile. You can publish your text as a new one."),
		holdingBack(`addComment`, click(".list form .primary")),
		click(".pages [rel=prev]"),
		holds(root+".querySelector('"+edited+"') === null && "+root+".querySelector('.write form') === null"),
		release,
		says(".said", "Thank you. Your comment is shown once the shop has read it."),
		holds(root+".querySelector('form[method=post]') === null && sessionStorage.length === 0"),
	)
}

// A reader who turned the page, and types in a field of the page or of a filter when the answer
// comes, stays in that field, which keeps what is typed.
func writesToThePage(t *testing.T, ctx context.Context, s shop) {
	s.opens(t, ctx, "lamp",
		holdingBack(`"page":2`, click(".pages [rel=next]")),
		chromedp.Evaluate("document.querySelector('h1').append(document.createElement('input')); document.querySelector('input').focus()", nil),
		chromedp.KeyEvent("ab"),
		release,
		says(".list .title", "Title 20"),
		holds(idle),
		chromedp.KeyEvent("c"),
		holds("document.querySelector('input').value === 'abc' && document.activeElement.matches('input')"),
		click(".dates summary"),
		holdingBack(`"page":3`, click(".pages [rel=next]")),
		enter("[name=from]", "2026-05-20"),
		focus("[name=from]"),
		release,
		says(".list .title", "Title 40"),
		holds(idle),
		holds(root+".querySelector('[name=from]').value === '2026-05-20'"),
		focused("[name=from]"),
		click(".bar"),
		holds(root+".querySelector('.bar[aria-current]') !== null"),
		holds(root+".querySelector('[name=from]').value === ''"), // it was not chosen
	)
}

// holdingBack takes an action on a page that holds back the next request whose body has a text,
// until release.
func holdingBack(text string, action chromedp.Action) chromedp.Action {
	return chromedp.Tasks{
		chromedp.Evaluate(fmt.Sprintf(`{
			const { fetch } = window;
			window.fetch = async (address, init) => {
				if (init?.body?.includes(%q)) {
					window.fetch = fetch;
					await new Promise((release) => { window.release = release; });
				}
				return fetch(address, init);
			};
		}`, text), nil),
		action,
		holds("typeof window.release === 'function'"),
	}
}

var release = chromedp.Evaluate("window.release = window.release()", nil)

// A vote that is given while more comments load stays when they come. It also stays on a page
// reloaded within moments, though the service still answers without it.
func votesWhileMoreComes(t *testing.T, ctx context.Context, s shop) {
	const first, last = ".list > :first-child .votes :first-child", ".list > :nth-child(21) .votes :first-child"
	pressed := func(selector, want string) chromedp.Action {
		return holds(root + ".querySelector('" + selector + "').ariaPressed === '" + want + "'")
	}
	s.opens(t, ctx, "votes",
		holdingBack(`"after"`, click("a.more")),
		click(first),
		says(first, "Helpful (13)"),
		says(".list > :first-child .votes [role=status]", "Your vote counts."),
		release,
		holds(root+".querySelectorAll('.list > li').length === 40 && "+idle),
		says(first, "Helpful (13)"),
		pressed(first, "true"),
		click(last),
		says(".list > :nth-child(21) .votes [role=status]", "Your vote counts."),
		click(".pages ol a"),
		holds(root+".querySelectorAll('.list > li').length === 20 && "+idle),
		click("a.more"),
		holds(root+".querySelectorAll('.list > li').length === 40 && "+idle),
		pressed(last, "true"),
	)
	s.voted(t, "0 HELPFUL", "0 HELPFUL")
}

// A large picture closes if it disappears from its comment meanwhile. Where texts run from right to
// left, so do the pictures.
func picturesThatChange(t *testing.T, ctx context.Context, s shop) {
	const shown = root + ".querySelector('.lightbox[open]')"
	run(t, ctx, // unwatched: the page allows no videos
		chromedp.Navigate(s.address+"/shop/pictures?a-lang=ar"),
		holds(idle),
		click(".list .media li:nth-child(3) a"),
		holds(shown+"?.querySelector('video') !== null"),
		focused(".lightbox"),
		chromedp.KeyEvent(kb.ArrowRight),
		says(".lightbox [role=status]", "2/3"),
		chromedp.KeyEvent(kb.ArrowLeft),
		says(".lightbox [role=status]", "3/3"),
		chromedp.Evaluate(`{
			const { fetch } = window;
			window.fetch = async (address, init) => {
				const answer = await (await fetch(address, init)).json();
				for (const comment of answer.data.product.list.nodes) comment.media.pop();
				return Response.json(answer);
			};
			void document.querySelector('talkback-comments').refresh();
		}`, nil),
		holds(shown+" === null"),
		holds(root+".querySelectorAll('.list > :first-child .media li').length === 2 && "+idle),
		click(".list .media a"),
		says(".lightbox [role=status]", "A kettle 1/2"),
	)
}

// A click goes to the element that was under both the press and the release. So an answer that is
// drawn in between must not replace it.
func drawnUnderThePress(t *testing.T, ctx context.Context, s shop) {
	var box dom.Rect
	mouse := func(event input.MouseType) chromedp.Action {
		return chromedp.ActionFunc(func(ctx context.Context) error {
			return chromedp.MouseEvent(event, box.X+box.Width/2, box.Y+box.Height/2, chromedp.ButtonLeft, chromedp.ClickCount(1)).Do(ctx)
		})
	}
	s.opens(t, ctx, "lamp",
		chromedp.Evaluate(root+".querySelector(`.bar[href='?rating=5']`).getBoundingClientRect().toJSON()", &box),
		mouse(input.MousePressed),
		refresh,
		mouse(input.MouseReleased),
		says(".result", "26 of 130 comments, average 5.0"),
	)
}

// at takes an action at the centre of the part that a selector finds.
func at(selector string, action func(x, y float64) chromedp.Action) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var box dom.Rect
		find := fmt.Sprintf("{ const found = %s.querySelector(%q); found.scrollIntoView({ block: 'center' }); found.getBoundingClientRect().toJSON() }", root, selector)
		if err := chromedp.Evaluate(find, &box).Do(ctx); err != nil {
			return err
		}
		return action(box.X+box.Width/2, box.Y+box.Height/2).Do(ctx)
	})
}

// The stars of the form are filled as far as the pointer is, else as far as was chosen: also while
// the pointer is beside them, and while they cannot be changed.
func starsUnderThePointer(t *testing.T, ctx context.Context, s shop) {
	star := func(n int) string { return fmt.Sprintf(".write [name=rating][value='%d']", n) }
	moveTo := func(selector string) chromedp.Action {
		return at(selector, func(x, y float64) chromedp.Action { return chromedp.MouseEvent(input.MouseMoved, x, y) })
	}
	filled := func(n int) chromedp.Action {
		return holds(fmt.Sprintf("[...%s.querySelectorAll('.rate label')].filter((label) => getComputedStyle(label, '::before').content.includes('★')).length === %d", root, n))
	}
	s.opens(t, ctx, "signed",
		click(".compose button"),
		filled(0),
		click(star(4)),
		moveTo(".rate .hint"),
		filled(4),
		moveTo(star(2)),
		filled(2),
		chromedp.Evaluate(root+".querySelector('.write fieldset').disabled = true", nil),
		filled(4),
		moveTo(star(5)),
		filled(4),
		chromedp.Evaluate(root+".querySelector('.write fieldset').disabled = false", nil),
		filled(5),
		click(".write form .quiet"), // a draft would be found by later pages
		holds("sessionStorage.length === 0"),
	)
}

// A double click means what one click means: a vote is not taken back, and a filter stays chosen.
func clickedTwice(t *testing.T, ctx context.Context, s shop) {
	twice := func(selector string) chromedp.Action {
		return at(selector, func(x, y float64) chromedp.Action {
			return chromedp.Tasks{chromedp.MouseClickXY(x, y, chromedp.ClickCount(1)), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2))}
		})
	}
	vote := func(n int) string { return fmt.Sprintf(".list > :nth-child(%d) .votes button", n) }
	s.opens(t, ctx, "votes",
		twice(vote(1)),
		says(".list > :nth-child(1) .votes [role=status]", "Your vote counts."),
		click(vote(5)),
		says(".list > :nth-child(5) .votes [role=status]", "Your vote counts."),
		holds(fmt.Sprintf("%s.querySelector(%q).ariaPressed === 'true'", root, vote(1))),
	)
	s.voted(t, "0 HELPFUL", "4 HELPFUL") // one for the double click
	s.requests("lamp")
	s.opens(t, ctx, "lamp?a-navigate=",
		twice(".bar[href$='rating=4']"),
		says(".result", "52 of 130 comments, average 4.0"),
		twice(".languages .chip"),
		says(".result", "26 of 130 comments, average 4.0"),
	)
	if asked := s.requests("lamp"); len(asked) != 3 {
		t.Errorf("two double clicks made %d requests after the first one", len(asked)-1)
	}
}

// A reader at the end of a long list sees that what they pressed there failed. In a low window,
// such as one whose pages are enlarged four times, that would cover what is read.
func failsInSight(t *testing.T, ctx context.Context, s shop) {
	defer s.forgive("broken") // for the tests after this one
	for _, width := range []int64{1280, 320} {
		for _, pressed := range []string{"a.more", ".pages [rel=next]"} {
			s.forgive("broken")
			run(t, ctx,
				chromedp.EmulateViewport(width, 640),
				chromedp.Navigate(s.address+"/shop/broken"),
				says(".error .button", "Try again"),
				click(".error .button"),
				holds(root+".querySelector('.list > li') !== null && "+idle),
				chromedp.ActionFunc(func(context.Context) error { s.forgive("broken"); return nil }),
				click(pressed),
				holds("(({ top, bottom }) => top >= 0 && bottom <= innerHeight)("+root+".querySelector('.error').getBoundingClientRect())"),
				holds("scrollY > innerHeight"),
			)
			if pressed == "a.more" { // another attempt is for the same
				run(t, ctx, click(".error .button"), holds(root+".querySelectorAll('.list > li').length === 40 && "+idle))
			}
		}
	}
	run(t, ctx,
		chromedp.EmulateViewport(320, 256),
		holds(root+".querySelector('.error').getBoundingClientRect().bottom < 0"),
	)
}
