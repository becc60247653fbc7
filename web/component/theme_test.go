package component

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

var picturesInDir = flag.String("pictures", "", "write the pictures of the element in a foreign theme to this folder")

// A page that sets every custom property has nothing of our own left: no colour, corner, font or
// gap, in light and in dark. All colours of the theme have no red and some blue, and so does any
// blend of two of them. Any other pixel is a foreign one.
func foreignTheme(t *testing.T, ctx context.Context, s shop) {
	theme := themeOf(t)
	paint := chromedp.Evaluate(fmt.Sprintf(`{
		const page = document.documentElement.style;
		for (const [name, value] of Object.entries(%s)) page.setProperty(name, value);
	}`, theme), nil)
	for _, scheme := range []string{"light", "dark"} {
		for _, state := range []struct {
			name, address string
			actions       chromedp.Tasks
		}{
			{"list", "/shop/signed?a-explain=&a-filter=rating%3D5%26language%3Dde%26from%3D2020-01-01", chromedp.Tasks{
				click(".write > .button"), click(".write form .primary"), says("#new-rating-notes", "Choose 1 to 5 stars."),
				click(".plan summary"), holds(root + ".querySelector('.plan table') !== null"),
			}},
			{"first page", "/shop/signed", chromedp.Tasks{focus(".bar")}},
			{"nothing", "/shop/empty", nil},
		} {
			var picture []byte
			var strange []string
			browsertest.Visit(t, browsertest.NewVisitor(t, ctx), s.address+state.address,
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				paint, holds(idle), state.actions,
				chromedp.FullScreenshot(&picture, 100),
				chromedp.Evaluate(strangeShapes, &strange),
			)
			if len(strange) > 0 {
				t.Errorf("%s, %s: of another font, corner or gap than the theme: %q", state.name, scheme, strange)
			}
			keep(t, state.name+"-"+scheme, picture)
			if foreign := foreignPixels(t, picture); len(foreign) > 0 {
				t.Errorf("%s, %s: colours that are not the theme's, with how often and where: %v", state.name, scheme, foreign)
			}
		}
	}
}

// The guide's examples leave none of our own colours: every pixel has a colour that they set.
func examplesOfThemes(t *testing.T, ctx context.Context, s shop) {
	guide := must.Get(os.ReadFile("../../docs/guide/component.md"))(t)
	tokens := must.Get(os.ReadFile("../look/tokens.css"))(t)
	examples := regexp.MustCompile(`(?s)\{(\n  color-scheme: [^}]*)\}`).FindAllStringSubmatch(string(guide), -1)
	if len(examples) != 2 {
		t.Fatalf("%d examples of themes in the guide, want 2", len(examples))
	}
	for n, example := range examples {
		var picture []byte
		paint := fmt.Sprintf("document.querySelector('talkback-comments').style.cssText = '--talkback-motion: 0s;' + %q; document.documentElement.style.background = '#808080'", example[1])
		browsertest.Visit(t, browsertest.NewVisitor(t, ctx), s.address+"/shop/signed?a-explain=",
			chromedp.Evaluate(paint, nil), holds(idle), click(".bar"), holds(idle), holds(root+".querySelector('.bar[aria-current]') !== null"),
			click(".write > .button"), click(".write form .primary"), says("#new-rating-notes", "Choose 1 to 5 stars."),
			click(".plan summary"), holds(root+".querySelector('.plan table') !== null"),
			chromedp.FullScreenshot(&picture, 100),
		)
		keep(t, fmt.Sprintf("example-%d", n+1), picture)
		seen := coloursOf(t, picture)
		for _, colour := range matches(`(#[0-9a-f]{6})`, string(tokens)) {
			if colour != "#ffffff" && seen[colour].count > 0 {
				t.Errorf("example %d: %d pixels are %s, the first at %v", n+1, seen[colour].count, colour, seen[colour].first)
			}
		}
	}
}

// themeOf returns a value for each custom property of the guide, as JSON.
func themeOf(t *testing.T) []byte {
	t.Helper()
	guide := must.Get(os.ReadFile("../../docs/guide/component.md"))(t)
	sheet := must.Get(os.ReadFile("src/component.css"))(t)
	isColour := map[string]bool{}
	for _, name := range matches(`var\((--talkback-[a-z-]+), (?:light-dark|rgb)`, string(sheet)) {
		isColour[name] = true
	}
	theme := map[string]string{"background": "rgb(0 60 120)", "color": "rgb(0 200 250)", "color-scheme": "light dark"}
	for i, name := range namesIn(string(guide), "custom property") {
		switch {
		case isColour[name]:
			theme[name] = fmt.Sprintf("rgb(0 %d %d)", 20+i*5, 255-i*3)
		case strings.HasPrefix(name, "--talkback-font"):
			theme[name] = "Theme"
		case strings.HasPrefix(name, "--talkback-radius"):
			theme[name] = "0px"
		case strings.HasPrefix(name, "--talkback-space"):
			theme[name] = "7px"
		case name == "--talkback-motion":
			theme[name] = "0s" // so that no picture is of a colour on its way
		case name == "--talkback-shadow":
			theme[name] = "0 2px 9px rgb(0 90 200)"
		}
	}
	return must.Get(json.Marshal(theme))(t)
}

// strangeShapes lists the elements with another font, corner or gap than the theme.
const strangeShapes = `[...new Set([...` + root + `.querySelectorAll(':not(option)')].flatMap((element) => {
	const { fontFamily, borderRadius, columnGap, rowGap } = getComputedStyle(element);
	const themed = { fontFamily: /^Theme$/, borderRadius: /^0px$/, columnGap: /^(normal|0px|3.5px|7px)$/, rowGap: /^(normal|0px|3.5px|7px)$/ };
	return Object.entries({ fontFamily, borderRadius, columnGap, rowGap }).filter(([name, value]) => !themed[name].test(value))
		.map(([name, value]) => element.localName + '.' + (element.getAttribute('class') ?? '') + ' ' + name + ' ' + value);
}))]`

// keep writes a picture to the folder given for inspection.
func keep(t *testing.T, name string, picture []byte) {
	t.Helper()
	if *picturesInDir == "" {
		return
	}
	must.Do(t, os.WriteFile(filepath.Join(*picturesInDir, name+".png"), picture, 0o644))
}

// seen is the number of pixels of a colour, and the first of them.
type seen struct {
	count int
	first image.Point
}

// coloursOf returns the colours of an opaque picture, such as #a8380f.
func coloursOf(t *testing.T, picture []byte) map[string]seen {
	t.Helper()
	decoded := must.Get(png.Decode(bytes.NewReader(picture)))(t)
	drawn := image.NewRGBA(decoded.Bounds())
	draw.Draw(drawn, drawn.Rect, decoded, drawn.Rect.Min, draw.Src)
	found := map[[3]byte]seen{}
	for i := 0; i < len(drawn.Pix); i += 4 {
		colour := [3]byte(drawn.Pix[i:])
		before, known := found[colour]
		if !known {
			before.first = image.Pt(i/4%drawn.Rect.Dx(), i/4/drawn.Rect.Dx())
		}
		found[colour] = seen{before.count + 1, before.first}
	}
	byName := map[string]seen{}
	for colour, pixels := range found {
		byName[fmt.Sprintf("#%x", colour)] = pixels
	}
	return byName
}

// foreignPixels returns the colours that are not the theme's.
func foreignPixels(t *testing.T, picture []byte) map[string]seen {
	t.Helper()
	found := coloursOf(t, picture)
	maps.DeleteFunc(found, func(name string, _ seen) bool {
		var red, green, blue int
		_, err := fmt.Sscanf(name, "#%02x%02x%02x", &red, &green, &blue)
		return err == nil && red <= 2 && blue >= 80
	})
	return found
}

// The style sheets of the element name every colour, corner, font and gap by a custom property.
func TestLooksAreByProperties(t *testing.T) {
	named := regexp.MustCompile(`(?m)^\s*(color|background(?:-color)?|border-color|fill|stroke|accent-color|border-radius|font-family|(?:row-|column-)?gap): (.*);`)
	ours := regexp.MustCompile(`^(?:(?:calc\()*var\(--_[a-z0-9-]+\)(?: - 1px)?[^a-z]*|0 ?|inherit|none|transparent|linear-gradient\(.*|CanvasText|Canvas|Highlight)+$`)
	for path, text := range sources(t) {
		if !strings.HasSuffix(path, ".css") {
			continue
		}
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			if !ours.MatchString(found[2]) && found[2] != "var(--talkback-font, inherit)" {
				t.Errorf("%s: %s: %s; want a custom property", path, found[1], found[2])
			}
		}
	}
}
