package component

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/talkback/talkback/internal/browsertest"
)

// held makes a page hold back its next request whose body has a text, until the page calls release.
const held = `(text) => {
	const { fetch } = window;
	window.fetch = async (address, init) => {
		if (init?.body?.includes(text)) {
			window.fetch = fetch;
			await new Promise((release) => { window.release = release; });
		}
		return fetch(address, init);
	};
}`

// A vote that is given while more comments load stays when they come. It also stays on a page reloaded within moments,
// though the service still answers without it.
func votesWhileMoreComes(t *testing.T, ctx context.Context, s shop) {
	const first, last = ".list > :first-child .votes :first-child", ".list > :nth-child(21) .votes :first-child"
	pressed := func(selector, want string) chromedp.Action {
		return holds(root + ".querySelector('" + selector + "').ariaPressed === '" + want + "'")
	}
	browsertest.Visit(t, ctx, s.address+"/shop/votes",
		holds(idle),
		chromedp.Evaluate("("+held+`)('"after"')`, nil),
		click("a.more"),
		holds("typeof window.release === 'function'"),
		click(first),
		says(first, "Helpful (13)"),
		says(".list > :first-child .votes [role=status]", "Your vote counts."),
		chromedp.Evaluate("window.release()", nil),
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

// A large picture closes if it disappears from its comment meanwhile. Where texts run from right to left, so do the
// pictures.
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
