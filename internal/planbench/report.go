package planbench

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// WriteCSV writes averages as comma-separated values, one line each below a header. It writes any
// for a field that covers all values, and nothing for figures that foresight does not have.
func WriteCSV(w io.Writer, averages []Average) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"comments", "languages", "ratings", "page", "way", "pages", "items_per_shown", "units_per_page",
		"queries_per_page", "one_wave_share", "most_waves", "times_foresight", "products", "weight", "product_comments", "walk"}}
	for _, a := range averages {
		line := []string{strconv.Itoa(a.Comments), a.Languages, numberOrAny(a.Ratings), numberOrAny(a.Page), a.Way.String(), strconv.Itoa(a.Pages)}
		line = append(line, a.figures()...)
		lines = append(lines, append(line, strconv.Itoa(a.Products), string(a.Weight), a.sizeText(), a.Walk.String()))
	}
	return out.WriteAll(lines)
}

// sizeText describes the number of comments of a group's products.
func (g Group) sizeText() string {
	i := slices.Index(sizeClasses, g.Most)
	switch {
	case i < 0:
		return "any"
	case i == 0:
		return fmt.Sprintf("1-%d", g.Most)
	case g.Most == math.MaxInt:
		return fmt.Sprintf("over %d", sizeClasses[i-1])
	}
	return fmt.Sprintf("%d-%d", sizeClasses[i-1]+1, g.Most)
}

// figures returns the averages themselves as text.
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
