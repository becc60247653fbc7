package output

import "strings"

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
