package web

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// tokenForm is a colour of tokens.css: its name, and its value in light and in dark.
var tokenForm = regexp.MustCompile(`--talkback-([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`)

// colours returns the colours of tokens.css by name, light and dark.
func colours(t *testing.T) map[string][2]string {
	t.Helper()
	byName := map[string][2]string{}
	for _, found := range tokenForm.FindAllStringSubmatch(read(t, "look/tokens.css"), -1) {
		byName[found[1]] = [2]string{found[2], found[3]}
	}
	return byName
}

// Each pair of colours that meet has the contrast that WCAG 2.2 requires at level AA. That is 4.5
// for text (1.4.3), and 3 for what must be seen to be used or understood (1.4.11).
func TestContrast(t *testing.T) {
	const text, graphic = 4.5, 3
	palette := colours(t)
	grounds := []string{"ground", "panel", "sunken"}
	for _, row := range []struct {
		colour string
		on     []string
		want   float64
		used   string
	}{
		{"text", append(grounds, "accent-tint", "danger-tint", "mark-tint"), text, "text, and labels of cells"},
		{"quiet", append(grounds, "accent-tint", "mark-tint"), text, "dates, counts, notes"},
		{"accent", append(grounds, "accent-tint"), text, "links, what is chosen"},
		{"accent-strong", append(grounds, "accent-tint"), text, "links under the pointer"},
		{"danger", append(grounds, "danger-tint"), text, "errors"},
		{"mark", append(grounds, "mark-tint"), text, "strings in code, what was read"},
		{"on-accent", []string{"accent", "accent-strong"}, text, "buttons"},
		{"on-danger", []string{"danger"}, text, "the button that deletes"},
		{"star", append(grounds, "star-empty", "accent-tint"), graphic, "stars and bars, filled or not"},
		{"focus", append(grounds, "accent-tint", "danger-tint"), graphic, "the ring around what has the focus"},
		{"edge", grounds, graphic, "the bounds of fields and buttons"},
	} {
		for _, ground := range row.on {
			for mode, name := range []string{"light", "dark"} {
				colour, behind := palette[row.colour][mode], palette[ground][mode]
				if got := contrast(t, colour, behind); got < row.want {
					t.Errorf("%s: %s %s on %s %s has %.2f:1, want %v:1 for %s", name, row.colour, colour, ground, behind, got, row.want, row.used)
				}
			}
		}
	}
}

// The ratio is WCAG's, by its own examples: black on white, and the grey that only just passes.
func TestContrastRatio(t *testing.T) {
	for _, row := range []struct{ one, other, want string }{
		{"#000000", "#ffffff", "21.00"},
		{"#ffffff", "#000000", "21.00"},
		{"#767676", "#ffffff", "4.54"},
		{"#777777", "#ffffff", "4.48"},
	} {
		if got := fmt.Sprintf("%.2f", contrast(t, row.one, row.other)); got != row.want {
			t.Errorf("%s on %s: %s, want %s", row.one, row.other, got, row.want)
		}
	}
}

// contrast is the contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it.
func contrast(t *testing.T, one, other string) float64 {
	a, b := luminance(t, one), luminance(t, other)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

// luminance is the relative luminance of a colour such as "#a8380f", 0 to 1, as WCAG 2.2 defines
// it.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) != len("#rrggbb") {
		t.Fatalf("tokens.css: %q is no colour", colour)
	}
	total := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		value := must.Get(strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8))(t)
		c := float64(value) / 255
		if c <= 0.04045 {
			total += weight * c / 12.92
		} else {
			total += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return total
}

// styled are the style sheets that take their values from tokens.css.
var styled = []string{"component/src/component.css", "look/shell.css", "home/home.css", "desk/desk.css"}

// The component stands on pages without tokens.css, and repeats its values. They are the same.
func TestFallbacksAreTheTokens(t *testing.T) {
	tokens := map[string]string{}
	for _, found := range regexp.MustCompile(`(--talkback-[a-z0-9-]+): ([^;]+);`).FindAllStringSubmatch(read(t, "look/tokens.css"), -1) {
		if _, known := tokens[found[1]]; !known { // the first is the base value; those of media queries follow
			tokens[found[1]] = found[2]
		}
	}
	tokens["--talkback-font"] = "inherit" // a shop's page has its own, and the component inherits it
	component := strings.ReplaceAll(read(t, "component/src/component.css"), "var(--_u)", "var(--talkback-unit)")
	repeated := 0
	for _, found := range regexp.MustCompile(`var\((--talkback-[a-z0-9-]+), (.+)\);`).FindAllStringSubmatch(component, -1) {
		if repeated++; found[2] != tokens[found[1]] {
			t.Errorf("component.css: %s falls back to %s, want %q as in tokens.css", found[1], found[2], tokens[found[1]])
		}
	}
	if repeated == 0 {
		t.Error("component.css: no fallbacks found")
	}
	for _, path := range styled {
		for _, name := range regexp.MustCompile(`--talkback-[a-z0-9-]+\b`).FindAllString(read(t, path), -1) {
			if tokens[name] == "" {
				t.Errorf("%s: tokens.css has no %s", path, name)
			}
		}
	}
}

// The pages fit either direction of writing: no style sheet mentions left or right, and none loads
// anything.
func TestStylesAreLogical(t *testing.T) {
	physical := regexp.MustCompile(`(?m)^\s*(?:(?:margin|padding|min|max)-)?(?:left|right|top|bottom|width|height):|border-(?:left|right|top|bottom)|text-align: (?:left|right)|url\(|@import|#[0-9a-f]{3,6};`)
	for _, path := range styled {
		if found := physical.FindString(read(t, path)); found != "" {
			t.Errorf("%s: %q; want logical properties, nothing loaded, and colours by their names", path, found)
		}
	}
}

// read returns a file of this folder.
func read(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}
