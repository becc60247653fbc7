package endtoend

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/sample"
)

var (
	pictureFile  = flag.String("picture", "", "write the picture of a product page to this file")
	screensInDir = flag.String("screens", "", "write screenshots of every state to this folder, to be looked at")
)

// TestPicture makes the picture of the README, of the whole sample data, if -picture names a file.
func TestPicture(t *testing.T) {
	if *pictureFile == "" {
		t.Skip("make picture runs it")
	}
	browser := browsertest.Open(t)
	s := openSite(t, sample.Comments())
	b := newTab(t, browser)
	b.do(colours("light"), emulation.SetDeviceMetricsOverride(1200, 900, 2, false), emulation.SetScrollbarsHidden(true),
		chromedp.Navigate(s.address+"/products/"+sample.HotProduct))
	b.until(idle)
	b.mouse(".bar[href='?rating=5']")
	b.mouse(".bar[href='?rating=5&rating=4']")
	b.mouse(".chip[href*='language=en']")
	b.mouse(".chip[href*='language=de']")
	b.until(`location.search.endsWith('language=de&language=en') && ` + idle)
	b.mouse(".plan summary")
	b.do(chromedp.Evaluate(`scrollTo(0, 0); `+root+`.activeElement.blur()`, nil),
		chromedp.MouseEvent(input.MouseMoved, 1190, 600)) // over nothing that shows it
	b.screenshot(*pictureFile, false)
	b.quiet()
}

// screens writes screenshots of every state at every width, light and dark. They are looked at, not
// compared.
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
				if name != "home" && name != "explorer" && name != "nowhere" {
					b.until(idle)
				}
				b.screenshot(filepath.Join(*screensInDir, fmt.Sprintf("%s-%d-%s.webp", name, width, scheme)), name != "hostile")
			}
		}
	}
}

// screenshot writes what the tab shows to a file: the window, or the whole page.
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
