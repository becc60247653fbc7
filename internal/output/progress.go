package output

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"
)

// Intervals of updates: redrawn on a terminal, a new line elsewhere.
const (
	drawEvery = 200 * time.Millisecond
	lineEvery = 5 * time.Second
)

// barCells is the width of the bar between its brackets.
const barCells = 20

// eraseLine moves the cursor to the beginning of its line and erases the line.
const eraseLine = "\r\x1b[K"

// Progress shows the progress of work: as a bar on a terminal that is wide enough, elsewhere as a
// line every 5 seconds. It is safe for concurrent use.
type Progress struct {
	out     io.Writer
	columns func() int // of the terminal; nil for another output
	what    string     // the unit of the work, such as "rows"
	start   time.Time

	mu   sync.Mutex
	size int64         // of all the work; 0 or less if unknown
	next time.Time     // when to print or draw next
	took time.Duration // until End; 0 before
}

// NewProgress starts the clock of some work. The size is that of the whole work in any unit, such
// as the bytes of a file, and 0 or less if unknown. what is the unit of completed work, such as
// "rows".
func NewProgress(out io.Writer, size int64, what string) *Progress {
	start := time.Now()
	p := &Progress{out: out, size: size, what: what, start: start, next: start.Add(lineEvery)}
	if Is(out) {
		p.columns, p.next = func() int { return Columns(out) }, start
	}
	return p
}

// Expect sets the size of the whole work, before the first call of Show.
func (p *Progress) Expect(size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size = size
}

// Show reports the number of completed rows or other units, and how much of the size they took. It
// prints only if the last update was long enough ago.
func (p *Progress) Show(done int, taken int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.took > 0 {
		return
	}
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	took := now.Sub(p.start)
	noun, rest, _ := strings.Cut(p.what, "s") // of "items checked", one is an item checked
	line := Count(done, noun+rest, p.what) + ", " + Count(Rate(done, took), noun+rest, p.what) + "/s"
	// If taken exceeds the size, the size was an estimate.
	share, known := float64(taken)/float64(p.size), p.size > 0 && taken > 0 && taken <= p.size
	if known {
		left := time.Duration(float64(took) * (1 - share) / share) // at the same rate
		line += English.Sprintf(", %.0f %%, %s left", 100*share, left.Round(time.Second))
	}
	// Ignore failed writes: they are no reason to stop the work.
	if p.columns == nil {
		p.next = now.Add(lineEvery)
		_, _ = fmt.Fprintln(p.out, line)
		return
	}
	p.next = now.Add(drawEvery)
	most := max(p.columns()-1, 0)
	if known {
		cells := int(barCells * share)
		bar := "[" + strings.Repeat("=", cells) + strings.Repeat(" ", barCells-cells) + "] "
		if len(bar)+len(line) <= most {
			line = bar + line
		}
	}
	_, _ = io.WriteString(p.out, eraseLine+line[:min(len(line), most)])
}

// End erases the bar and returns how long the work took. Later calls of Show print nothing; later
// calls of End return the same time.
func (p *Progress) End() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.took > 0 {
		return p.took
	}
	p.took = max(time.Since(p.start), 1)
	if p.columns != nil {
		_, _ = io.WriteString(p.out, eraseLine)
	}
	return p.took
}

// Rate returns the number of rows or other units per second.
func Rate(rows int, took time.Duration) int {
	return int(math.Round(float64(rows) / max(took.Seconds(), 1e-3)))
}
