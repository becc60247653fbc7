package component

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/talkback/talkback/internal/browsertest"
)

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
