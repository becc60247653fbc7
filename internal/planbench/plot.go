package planbench

import (
	"fmt"
	"slices"

	"github.com/talkback/talkback/internal/plot"
)

// labels are the ways in the plot's legend, the dearest first.
var labels = []string{
	FullPages: "a full page of every rating, merged", OneIndex: "one index with a filter", Unknowing: "planned, knowing nothing",
	Planned: "planned", Again: "planned, read before", Foresight: "perfect foresight",
}

// Plot draws averages as SVG: read units per page by the number of ratings for no, one and several
// languages; by the number of the page; and by the number of comments if several were measured.
func Plot(averages []Average) []byte {
	most := 0
	for _, a := range averages {
		most = max(most, a.Comments)
	}
	var panels []plot.Panel
	for _, languages := range []string{noLanguage, oneLanguage, severalLanguages} {
		panels = append(panels, panelOf(averages, languageHeads[languages], "ratings chosen", func(a Average) (int, bool) {
			return a.Ratings, a.Comments == most && a.Languages == languages
		}))
	}
	panels = append(panels, panelOf(averages, "Deep in the list", "page, by cursor", func(a Average) (int, bool) {
		return a.Page, a.Comments == most && a.Page > 0
	}), panelOf(averages, "Ever more comments", "comments on the product", func(a Average) (int, bool) {
		return a.Comments, a.Group == Group{Comments: a.Comments, Languages: anyLanguages}
	}))
	panels = slices.DeleteFunc(panels, func(p plot.Panel) bool { return len(p.Ticks) < 2 })
	return plot.Figure{
		Title:  "What a page of 20 comments costs",
		Note:   fmt.Sprintf("read units per page on a logarithmic scale; a product of %s comments", plot.Grouped(most)),
		Label:  "Read units per page by way of reading",
		Legend: labels,
		Panels: panels,
	}.SVG()
}

var languageHeads = map[string]string{
	noLanguage: "In any language", oneLanguage: "In one language", severalLanguages: "In two or three languages",
}

// panelOf collects those averages that stand somewhere on the x axis.
func panelOf(averages []Average, head, axis string, at func(Average) (x int, within bool)) plot.Panel {
	p := plot.Panel{Head: head, Axis: axis, Lines: make([][]float64, ways)}
	for _, a := range averages {
		x, within := at(a)
		if !within {
			continue
		}
		p.Lines[a.Way] = append(p.Lines[a.Way], a.UnitsPerPage)
		if a.Way == 0 {
			p.Ticks = append(p.Ticks, plot.Grouped(x))
		}
	}
	return p
}
