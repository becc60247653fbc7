package browsertest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// Click clicks on the element that a selector finds in the document: a CSS selector, or XPath if it
// begins with "//". Otherwise it is like [ClickElement].
func Click(selector string) chromedp.Action {
	if strings.HasPrefix(selector, "//") {
		return ClickElement(fmt.Sprintf("document.evaluate(%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue", selector))
	}
	return ClickElement(fmt.Sprintf("document.querySelector(%q)", selector))
}

// ClickElement presses and releases the button of the mouse on an element, once. It waits until the
// element is there and nothing lies over it. The element is an expression of JavaScript, evaluated
// for each try.
//
// A mouse goes by coordinates, and a page may move its elements after they were read. A click that
// misses does nothing to the page, and is tried again until the context ends.
func ClickElement(element string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		hindrance := "no try ended"
		for hindrance != "" {
			next, err := tryClick(ctx, element)
			if err != nil {
				return fmt.Errorf("clicking %s: %w; the try before: %s", element, err, hindrance)
			}
			hindrance = next
		}
		return nil
	})
}

//go:embed click.js
var aim string

// tryClick returns the reason why the click failed, or "".
func tryClick(ctx context.Context, element string) (hindrance string, err error) {
	var at struct {
		X, Y      float64
		Hindrance string
	}
	err = chromedp.Evaluate(fmt.Sprintf("(%s)(() => %s)", aim, element), &at, awaited).Do(ctx)
	if isLeft(err) {
		return "the page gave way to another one", nil
	}
	if err != nil || at.Hindrance != "" {
		return at.Hindrance, err
	}
	if err := chromedp.MouseClickXY(at.X, at.Y, chromedp.ButtonType(input.Left)).Do(ctx); err != nil {
		return "", err
	}
	// Only a click on the element leads to another page, which has no endOfClick.
	err = chromedp.Evaluate("globalThis.endOfClick?.() ?? ''", &hindrance).Do(ctx)
	if isLeft(err) {
		return "", nil
	}
	return hindrance, err
}

// isLeft reports whether a page could not answer because the browser was leaving it.
func isLeft(err error) bool {
	const serverError = -32000 // of JSON-RPC
	var refused *cdproto.Error
	return errors.As(err, &refused) && refused.Code == serverError
}
