package plot

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// A figure is well-formed, whatever its texts hold, with a line for each entry of the legend in
// each panel, as long as its values go.
func TestFigure(t *testing.T) {
	drawn := Figure{
		Title: "a < b", Note: "a & b", Label: `"quoted"`, Legend: []string{"one", "<two>"},
		Panels: []Panel{{Head: "head", Axis: "axis", Ticks: []string{"1", "2"}, Lines: [][]float64{{0.25, 4}, {1}}}},
	}.SVG()
	var svg struct {
		Lines []struct {
			Class  string `xml:"class,attr"`
			Points string `xml:"points,attr"`
		} `xml:"polyline"`
	}
	must.Do(t, xml.Unmarshal(drawn, &svg))
	points := map[string]int{}
	for _, line := range svg.Lines {
		points[line.Class] = len(strings.Fields(line.Points))
	}
	if points["line w0"] != 2 || points["line w1"] != 1 {
		t.Errorf("the lines have %v points", points)
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}
