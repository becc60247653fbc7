package component

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
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

// A click goes to the element that was under both the press and the release. So an answer that is
// drawn in between must not replace it.
func drawnUnderThePress(t *testing.T, ctx context.Context, s shop) {
	var box dom.Rect
	mouse := func(event input.MouseType) chromedp.Action {
		return chromedp.ActionFunc(func(ctx context.Context) error {
			return chromedp.MouseEvent(event, box.X+box.Width/2, box.Y+box.Height/2, chromedp.ButtonLeft, chromedp.ClickCount(1)).Do(ctx)
		})
	}
	browsertest.Visit(t, ctx, s.address+"/shop/lamp",
		holds(idle),
		chromedp.Evaluate(root+".querySelector(`.bar[href='?rating=5']`).getBoundingClientRect().toJSON()", &box),
		mouse(input.MousePressed),
		chromedp.Evaluate("document.querySelector('talkback-comments').refresh()", nil, awaited),
		mouse(input.MouseReleased),
		says(".result", "26 of 130 comments, average 5.0"),
	)
}

// A double click means what one click means: a vote is not taken back, and a filter stays chosen.
func clickedTwice(t *testing.T, ctx context.Context, s shop) {
	twice := func(selector string) chromedp.Action {
		return chromedp.ActionFunc(func(ctx context.Context) error {
			var box dom.Rect
			find := fmt.Sprintf("{ const found = %s.querySelector(%q); found.scrollIntoView({ block: 'center' }); found.getBoundingClientRect().toJSON() }", root, selector)
			if err := chromedp.Evaluate(find, &box).Do(ctx); err != nil {
				return err
			}
			for count := 1; count <= 2; count++ {
				if err := chromedp.MouseClickXY(box.X+box.Width/2, box.Y+box.Height/2, chromedp.ClickCount(count)).Do(ctx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	vote := func(n int) string { return fmt.Sprintf(".list > :nth-child(%d) .votes button", n) }
	sent := func() (votes []string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		votes, s.votes = s.votes, nil // the votes of each test are its own
		return votes
	}
	sent()
	browsertest.Visit(t, ctx, s.address+"/shop/votes",
		holds(idle),
		twice(vote(1)),
		says(".list > :nth-child(1) .votes [role=status]", "Your vote counts."),
		click(vote(5)),
		says(".list > :nth-child(5) .votes [role=status]", "Your vote counts."),
		holds(fmt.Sprintf("%s.querySelector(%q).ariaPressed === 'true'", root, vote(1))),
	)
	if votes := sent(); len(votes) != 2 {
		t.Errorf("a double click and a click sent the votes %q", votes)
	}
	s.requests("lamp")
	browsertest.Visit(t, ctx, s.address+"/shop/lamp?a-navigate=",
		holds(idle),
		twice(".bar[href$='rating=4']"),
		says(".result", "52 of 130 comments, average 4.0"),
		twice(".languages .chip"),
		says(".result", "26 of 130 comments, average 4.0"),
	)
	if asked := s.requests("lamp"); len(asked) != 3 {
		t.Errorf("two double clicks made %d requests after the first one", len(asked)-1)
	}
}

// A reader at the end of a long list sees that what they pressed there failed. In a low window, such as one whose pages
// are enlarged four times, that would cover what is read.
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
		}
	}
	run(t, ctx,
		chromedp.EmulateViewport(320, 256),
		holds(root+".querySelector('.error').getBoundingClientRect().bottom < 0"),
		chromedp.EmulateViewport(1280, 800),
	)
}
