package component

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
)

// Links and forms that a page puts into the slot are the page's own, also those that look like ours.
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
