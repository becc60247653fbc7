package output

import (
	"fmt"
	"strings"
)

// gap is between the columns of a table.
const gap = "  "

// Table is rows of printable cells, styled or not, under heads.
type Table struct {
	heads []string
	rows  [][]string
}

// NewTable returns a table without rows. A column may have an empty head.
func NewTable(heads ...string) *Table { return &Table{heads: heads} }

// Row adds a row. The last cell of a row that has fewer cells than there are heads may be wider
// than its column.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// On lays the table out on a screen: in columns or, where these do not fit, each row as its first
// cell and, below it, the others with their heads. So nothing is cut off. In a file, as from package
// text/tabwriter, cells end where their columns do, even those before an empty last one.
func (t *Table) On(s Screen) string {
	heads := make([]string, len(t.heads))
	for i, head := range t.heads {
		heads[i] = s.Head(head)
	}
	var out strings.Builder
	widths := t.widths()
	for _, row := range append([][]string{heads}, t.rows...) {
		line := aligned(row, widths)
		if s.Columns > 0 {
			line = strings.TrimRight(line, " ")
			if Width(line) > s.Columns {
				return t.stacked(s)
			}
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// widths returns the width of each column.
func (t *Table) widths() []int {
	widths := make([]int, len(t.heads))
	for i, head := range t.heads {
		widths[i] = Width(head)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			if spans := i == len(row)-1 && len(row) < len(t.heads); !spans {
				widths[i] = max(widths[i], Width(cell))
			}
		}
	}
	return widths
}

func aligned(row []string, widths []int) string {
	var line strings.Builder
	for i, cell := range row {
		line.WriteString(cell)
		if i < len(row)-1 {
			line.WriteString(strings.Repeat(" ", max(0, widths[i]-Width(cell))) + gap)
		}
	}
	return line.String()
}

func (t *Table) stacked(s Screen) string {
	out := s.Head(t.heads[0]) + "\n"
	for _, row := range t.rows {
		out += row[0] + "\n" + s.Fold(gap+s.fill(t.named(row), ", ", gap, len(gap))) + "\n" // words where a cell does not fit
	}
	return out
}

// named returns the cells of a row, except the first and empty ones, with their heads.
func (t *Table) named(row []string) []string {
	var named []string
	for i, cell := range row[1:] {
		head := strings.ToLower(t.heads[i+1])
		spans := i+2 == len(row) && len(row) < len(t.heads)
		switch {
		case cell == "":
		case head == "" || spans:
			named = append(named, cell)
		default:
			named = append(named, head+": "+cell)
		}
	}
	return named
}

const (
	// mostBar and leastBar bound the length of the longest bar of a histogram, in columns.
	mostBar, leastBar = 40, 4
	// eighths is how many lengths a bar has within a column.
	eighths = 8
)

// Histogram is counts with a bar for each.
type Histogram struct {
	names  []string
	counts []int
}

// Add adds a count. The name is printable.
func (h *Histogram) Add(name string, count int) {
	h.names, h.counts = append(h.names, name), append(h.counts, count)
}

// On lays the histogram out on a screen: a line for each count with its name, its bar, itself and
// its share of the sum.
func (h *Histogram) On(s Screen) string {
	sum, most, name, number := 0, 0, 0, 0
	for i, count := range h.counts {
		sum, most = sum+count, max(most, count)
		name, number = max(name, Width(h.names[i])), max(number, len(English.Sprint(count)))
	}
	const share = len("100.0 %")
	room := mostBar
	if s.Columns > 0 {
		room = max(leastBar, min(room, s.Columns-name-number-share-3*len(gap)))
	}
	var out strings.Builder
	for i, count := range h.counts {
		bar := bar(count, most, room)
		fmt.Fprintf(&out, "%s%s%s%s%s%*s%s%*s\n",
			h.names[i], strings.Repeat(" ", name-Width(h.names[i])), gap, s.Stars(bar), strings.Repeat(" ", room-Width(bar))+gap,
			number, English.Sprint(count), gap, share, Share(count, sum))
	}
	return out.String()
}

// bar draws a count beside the largest one, which takes all of the room. A count above 0 is never
// drawn as nothing.
func bar(count, most, room int) string {
	if count == 0 {
		return ""
	}
	length := max(1, count*room*eighths/most)
	out := strings.Repeat("█", length/eighths)
	if rest := length % eighths; rest > 0 {
		out += string('█' + rune(eighths-rest)) // U+2588 is full, U+258F an eighth
	}
	return out
}

// Share returns a part of a whole in percent, such as "12.5 %"; of nothing, it is "0.0 %".
func Share(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(whole, 1)))
}
