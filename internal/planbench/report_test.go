package planbench

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// tinyAverages returns averages of a product that is small enough for people to check the results.
func tinyAverages(t *testing.T, counts ...int) []Average {
	t.Helper()
	var summary Summary
	for _, count := range counts {
		p := must.Get(NewProduct(Generate(count, 3)))(t)
		rows := must.Get(p.measureAll(t.Context(), p.visits(5), everyWay...))(t)
		summary.Add(Set{1, count}, rows)
	}
	return summary.Averages()
}

func TestWriteCSV(t *testing.T) {
	var got bytes.Buffer
	must.Do(t, WriteCSV(&got, slices.DeleteFunc(tinyAverages(t, 80), func(a Average) bool { // the planner may change the others
		return a.Way != FullPages && a.Way != OneIndex && a.Way != Foresight
	})))
	goldentest.Compare(t, "testdata/tiny.csv", got.Bytes())
}

// The plot has five panels and a line in each for every way. Panels without a
// second point on their x axis are left out.
func TestPlot(t *testing.T) {
	for _, row := range []struct {
		counts []int
		lines  int
	}{{[]int{80, 300}, 5 * len(lines)}, {[]int{300}, 4 * len(lines)}} {
		text := string(Plot(tinyAverages(t, row.counts...)))
		if lines := strings.Count(text, "<polyline "); lines != row.lines {
			t.Errorf("%d lines for %v comments, want %d", lines, row.counts, row.lines)
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("the plot of %v comments has points that are nowhere", row.counts)
		}
	}
}
