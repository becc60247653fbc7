package planbench

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// WriteCSV writes averages as comma-separated values, one line each below a header. What is any is
// written so, and what foresight does not tell is empty.
func WriteCSV(w io.Writer, averages []Average) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"comments", "languages", "ratings", "page", "way", "pages", "items_per_shown", "units_per_page",
		"queries_per_page", "one_wave_share", "most_waves", "times_foresight"}}
	for _, a := range averages {
		lines = append(lines, append([]string{
			strconv.Itoa(a.Comments), a.Languages, numberOrAny(a.Ratings), numberOrAny(a.Page), a.Way.String(), strconv.Itoa(a.Pages),
		}, a.figures()...))
	}
	return out.WriteAll(lines)
}

// figures are the averages themselves as text.
func (a Average) figures() []string {
	known := func(text string) string {
		if a.Way == Foresight {
			return ""
		}
		return text
	}
	return []string{
		known(fmt.Sprintf("%.2f", a.ItemsPerShown)), fmt.Sprintf("%.2f", a.UnitsPerPage), known(fmt.Sprintf("%.2f", a.QueriesPerPage)),
		known(fmt.Sprintf("%.4f", a.OneWave)), known(strconv.Itoa(a.MostWaves)), fmt.Sprintf("%.3f", a.OverForesight),
	}
}

func numberOrAny(n int) string {
	if n == 0 {
		return "any"
	}
	return strconv.Itoa(n)
}

// WriteTable writes averages for people.
func WriteTable(w io.Writer, averages []Average) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	var last Group
	for _, a := range averages {
		if a.Comments != last.Comments || a.Languages != last.Languages || (a.Page == 0) != (last.Page == 0) {
			fmt.Fprintf(out, "\n%d comments, languages: %s\t\t\t\t\t\t\t\t\t\n", a.Comments, a.Languages)
			fmt.Fprintf(out, "ratings\tpage\tway\tpages\titems/shown\tunits/page\tqueries/page\tone wave\tmost waves\tx foresight\t\n")
		}
		last = a.Group
		fmt.Fprintf(out, "%s\t%s\t%v\t%d\t", numberOrAny(a.Ratings), numberOrAny(a.Page), a.Way, a.Pages)
		for _, figure := range a.figures() {
			fmt.Fprintf(out, "%s\t", figure)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}
