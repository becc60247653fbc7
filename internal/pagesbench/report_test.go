package pagesbench

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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

// column is a column of the CSV file.
type column struct {
	name   string
	text   func(*row) *string  // for a text, else nil
	number func(*row) *float64 // for a number with three decimal places, else nil
	whole  func(*row) *int64   // for a whole number, else nil
}

// columns are the columns of the CSV file, in order. A zero is written as an empty field.
var columns = []column{
	{name: "comments", whole: func(r *row) *int64 { return &r.Comments }},
	{name: "store", text: func(r *row) *string { return &r.Store }},
	{name: "operation", text: func(r *row) *string { return &r.Operation }},
	{name: "filter", text: func(r *row) *string { return &r.Filter }},
	{name: "page", whole: func(r *row) *int64 { return &r.Page }},
	{name: "milliseconds", number: func(r *row) *float64 { return &r.Time }},
	{name: "calls", whole: func(r *row) *int64 { return &r.Calls }},
	{name: "read_units", number: func(r *row) *float64 { return &r.Units }},
	{name: "write_units", number: func(r *row) *float64 { return &r.Written }},
	{name: "bytes", whole: func(r *row) *int64 { return &r.Bytes }},
}

func (c column) encode(r *row) string {
	switch {
	case c.text != nil:
		return *c.text(r)
	case c.whole != nil && *c.whole(r) != 0:
		return strconv.FormatInt(*c.whole(r), 10)
	case c.number != nil && *c.number(r) != 0:
		return strconv.FormatFloat(*c.number(r), 'f', 3, 64)
	}
	return ""
}

func (c column) decode(text string, r *row) (err error) {
	switch {
	case text == "":
	case c.text != nil:
		*c.text(r) = text
	case c.whole != nil:
		*c.whole(r), err = strconv.ParseInt(text, 10, 64)
	default:
		*c.number(r), err = strconv.ParseFloat(text, 64)
	}
	return err
}

func csvOf(t *testing.T, rows []row) []byte {
	t.Helper()
	var b bytes.Buffer
	lines := make([][]string, len(rows)+1)
	for _, c := range columns {
		lines[0] = append(lines[0], c.name)
		for i := range rows {
			lines[i+1] = append(lines[i+1], c.encode(&rows[i]))
		}
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
		for j, c := range columns {
			must.Do(t, c.decode(line[j], &rows[i]))
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
func titles(filters []string) []string {
	out := slices.Clone(filters)
	for i, filter := range out {
		if filter == "none" {
			out[i] = "no filter"
		}
	}
	return out
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
		f.Panels = append(f.Panels, panel(rows, ways, heads[filter], "page", func(r row) (string, bool) {
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
		f.Panels = append(f.Panels, panel(rows, ways, "Last page: "+heads[filter], "comments on the product", func(r row) (string, bool) {
			return plot.Grouped(int(r.Comments)), r.Filter == filter && r.Page == last[list{r.Comments, filter}]
		}))
	}
	f.Panels = slices.DeleteFunc(f.Panels, func(p plot.Panel) bool { return len(p.Ticks) < 2 })
	return f.SVG()
}

// heads has the names of filters in the plot.
var heads = map[string]string{
	"none": "no filter", "4 and 5 stars": "4 and 5 stars", "German, 4 and 5 stars, 19 months": "German, 4 and 5 stars, 19 months",
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

// checkReport fails if figures are missing, or if the files cannot be read.
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
