package endtoend

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/sample"
)

var (
	pictureFolder = flag.String("picture", "", "write the pictures of a product page and its form to this folder")
	screensInDir  = flag.String("screens", "", "write screenshots of every state to this folder, to be looked at")
)

// TestPicture makes the pictures of the README, of the sample data, if -picture names a folder.
func TestPicture(t *testing.T) {
	if *pictureFolder == "" {
		t.Skip("make picture runs it")
	}
	s := &site{address: serve(t, "--endpoint", dynamotest.Dynoxide(t), "--table", dynamotest.TableName(t), "--create-table", "--sample-data")}
	count := 0
	for c := range sample.Comments() {
		if c.ProductID == sample.HotProduct {
			count++
		}
	}
	s.counted(t, sample.HotProduct, count)
	b := newTab(t, browsertest.Open(t))
	b.do(colours("light"), emulation.SetDeviceMetricsOverride(1200, 1200, 2, false), emulation.SetScrollbarsHidden(true),
		chromedp.Navigate(s.address+"/products/"+sample.HotProduct+"?language=en&only=media"))
	b.until(idle)
	b.do(chromedp.MouseEvent(input.MouseMoved, 1190, 600)) // over nothing that reacts
	b.screenshot(filepath.Join(*pictureFolder, "product-page.webp"), false)
	b.do(emulation.SetDeviceMetricsOverride(1200, 800, 1, false), chromedp.Evaluate(`{
		const element = document.querySelector('talkback-comments');
		element.style.cssText = `+strconv.Quote("--talkback-motion: 0s;"+exampleTheme(t))+`;
		document.body.style.background = '#171324';
		element.scrollIntoView();
	}`, nil))
	b.screenshot(filepath.Join(*pictureFolder, "theme.webp"), false)
	b.do(chromedp.Evaluate("document.body.style.background = document.querySelector('talkback-comments').style.cssText = ''", nil))
	b.mouse(".write > .button")
	b.until(root + ".querySelector('.write form') !== null")
	b.mouse(".write .rate label:nth-child(4) input")
	b.press("\tEin guter Kauf\tSchnell heiß und leise. Der Tank ist schnell gefüllt, und die Crema gelingt jedes Mal.")
	b.do(emulation.SetDeviceMetricsOverride(1200, 800, 2, false),
		chromedp.Evaluate(root+".querySelector('.write').scrollIntoView(); "+root+".activeElement.blur()", nil))
	b.screenshot(filepath.Join(*pictureFolder, "form.webp"), false)
	b.quiet()
}

// exampleTheme returns the dark theme of the guide.
func exampleTheme(t *testing.T) string {
	t.Helper()
	guide := must.Get(os.ReadFile("../../docs/guide/component.md"))(t)
	_, theme, _ := strings.Cut(string(guide), "in violet. */\ntalkback-comments {")
	theme, _, found := strings.Cut(theme, "}")
	if !found {
		t.Fatal("the guide has no dark theme")
	}
	return theme
}

// screens writes screenshots of every state at every width, light and dark. People look at them;
// nothing compares them.
func screens(t *testing.T, browser context.Context, s *site) {
	if *screensInDir == "" {
		t.Skip("nobody asked for screenshots")
	}
	b := newTab(t, browser)
	b.do(emulation.SetScrollbarsHidden(true))
	addresses := map[string]string{"elsewhere": s.shop.URL + "/", "error": s.troubled + "/products/" + many}
	for name, path := range states() {
		addresses[name] = s.address + path
	}
	s.meet(answers(500, "oh no"))
	defer s.meet(nil)
	for name, address := range addresses {
		for _, width := range []int64{360, 768, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				b.do(colours(scheme), emulation.SetDeviceMetricsOverride(width, 800, 1, width < 700), chromedp.Navigate(address))
				if !slices.Contains([]string{"home", "explorer", "nowhere", "moderation"}, name) {
					b.until(idle)
				}
				b.screenshot(filepath.Join(*screensInDir, fmt.Sprintf("%s-%d-%s.webp", name, width, scheme)), name != "hostile")
			}
		}
	}
}

// screenshot writes a picture of the tab to a file: of the window, or of the whole page.
func (b *tab) screenshot(file string, whole bool) {
	b.t.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		image, err := page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(85).
			WithCaptureBeyondViewport(whole).WithFromSurface(true).Do(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(file, image, 0o644)
	}))
}
