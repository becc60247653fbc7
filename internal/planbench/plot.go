package planbench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talkback/talkback/internal/plot"
)

// lines are the ways in the order of the plot's lines, labels their names in its legend.
var (
	lines  = []Way{FullPages, OneIndex, Narrowest, Planned, Again, Foresight, Cold}
	labels = []string{
		"a full page of every rating, merged", "one index with a filter", "narrowest partitions", "planned",
		"planned, read before", "perfect foresight", "cold: other products known",
	}
)

// Plot draws averages as SVG: read units per page. For the products of a catalogue it draws them by
// the number of ratings and by the number of a product's comments. For one product it draws them by
// the number of ratings, deep in its list, and with more and more comments. Panels without
// measurements are left out.
func Plot(averages []Average) []byte {
	var many, one Set
	for _, a := range averages {
		switch {
		case a.Products > 1:
			many = a.Set
		case a.Comments > one.Comments:
			one = a.Set
		}
	}
	panels := append(catalogueOf(averages, many), productOf(averages, one)...)
	panels = slices.DeleteFunc(panels, func(p plot.Panel) bool { return len(p.Ticks) < 2 })
	var measured []string
	if many.Products > 0 {
		measured = append(measured, fmt.Sprintf("a catalogue of %s products with %s comments",
			plot.Grouped(many.Products), plot.Grouped(many.Comments)))
	}
	if one.Products > 0 {
		measured = append(measured, fmt.Sprintf("a product of %s comments", plot.Grouped(one.Comments)))
	}
	return plot.Figure{
		Title:  "What a page of 20 comments costs",
		Note:   "read units per page on a logarithmic scale; " + strings.Join(measured, ", "),
		Label:  "Read units per page by way of reading",
		Legend: labels,
		Panels: panels,
	}.SVG()
}

// catalogueOf returns the panels of several products.
func catalogueOf(averages []Average, set Set) []plot.Panel {
	ratings := func(head string, weight Weight) plot.Panel {
		return panelOf(averages, head, "ratings chosen", func(a Average) (string, bool) {
			return plot.Grouped(a.Ratings), a.Ratings > 0 && a.Group == Group{Set: set, Weight: weight, Languages: anyLanguages, Ratings: a.Ratings}
		})
	}
	return []plot.Panel{
		ratings("A catalogue, each product once", Equal),
		ratings("The same, by their comments", ByComments),
		panelOf(averages, "The same, by size", "comments on the product", func(a Average) (string, bool) {
			return strings.Replace(a.sizeText(), "over ", ">", 1), a.Most > 0 && a.Group == Group{Set: set, Weight: Equal, Languages: anyLanguages, Most: a.Most}
		}),
	}
}

// productOf returns the panels of one product, and the panel that compares all single products.
func productOf(averages []Average, set Set) []plot.Panel {
	var panels []plot.Panel
	for _, languages := range []string{noLanguage, oneLanguage, severalLanguages} {
		panels = append(panels, panelOf(averages, languageHeads[languages], "ratings chosen", func(a Average) (string, bool) {
			return plot.Grouped(a.Ratings), a.Ratings > 0 && a.Group == Group{Set: set, Weight: Equal, Languages: languages, Ratings: a.Ratings}
		}))
	}
	return append(panels, panelOf(averages, "Deep in the list", "page, by cursor", func(a Average) (string, bool) {
		return plot.Grouped(a.Page), a.Page > 0 && a.Set == set && a.Walk == EachPage
	}), panelOf(averages, "Ever more comments", "comments on the product", func(a Average) (string, bool) {
		return plot.Grouped(a.Comments), a.Group == Group{Set: Set{1, a.Comments}, Weight: Equal, Languages: anyLanguages}
	}))
}

var languageHeads = map[string]string{
	noLanguage: "One product, in any language", oneLanguage: "In one language", severalLanguages: "In two or three languages",
}

// panelOf collects the averages that have a tick on the x axis.
func panelOf(averages []Average, head, axis string, tick func(Average) (text string, within bool)) plot.Panel {
	p := plot.Panel{Head: head, Axis: axis, Lines: make([][]float64, len(lines))}
	for _, a := range averages {
		text, within := tick(a)
		if !within {
			continue
		}
		line := slices.Index(lines, a.Way)
		if line < 0 {
			continue
		}
		p.Lines[line] = append(p.Lines[line], a.UnitsPerPage)
		if a.Way == Foresight {
			p.Ticks = append(p.Ticks, text)
		}
	}
	return p
}
