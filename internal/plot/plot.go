// Package plot draws figures of lines as SVG: some small diagrams beside each other, which share
// their y axis and a legend.
package plot

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"
)

// Measures of a figure in pixels.
const (
	figureWidth, figureHeight = 860, 590
	panelWidth, panelHeight   = 216, 176
	marginLeft, marginTop     = 52, 92
	columnStep, rowStep       = 272, 258
	columns                   = 3
)

// mostLines is how many lines of the grid have room for their values.
const mostLines = 10

// style gives every color twice: for a light page and for a dark one. The background is drawn too,
// so that the two agree wherever the picture is shown.
const style = `<style>
.page{fill:#fff}text{fill:#1f2328;font:12px system-ui,-apple-system,"Segoe UI",sans-serif}.title{font-size:15px;font-weight:600}
.head{font-weight:600}.soft{fill:#59636e}.grid{stroke:#d8dee4}.axis{stroke:#8c959f}.line{fill:none;stroke-width:2}
.w0{stroke:#cf222e}.w1{stroke:#bc4c00}.w2{stroke:#8250df}.w3{stroke:#0969da;stroke-width:3}.w4{stroke:#1a7f37}
.w5{stroke:#1f2328;stroke-dasharray:2 4}.w6{stroke:#9a6700;stroke-dasharray:6 3}.w7{stroke:#1b7c83;stroke-dasharray:6 2 1 2}
.dot{stroke-width:1.5;stroke-dasharray:none}.page,.dot{fill:#fff}
@media (prefers-color-scheme:dark){.page,.dot{fill:#0d1117}text{fill:#e6edf3}.soft{fill:#9198a1}.grid{stroke:#2a313c}.axis{stroke:#656c76}
.w0{stroke:#ff7b72}.w1{stroke:#f0883e}.w2{stroke:#bc8cff}.w3{stroke:#58a6ff}.w4{stroke:#3fb950}.w5{stroke:#e6edf3}.w6{stroke:#d29922}.w7{stroke:#39c5cf}}
</style>
`

// Figure is up to eight diagrams.
type Figure struct {
	// Title is above the figure, Note below the title. Label is for those who cannot see it.
	Title, Note, Label string
	// Legend names the lines, up to eight: the fourth is drawn thicker, the sixth dotted, the
	// seventh dashed, the eighth both.
	Legend []string
	// Panels are the diagrams.
	Panels []Panel
}

// Panel is one diagram.
type Panel struct {
	// Head is above the panel, Axis below it.
	Head, Axis string
	// Ticks stand below the x axis, evenly spaced. There are at least two.
	Ticks []string
	// Lines are the values, above 0, of each line of the legend, at the first ticks.
	Lines [][]float64
}

// Grouped writes a number with a comma before every three digits.
func Grouped(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// SVG draws the figure, with a logarithmic y axis.
func (f Figure) SVG() []byte {
	var b bytes.Buffer
	rows := len(f.Panels)/columns + 1 // one place is for the legend
	height := figureHeight - (2-rows)*rowStep
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%d" role="img" aria-label="%s">`+"\n", figureWidth, height, html.EscapeString(f.Label))
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="page" width="%d" height="%d" rx="6"/>`+"\n", figureWidth, height)
	write(&b, "title", "start", 24, 32, f.Title)
	write(&b, "soft", "start", 24, 52, f.Note)
	scale := scaleOf(f.Panels)
	for i, p := range f.Panels {
		p.draw(&b, scale, marginLeft+i%columns*columnStep, marginTop+i/columns*rowStep)
	}
	left, top := marginLeft+len(f.Panels)%columns*columnStep, marginTop+len(f.Panels)/columns*rowStep
	for i, label := range f.Legend {
		y := top + 14 + 27*i
		fmt.Fprintf(&b, `<line class="line w%d" x1="%d" y1="%d" x2="%d" y2="%[3]d"/><circle class="dot w%[1]d" cx="%[5]d" cy="%[3]d" r="3"/>`+"\n",
			i, left-20, y, left+12, left-4)
		write(&b, "", "start", left+22, y+4, label)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// scale is the y axis, which all panels share: powers of two.
type scale struct{ low, high float64 }

func scaleOf(panels []Panel) scale {
	s := scale{low: math.Inf(1), high: math.Inf(-1)}
	for _, p := range panels {
		for _, line := range p.Lines {
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

func (p Panel) draw(b *bytes.Buffer, s scale, left, top int) {
	write(b, "head", "start", left, top-10, p.Head)
	step := math.Ceil((s.high - s.low) / mostLines)
	for power := s.low; power <= s.high; power += step {
		value := math.Exp2(power)
		y := float64(top) + s.y(value)
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1[2]f"/>`+"\n", left, y, left+panelWidth)
		write(b, "soft", "end", left-8, int(y)+4, label(value))
	}
	fmt.Fprintf(b, `<line class="axis" x1="%d" y1="%d" x2="%d" y2="%[2]d"/>`+"\n", left, top+panelHeight, left+panelWidth)
	for i, tick := range p.Ticks {
		write(b, "soft", "middle", int(p.x(i, left)), top+panelHeight+18, tick)
	}
	write(b, "soft", "middle", left+panelWidth/2, top+panelHeight+38, p.Axis)
	for class, line := range p.Lines {
		var points, dots strings.Builder
		for i, value := range line {
			x, y := p.x(i, left), float64(top)+s.y(value)
			fmt.Fprintf(&points, "%.1f,%.1f ", x, y)
			fmt.Fprintf(&dots, `<circle class="dot w%d" cx="%.1f" cy="%.1f" r="3"/>`, class, x, y)
		}
		fmt.Fprintf(b, `<polyline class="line w%d" points="%s"/>%s`+"\n", class, strings.TrimSpace(points.String()), dots.String())
	}
}

// label writes a value of the grid, a small one with two digits.
func label(value float64) string {
	if value < 0.1 {
		return fmt.Sprintf("%.2g", value)
	}
	return fmt.Sprint(value)
}

// x is where the i-th tick stands.
func (p Panel) x(i, left int) float64 {
	const inset = 18
	return float64(left+inset) + float64(i)*float64(panelWidth-2*inset)/float64(len(p.Ticks)-1)
}

// write puts text somewhere, anchored at its start, middle or end.
func write(b *bytes.Buffer, class, anchor string, x, y int, text string) {
	fmt.Fprintf(b, `<text class="%s" text-anchor="%s" x="%d" y="%d">%s</text>`+"\n", class, anchor, x, y, html.EscapeString(text))
}
