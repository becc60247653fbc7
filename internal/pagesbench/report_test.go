package pagesbench

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/plot"
)

// write prints the tables. If a name is given, it also writes the files of the report.
func write(t *testing.T, rows []row) {
	t.Helper()
	rows = rowsOf(t, csvOf(t, rows)) // with as many digits as TestDocumentedFigures has
	fmt.Println(tables(rows))
	if *out == "" {
		return
	}
	document := must.Get(os.ReadFile(*out + ".md"))(t)
	for name, content := range map[string][]byte{".csv": csvOf(t, rows), ".svg": figure(rows), ".md": withTables(t, document, rows)} {
		must.Do(t, os.WriteFile(*out+name, content, 0o644))
	}
}

// A measurement writes the part of a document between these lines.
const tablesBegin, tablesEnd = "<!-- written by make bench-pages -->\n", "<!-- end of what make bench-pages writes -->\n"

// withTables replaces the tables in a document.
func withTables(t *testing.T, document []byte, rows []row) []byte {
	t.Helper()
	before, rest, begins := strings.Cut(string(document), tablesBegin)
	_, after, ends := strings.Cut(rest, tablesEnd)
	if !begins || !ends {
		t.Fatalf("the document has no lines %q and %q", tablesBegin, tablesEnd)
	}
	return []byte(before + tablesBegin + "\n" + tables(rows) + "\n" + tablesEnd + after)
}

// columns are the names of the fields of a row in the CSV file, in order.
var columns = []string{"comments", "store", "operation", "filter", "page", "milliseconds", "calls", "read_units", "write_units", "bytes"}

// encode returns a field as text: a number with three decimal places, and a zero as nothing.
func encode(field reflect.Value) string {
	switch {
	case field.IsZero():
		return ""
	case field.CanFloat():
		return strconv.FormatFloat(field.Float(), 'f', 3, 64)
	}
	return fmt.Sprint(field)
}

// decode sets a field to the result of encode.
func decode(text string, field reflect.Value) (err error) {
	if field.Kind() == reflect.String {
		field.SetString(text)
	} else if text != "" {
		_, err = fmt.Sscan(text, field.Addr().Interface())
	}
	return err
}

func csvOf(t *testing.T, rows []row) []byte {
	t.Helper()
	var b bytes.Buffer
	lines := [][]string{columns}
	for _, r := range rows {
		line := make([]string, len(columns))
		for i := range line {
			line[i] = encode(reflect.ValueOf(r).Field(i))
		}
		lines = append(lines, line)
	}
	must.Do(t, csv.NewWriter(&b).WriteAll(lines))
	return b.Bytes()
}

// rowsOf parses the result of csvOf.
func rowsOf(t *testing.T, content []byte) []row {
	t.Helper()
	lines := must.Get(csv.NewReader(bytes.NewReader(content)).ReadAll())(t)
	rows := make([]row, len(lines)-1)
	for i, line := range lines[1:] {
		for j, text := range line {
			must.Do(t, decode(text, reflect.ValueOf(&rows[i]).Elem().Field(j)))
		}
	}
	return rows
}

// countsOf returns the numbers of comments, ascending, and the stores and rivals in their order.
func countsOf(rows []row) (counts []int64, ways []string) {
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

// tables writes the figures in Markdown.
func tables(rows []row) string {
	var b strings.Builder
	counts, ways := countsOf(rows)
	for _, count := range counts {
		filters := filtersOf(rows, func(r row) bool { return r.Comments == count && r.Time > 0 })
		fmt.Fprintf(&b, "**%s comments.** Milliseconds of a jump to pages 1, 10, 1,000 and the last:\n\n", plot.Grouped(int(count)))
		head(&b, append([]string{"way"}, titles(filters)...))
		for _, way := range ways {
			line(&b, way, filters, func(filter string) string { return jumpsOf(rows, count, way, filter) })
		}
		b.WriteString("\n")
	}
	b.WriteString("**What such a jump reads**, to page 1,000, or to the last one where there are fewer:\n\n")
	filters := filtersOf(rows, func(r row) bool { return r.Time > 0 })
	reads := func(filters []string) {
		head(&b, append([]string{"way", "comments"}, titles(filters)...))
		for _, way := range ways {
			for _, count := range counts {
				line(&b, way+" | "+plot.Grouped(int(count)), filters, func(filter string) string { return readsOf(rows, count, way, filter) })
			}
		}
	}
	reads(filters)
	if traits := filtersOf(rows, func(r row) bool { return !slices.Contains(filters, r.Filter) }); len(traits) > 0 {
		b.WriteString("\n**The same in lists of comments with a trait:**\n\n")
		reads(traits)
	}
	b.WriteString("\n**What changes, a build and storage take:**\n\n")
	head(&b, []string{"way", "comments", "insert at the head", "in the middle", "delete in the middle", "build, s", "bytes a comment"})
	for _, way := range ways {
		for _, count := range counts {
			line(&b, way+" | "+plot.Grouped(int(count)), []string{insertHead, insertMiddle, remove, build, storage}, func(operation string) string {
				return restOf(rows, count, way, operation)
			})
		}
	}
	b.WriteString("\n**A page with its comments and `totalCount`:**\n\n")
	head(&b, []string{"way", "comments", "filter", "page", "ms"})
	for _, r := range rows {
		if r.Operation == overHTTP {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", r.Store, plot.Grouped(int(r.Comments)), r.Filter, r.Page, brief(r.Time))
		}
	}
	return b.String()
}

// head writes the first two lines of a table.
func head(b *strings.Builder, cells []string) {
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(cells, " | "), strings.Repeat("---|", len(cells)))
}

// line writes a line of a table, unless all its cells are empty.
func line(b *strings.Builder, first string, of []string, cell func(string) string) {
	cells := make([]string, len(of))
	for i, what := range of {
		cells[i] = cell(what)
	}
	if strings.Join(cells, "") != "" {
		fmt.Fprintf(b, "| %s | %s |\n", first, strings.Join(cells, " | "))
	}
}

// titles name filters above columns.
func titles(filters []string) (out []string) {
	for _, filter := range filters {
		out = append(out, titleOf(filter))
	}
	return out
}

func titleOf(filter string) string {
	if filter == "none" {
		return "no filter"
	}
	return filter
}

// filtersOf returns the filters of some jumps, in their order.
func filtersOf(rows []row, of func(row) bool) (filters []string) {
	for _, r := range rows {
		if r.Operation == jump && of(r) && !slices.Contains(filters, r.Filter) {
			filters = append(filters, r.Filter)
		}
	}
	return filters
}

// jumpsOf returns a cell with the times of jumps to the pages of a list.
func jumpsOf(rows []row, count int64, way, filter string) string {
	var cells []string
	for _, r := range rows {
		if r.Comments == count && r.Store == way && r.Filter == filter && r.Operation == jump && r.Time > 0 {
			cells = append(cells, brief(r.Time))
		}
	}
	return strings.Join(cells, ", ")
}

// readsOf returns a cell with the reads of a jump to the page that is closest to 1,000: calls, and
// read units or bytes.
func readsOf(rows []row, count int64, way, filter string) string {
	var found row
	for _, r := range rows {
		if r.Comments == count && r.Store == way && r.Filter == filter && r.Operation == jump && r.Page > found.Page && r.Page <= farthest {
			found = r
		}
	}
	var parts []string
	if found.Calls > 0 {
		parts = append(parts, quantity(plot.Grouped(int(found.Calls)), "call"))
	}
	switch {
	case found.Units > 0:
		parts = append(parts, quantity(brief(found.Units), "unit"))
	case found.Bytes >= 100: // fewer are those of bytesRead itself
		parts = append(parts, brief(float64(found.Bytes)/1000)+" KB")
	}
	return strings.Join(parts, ", ")
}

// quantity returns a number with the name of its unit.
func quantity(number, thing string) string {
	if number != "1" {
		thing += "s"
	}
	return number + " " + thing
}

// brief returns a figure with two digits.
func brief(value float64) string {
	if value >= 10 {
		return plot.Grouped(int(math.Round(value)))
	}
	return strconv.FormatFloat(value, 'g', 2, 64)
}

// restOf returns a cell for anything but jumps: milliseconds, seconds of a build, or bytes of
// storage for each comment.
func restOf(rows []row, count int64, way, operation string) string {
	for _, r := range rows {
		if r.Comments != count || r.Store != way || r.Operation != operation {
			continue
		}
		switch {
		case operation == build:
			return brief(r.Time / 1000)
		case operation == storage:
			return brief(float64(r.Bytes) / float64(count))
		case r.Written > 0:
			return brief(r.Time) + " ms, " + quantity(brief(r.Written), "unit")
		}
		return brief(r.Time) + " ms"
	}
	return ""
}

// figure plots the times of jumps: by page for the most comments, and of the last page by the
// number of comments.
func figure(rows []row) []byte {
	counts, ways := countsOf(rows)
	ways = slices.DeleteFunc(ways, func(way string) bool { // ways without times
		return !slices.ContainsFunc(rows, func(r row) bool { return r.Store == way && r.Operation == jump && r.Time > 0 })
	})
	most := counts[len(counts)-1]
	f := plot.Figure{
		Title:  "What a jump to a page by its number takes",
		Note:   fmt.Sprintf("milliseconds on a logarithmic scale; a product of %s comments", plot.Grouped(int(most))),
		Label:  "Milliseconds of a jump by store",
		Legend: ways,
	}
	for _, filter := range []string{"none", "4 and 5 stars", "German, 4 and 5 stars, 19 months"} {
		f.Panels = append(f.Panels, panel(rows, ways, titleOf(filter), "page", func(r row) (string, bool) {
			return plot.Grouped(int(r.Page)), r.Comments == most && r.Filter == filter
		}))
	}
	type list struct {
		comments int64
		filter   string
	}
	last := map[list]int64{}
	for _, r := range rows {
		key := list{r.Comments, r.Filter}
		last[key] = max(last[key], r.Page)
	}
	for _, filter := range []string{"none", "4 and 5 stars"} {
		f.Panels = append(f.Panels, panel(rows, ways, "Last page: "+titleOf(filter), "comments on the product", func(r row) (string, bool) {
			return plot.Grouped(int(r.Comments)), r.Filter == filter && r.Page == last[list{r.Comments, filter}]
		}))
	}
	f.Panels = slices.DeleteFunc(f.Panels, func(p plot.Panel) bool { return len(p.Ticks) < 2 })
	return f.SVG()
}

// panel collects the times of the jumps that have a place on the x axis.
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

// checkReport fails if figures are missing, or if the table cannot be read.
func checkReport(t *testing.T, rows []row) {
	t.Helper()
	content := csvOf(t, rows)
	if read := rowsOf(t, content); len(read) != len(rows) || !bytes.Equal(csvOf(t, read), content) {
		t.Errorf("%d rows become %d when they are written and read:\n%s", len(rows), len(read), content)
	}
	text := tables(rows)
	for _, r := range rows {
		if !strings.Contains(text, r.Store) {
			t.Errorf("the tables lack %s:\n%s", r.Store, text)
		}
	}
	if text := string(figure(rows)); !strings.Contains(text, "polyline") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("the plot has no lines, or points that are nowhere:\n%s", text)
	}
}

// The tables in the documents match the figures beside them, and so does the plot: all are from one
// run.
func TestDocumentedFigures(t *testing.T) {
	documented := func(extension string) []byte {
		return must.Get(os.ReadFile("../../docs/page-stores" + extension))(t)
	}
	rows := rowsOf(t, documented(".csv"))
	if document := documented(".md"); !bytes.Equal(withTables(t, document, rows), document) {
		t.Errorf("docs/page-stores.md has other tables than those of docs/page-stores.csv:\n%s", tables(rows))
	}
	if !bytes.Equal(figure(rows), documented(".svg")) {
		t.Error("docs/page-stores.svg is not the plot of docs/page-stores.csv")
	}
}
