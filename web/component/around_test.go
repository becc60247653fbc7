package component

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/talkback/talkback/internal/browsertest"
)

// Links and forms that a page puts into the slot belong to the page, even if they look like ours.
func slots(t *testing.T, ctx context.Context, s shop) {
	var hindered []string
	browsertest.Visit(t, ctx, s.address+"/shop/visitors",
		holds(idle),
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

// The language is the page's, also within a component of the page, and in the form that many shops write.
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

// An element that was outside the page shows the current address when it comes back. One that is moved keeps its large
// picture open.
func putBack(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/lamp?a-navigate=&page=2",
		says(".pages [aria-current]", "2"),
		chromedp.Evaluate(`{
			const element = document.querySelector('talkback-comments');
			element.remove();
			history.pushState(null, '', '?a-navigate=&page=3');
			document.body.append(element);
		}`, nil),
		says(".pages [aria-current]", "3"),
		holds("location.search === '?a-navigate=&page=3'"),
	)
	browsertest.Visit(t, ctx, s.address+"/shop/pictures",
		holds(idle),
		click(".list .media a"),
		says(".lightbox [role=status]", "A kettle 1/3"),
		chromedp.Evaluate("document.body.append(document.querySelector('talkback-comments'))", nil),
		holds(root+".querySelector('.lightbox').matches(':modal')"),
		chromedp.KeyEvent(kb.Escape),
		holds(root+".querySelector('.lightbox') === null"),
	)
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
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: wanted, Value: ""}}),
	)
}

// On paper each comment has its stars and its whole text. Controls are left out, and nothing covers the text.
func onPaper(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/signed?a-explain=",
		holds(idle),
		holds(root+".querySelector('.plan') !== null"),
		emulation.SetEmulatedMedia().WithMedia("print"),
		holds("[..."+root+".querySelectorAll('.stars, .track')].every((drawn) => getComputedStyle(drawn).printColorAdjust === 'exact')"),
		holds("[..."+root+".querySelectorAll('.list .text, .highlight .text')].every((text) => text.offsetHeight > 0 && getComputedStyle(text).webkitLineClamp === 'none')"),
		holds("[..."+root+".querySelectorAll('form, .plan, .pages, .order, .compose, .write, .actions')].every((part) => part.offsetHeight === 0)"),
		emulation.SetEmulatedMedia().WithMedia(""),
		holds(root+".querySelector('.plan').offsetHeight > 0"),
	)
}

// A page that knows a customer but not a name gives an empty one. The form asks for it.
func nameless(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/signed?a-customer-name=%20",
		holds(idle),
		click(".write .button"),
		holds(root+".querySelector('.write [name=name]') !== null"),
		chromedp.Evaluate("sessionStorage.clear()", nil), // otherwise the form is open the next time
	)
}

// A form that opens with its draft does not take the focus, and does not scroll the page.
func draftFromBefore(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/signed",
		holds(idle),
		click(".write .button"),
		focused(".write [type=radio]"),
		chromedp.Evaluate("scrollTo(0, 0)", nil),
		chromedp.Reload(),
		holds(root+"?.querySelector('.write [name=text]')"),
		holds("document.activeElement === document.body && scrollY === 0"),
		chromedp.Evaluate("sessionStorage.clear()", nil), // otherwise the form is open the next time
	)
}

// A reader who turned the page, and types in a field when the answer comes, stays in that field.
func writesToThePage(t *testing.T, ctx context.Context, s shop) {
	browsertest.Visit(t, ctx, s.address+"/shop/lamp",
		holds(idle),
		chromedp.Evaluate("("+held+`)('"page":2')`, nil),
		click(".pages [rel=next]"),
		holds("typeof window.release === 'function'"),
		chromedp.Evaluate("document.querySelector('h1').append(document.createElement('input')); document.querySelector('input').focus()", nil),
		chromedp.KeyEvent("ab"),
		chromedp.Evaluate("window.release()", nil),
		says(".list .title", "Title 20"),
		holds(idle),
		chromedp.KeyEvent("c"),
		holds("document.querySelector('input').value === 'abc' && document.activeElement.matches('input')"),
	)
}
