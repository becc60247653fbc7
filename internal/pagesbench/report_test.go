package pagesbench

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/plot"
)

// write prints the tables, and writes the files of the report if a name is given.
func write(t *testing.T, rows []row) {
	t.Helper()
	fmt.Println(tables(rows))
	if *out == "" {
		return
	}
	for name, content := range map[string][]byte{".csv": csvOf(t, rows), ".svg": figure(rows)} {
		if err := os.WriteFile(*out+name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func csvOf(t *testing.T, rows []row) []byte {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{{"comments", "store", "operation", "filter", "page", "milliseconds", "calls", "read_units", "bytes"}}
	for _, r := range rows {
		lines = append(lines, []string{
			strconv.Itoa(r.Comments), r.Store, r.Operation, r.Filter, unlessZero("%.0f", float64(r.Page)), unlessZero("%.3f", r.Time),
			unlessZero("%.0f", r.Calls), unlessZero("%.1f", r.Units), unlessZero("%.0f", float64(r.Bytes)),
		})
	}
	if err := w.WriteAll(lines); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unlessZero(format string, value float64) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf(format, value)
}

// countsOf returns the numbers of comments, ascending, and ways the stores and rivals in their order.
func countsOf(rows []row) (counts []int, ways []string) {
	for _, r := range rows {
		if !slices.Contains(counts, r.Comments) {
			counts = append(counts, r.Comments)
		}
		if !slices.Contains(ways, r.Store) {
			ways = append(ways, r.Store)
		}
	}
	slices.Sort(counts)
	return counts, ways
}

// tables writes the figures in Markdown: for each number of comments the jumps, and then the rest.
func tables(rows []row) string {
	var b strings.Builder
	counts, ways := countsOf(rows)
	for _, count := range counts {
		fmt.Fprintf(&b, "A jump, %s comments: milliseconds on pages 1, 10, 1,000 and the last.\n\n", plot.Grouped(count))
		var filters []string
		for _, r := range rows {
			if r.Comments == count && r.Operation == jump && !slices.Contains(filters, r.Filter) {
				filters = append(filters, r.Filter)
			}
		}
		fmt.Fprintf(&b, "| way | %s |\n|---|%s\n", strings.Join(filters, " | "), strings.Repeat("---|", len(filters)))
		for _, way := range ways {
			cells := make([]string, len(filters))
			for i, filter := range filters {
				cells[i] = jumpsOf(rows, count, way, filter)
			}
			if strings.Join(cells, "") != "" {
				fmt.Fprintf(&b, "| %s | %s |\n", way, strings.Join(cells, " | "))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("| way | comments | insert at the head, ms | in the middle, ms | delete in the middle, ms | build, s | MB per million |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, way := range ways {
		for _, count := range counts {
			b.WriteString(restOf(rows, count, way))
		}
	}
	for _, r := range rows {
		if r.Operation == overHTTP {
			fmt.Fprintf(&b, "\n%s comments, %s, page %d, %s: %s ms", plot.Grouped(r.Comments), r.Filter, r.Page, r.Store, brief(r.Time))
		}
	}
	return b.String()
}

// jumpsOf are the figures of the pages of a list: times, or else read units.
func jumpsOf(rows []row, count int, way, filter string) string {
	var cells []string
	for _, r := range rows {
		switch {
		case r.Comments != count || r.Store != way || r.Filter != filter || r.Operation != jump:
		case r.Time == 0:
			cells = append(cells, unlessZero("%.1f units", r.Units))
		default:
			cells = append(cells, brief(r.Time)+unlessZero(" (%.1f units)", r.Units))
		}
	}
	return strings.Join(cells, ", ")
}

// brief writes a figure with two digits.
func brief(value float64) string {
	if value >= 10 {
		return fmt.Sprintf("%.0f", value)
	}
	return strconv.FormatFloat(value, 'g', 2, 64)
}

// restOf is the line of all that is no jump, empty if there is nothing.
func restOf(rows []row, count int, way string) string {
	cells := map[string]string{}
	for _, r := range rows {
		if r.Comments != count || r.Store != way {
			continue
		}
		switch r.Operation {
		case build:
			cells[build] = brief(r.Time / 1000)
		case storage:
			cells[storage] = brief(float64(r.Bytes) / float64(count))
		case head, middle, remove:
			cells[r.Operation] = brief(r.Time)
		}
	}
	if len(cells) == 0 {
		return ""
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |\n", way, plot.Grouped(count), cells[head], cells[middle], cells[remove], cells[build], cells[storage])
}

// figure plots the times of jumps: by page with the most comments, and of the last page by their
// number.
func figure(rows []row) []byte {
	counts, ways := countsOf(rows)
	ways = slices.DeleteFunc(ways, func(way string) bool { // what has no times
		return !slices.ContainsFunc(rows, func(r row) bool { return r.Store == way && r.Operation == jump && r.Time > 0 })
	})
	most := counts[len(counts)-1]
	f := plot.Figure{
		Title:  "What a jump to a page by its number takes",
		Note:   fmt.Sprintf("milliseconds on a logarithmic scale; a product of %s comments", plot.Grouped(most)),
		Label:  "Milliseconds of a jump by store",
		Legend: ways,
	}
	for _, filter := range []string{"none", "4 and 5 stars", "German, 4 and 5 stars, 19 months"} {
		f.Panels = append(f.Panels, panel(rows, ways, heads[filter], "page", func(r row) (string, bool) {
			return plot.Grouped(r.Page), r.Comments == most && r.Filter == filter
		}))
	}
	last := map[[2]string]int{}
	for _, r := range rows {
		key := [2]string{strconv.Itoa(r.Comments), r.Filter}
		last[key] = max(last[key], r.Page)
	}
	for _, filter := range []string{"none", "4 and 5 stars"} {
		f.Panels = append(f.Panels, panel(rows, ways, "Last page: "+heads[filter], "comments on the product", func(r row) (string, bool) {
			return plot.Grouped(r.Comments), r.Filter == filter && r.Page == last[[2]string{strconv.Itoa(r.Comments), filter}]
		}))
	}
	f.Panels = slices.DeleteFunc(f.Panels, func(p plot.Panel) bool { return len(p.Ticks) < 2 })
	return f.SVG()
}

// heads name filters in the plot.
var heads = map[string]string{
	"none": "no filter", "4 and 5 stars": "4 and 5 stars", "German, 4 and 5 stars, 19 months": "German, 4 and 5 stars, 19 months",
}

// panel collects the times of those jumps that have a place on the x axis.
func panel(rows []row, ways []string, head, axis string, tick func(row) (string, bool)) plot.Panel {
	p := plot.Panel{Head: head, Axis: axis, Lines: make([][]float64, len(ways))}
	for _, r := range rows {
		at, within := tick(r)
		way := slices.Index(ways, r.Store)
		if !within || way < 0 || r.Operation != jump {
			continue
		}
		p.Lines[way] = append(p.Lines[way], r.Time)
		if !slices.Contains(p.Ticks, at) {
			p.Ticks = append(p.Ticks, at)
		}
	}
	return p
}

// checkReport fails if figures are missing, or if the files cannot be read.
func checkReport(t *testing.T, rows []row) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(csvOf(t, rows))).ReadAll()
	if err != nil || len(lines) != len(rows)+1 {
		t.Errorf("the table has %d lines (%v), want %d", len(lines), err, len(rows)+1)
	}
	text := tables(rows)
	for _, r := range rows {
		if !strings.Contains(text, r.Store) {
			t.Errorf("the tables lack %s:\n%s", r.Store, text)
		}
	}
	drawn := figure(rows)
	for decoder := xml.NewDecoder(bytes.NewReader(drawn)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if text := string(drawn); !strings.Contains(text, "polyline") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("the plot has no lines, or points that are nowhere:\n%s", text)
	}
}
