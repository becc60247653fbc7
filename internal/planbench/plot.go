package planbench

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Measures of the plot in pixels.
const (
	plotWidth, plotHeight   = 860, 590
	panelWidth, panelHeight = 216, 176
	marginLeft, marginTop   = 52, 92
	columnStep, rowStep     = 272, 258
	columns                 = 3
)

// plotStyle gives every color twice: for a light page and for a dark one. The background is drawn
// too, so that the two agree wherever the picture is shown.
const plotStyle = `<style>
.page{fill:#fff}text{fill:#1f2328;font:12px system-ui,-apple-system,"Segoe UI",sans-serif}.title{font-size:15px;font-weight:600}
.head{font-weight:600}.soft{fill:#59636e}.grid{stroke:#d8dee4}.axis{stroke:#8c959f}.line{fill:none;stroke-width:2}
.w0{stroke:#cf222e}.w1{stroke:#bc4c00}.w2{stroke:#8250df}.w3{stroke:#0969da;stroke-width:3}.w4{stroke:#1a7f37}
.w5{stroke:#1f2328;stroke-dasharray:2 4}
.dot{stroke-width:1.5;stroke-dasharray:none}.page,.dot{fill:#fff}
@media (prefers-color-scheme:dark){.page,.dot{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9198a1}.grid{stroke:#2a313c}.axis{stroke:#656c76}
.w0{stroke:#ff7b72}.w1{stroke:#f0883e}.w2{stroke:#bc8cff}.w3{stroke:#58a6ff}.w4{stroke:#3fb950}.w5{stroke:#e6edf3}}
</style>
`

// labels are the ways in the plot's legend, the dearest first.
var labels = [ways]string{
	FullPages: "a full page of every rating, merged", OneIndex: "one index with a filter", Unknowing: "planned, knowing nothing",
	Planned: "planned", Again: "planned, read before", Foresight: "perfect foresight",
}

// panel is one diagram.
type panel struct {
	head, axis string
	ticks      []string // below the x axis, evenly spaced
	lines      [ways][]float64
}

// Plot draws averages as SVG: read units per page by the number of ratings for no, one and several
// languages; by the number of the page; and by the number of comments if several were measured.
func Plot(averages []Average) []byte {
	most := 0
	for _, a := range averages {
		most = max(most, a.Comments)
	}
	var panels []panel
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
	panels = slices.DeleteFunc(panels, func(p panel) bool { return len(p.ticks) < 2 })
	return drawAll(panels, most)
}

var languageHeads = map[string]string{
	noLanguage: "In any language", oneLanguage: "In one language", severalLanguages: "In two or three languages",
}

// panelOf collects those averages that stand somewhere on the x axis.
func panelOf(averages []Average, head, axis string, at func(Average) (x int, within bool)) panel {
	p := panel{head: head, axis: axis}
	for _, a := range averages {
		x, within := at(a)
		if !within {
			continue
		}
		p.lines[a.Way] = append(p.lines[a.Way], a.UnitsPerPage)
		if a.Way == 0 {
			p.ticks = append(p.ticks, grouped(x))
		}
	}
	return p
}

// grouped writes a number with a comma before every three digits.
func grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func drawAll(panels []panel, comments int) []byte {
	var b bytes.Buffer
	rows := len(panels)/columns + 1 // one place is for the legend
	height := plotHeight - (2-rows)*rowStep
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%d" role="img" aria-label="Read units per page by way of reading">`+"\n", plotWidth, height, height)
	b.WriteString(plotStyle)
	fmt.Fprintf(&b, `<rect class="page" width="%d" height="%d" rx="6"/>`+"\n", plotWidth, height)
	write(&b, "title", "start", 24, 32, "What a page of 20 comments costs")
	write(&b, "soft", "start", 24, 52, fmt.Sprintf("read units per page on a logarithmic scale; a product of %s comments", grouped(comments)))
	scale := scaleOf(panels)
	for i, p := range panels {
		p.draw(&b, scale, marginLeft+i%columns*columnStep, marginTop+i/columns*rowStep)
	}
	drawLegend(&b, marginLeft+len(panels)%columns*columnStep, marginTop+len(panels)/columns*rowStep)
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// scale is the y axis, which all panels share: powers of two.
type scale struct{ low, high float64 }

func scaleOf(panels []panel) scale {
	s := scale{low: math.Inf(1), high: math.Inf(-1)}
	for _, p := range panels {
		for _, line := range p.lines {
			for _, value := range line {
				s.low = min(s.low, math.Floor(math.Log2(value)))
				s.high = max(s.high, math.Ceil(math.Log2(value)))
			}
		}
	}
	return s
}

// y is how far below the top of a panel a value stands.
func (s scale) y(value float64) float64 {
	return panelHeight * (s.high - math.Log2(value)) / max(1, s.high-s.low)
}

func (p panel) draw(b *bytes.Buffer, s scale, left, top int) {
	write(b, "head", "start", left, top-10, p.head)
	for power := s.low; power <= s.high; power++ {
		value := math.Exp2(power)
		y := float64(top) + s.y(value)
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1[2]f"/>`+"\n", left, y, left+panelWidth)
		write(b, "soft", "end", left-8, int(y)+4, fmt.Sprint(value))
	}
	fmt.Fprintf(b, `<line class="axis" x1="%d" y1="%d" x2="%d" y2="%[2]d"/>`+"\n", left, top+panelHeight, left+panelWidth)
	for i, tick := range p.ticks {
		write(b, "soft", "middle", int(p.x(i, left)), top+panelHeight+18, tick)
	}
	write(b, "soft", "middle", left+panelWidth/2, top+panelHeight+38, p.axis)
	for way, line := range p.lines {
		p.drawLine(b, s, way, line, left, top)
	}
}

// x is where the i-th tick stands.
func (p panel) x(i, left int) float64 {
	const inset = 18
	return float64(left+inset) + float64(i)*float64(panelWidth-2*inset)/float64(len(p.ticks)-1)
}

func (p panel) drawLine(b *bytes.Buffer, s scale, way int, line []float64, left, top int) {
	var points, dots strings.Builder
	for i, value := range line {
		x, y := p.x(i, left), float64(top)+s.y(value)
		fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
		fmt.Fprintf(&dots, `<circle class="dot w%d" cx="%.1f" cy="%.1f" r="3"/>`, way, x, y)
	}
	fmt.Fprintf(b, `<polyline class="line w%d" points="%s"/>%s`+"\n", way, strings.TrimSpace(points.String()), dots.String())
}

func drawLegend(b *bytes.Buffer, left, top int) {
	for way, label := range labels {
		y := top + 14 + 27*way
		fmt.Fprintf(b, `<line class="line w%d" x1="%d" y1="%d" x2="%d" y2="%[3]d"/><circle class="dot w%[1]d" cx="%[5]d" cy="%[3]d" r="3"/>`+"\n", way, left-20, y, left+12, left-4)
		write(b, "", "start", left+22, y+4, label)
	}
}

// write puts text somewhere, anchored at its start, middle or end.
func write(b *bytes.Buffer, class, anchor string, x, y int, text string) {
	fmt.Fprintf(b, `<text class="%s" text-anchor="%s" x="%d" y="%d">%s</text>`+"\n", class, anchor, x, y, html.EscapeString(text))
}
