package output

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/check"
)

func TestHistogram(t *testing.T) {
	h := Histogram{}
	h.Add("★★★★★", 12_345)
	h.Add("★★★★☆", 6_172)
	h.Add("陶器", 1)
	h.Add("none", 0)
	for columns, want := range map[int]string{
		40: `★★★★★  ████████████████  12,345   66.7 %
★★★★☆  ███████▉           6,172   33.3 %
陶器   ▏                      1    0.0 %
none                          0    0.0 %
`,
		20: `★★★★★  ████  12,345   66.7 %
★★★★☆  █▉     6,172   33.3 %
陶器   ▏          1    0.0 %
none              0    0.0 %
`,
	} {
		check.Equal(t, want, h.On(Screen{Columns: columns}), columns, "columns")
	}
	if got := h.On(Screen{Style: true}); !strings.Contains(got, "\x1b[33m"+strings.Repeat("█", mostBar)+"\x1b[0m  12,345") {
		t.Errorf("%q", got)
	}
}

// A longer bar stands for a larger count, only nothing has no bar, and all lines have one width,
// that of the screen at most.
func TestBarsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		screen := Screen{Columns: rapid.IntRange(32, 120).Draw(t, "columns")}
		h := Histogram{}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			h.Add("★★★★★", rapid.IntRange(0, 1_000_000).Draw(t, "count"))
		}
		lines := strings.Split(strings.TrimSuffix(h.On(screen), "\n"), "\n")
		bars := make([]float64, len(lines))
		for i, line := range lines {
			if Width(line) != Width(lines[0]) || Width(line) > screen.Columns {
				t.Fatalf("on %d columns: %q", screen.Columns, lines)
			}
			for _, r := range line {
				if '█' <= r && r <= '▏' {
					bars[i] += float64('▏'-r+1) / eighths
				}
			}
			if (bars[i] == 0) != (h.counts[i] == 0) {
				t.Errorf("%d is drawn as %q", h.counts[i], line)
			}
		}
		for i := range bars {
			for j := range bars {
				if bars[i] > bars[j] && h.counts[i] <= h.counts[j] {
					t.Errorf("%d has a longer bar than %d: %q", h.counts[i], h.counts[j], lines)
				}
			}
		}
	})
}
