package command

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// english writes numbers as 12,345.
var english = message.NewPrinter(language.English)

// Progress is shown this often: drawn anew on a terminal, as a further line elsewhere.
const (
	drawEvery = 200 * time.Millisecond
	lineEvery = 5 * time.Second
)

// barCells is how wide the bar is, between its brackets.
const barCells = 20

// eraseLine takes the cursor to the beginning of its line, and away what stands there.
const eraseLine = "\r\x1b[K"

// progress shows how far something has come: a bar on a terminal, else a line now and then. It may be ended while another goroutine still shows.
type progress struct {
	out     io.Writer
	columns func() int // of the terminal; nil where there is none
	what    string     // what is counted, such as "rows"
	now     func() time.Time
	start   time.Time

	mu   sync.Mutex
	size int64         // of the whole: bytes of a file, or the things counted; -1 when nobody knows
	next time.Time     // for the next line or drawing
	took time.Duration // until the end; 0 before
}

func newProgress(out io.Writer, size int64, what string) *progress {
	start := time.Now()
	p := &progress{out: out, size: size, what: what, now: time.Now, start: start, next: start.Add(lineEvery)}
	if isTerminal(out) {
		p.columns, p.next = func() int { return columnsOf(out) }, start
	}
	return p
}

// expect says how large the whole is, before anything is shown.
func (p *progress) expect(size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size = size
}

// show says that so many are done, and how much of the whole that is.
func (p *progress) show(done int, taken int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.took > 0 {
		return
	}
	now := p.now()
	if now.Before(p.next) {
		return
	}
	took := now.Sub(p.start)
	line := english.Sprintf("%d %s, %.0f %s/s%s", done, p.what, rate(done, took), p.what, p.left(taken, took))
	// What cannot be shown is no reason to stop.
	if p.columns == nil {
		p.next = now.Add(lineEvery)
		_, _ = fmt.Fprintln(p.out, line)
		return
	}
	p.next = now.Add(drawEvery)
	line = p.bar(taken) + line
	_, _ = io.WriteString(p.out, eraseLine+line[:min(len(line), max(p.columns()-1, 0))])
}

// share is how much of the whole is done, from 0 to 1, if its size is known. A size that was passed was only a guess.
func (p *progress) share(taken int64) (share float64, known bool) {
	if p.size <= 0 || taken <= 0 || taken > p.size {
		return 0, false
	}
	return float64(taken) / float64(p.size), true
}

// left is the share that is done and the time that the rest will take, if that is known.
func (p *progress) left(taken int64, took time.Duration) string {
	done, known := p.share(taken)
	if !known {
		return ""
	}
	left := time.Duration(float64(took) * (1 - done) / done)
	return english.Sprintf(", %.0f %%, %s left", 100*done, left.Round(time.Second))
}

// bar is the share that is done as a picture, if that is known.
func (p *progress) bar(taken int64) string {
	done, known := p.share(taken)
	if !known {
		return ""
	}
	cells := int(barCells * done)
	return "[" + strings.Repeat("=", cells) + strings.Repeat(" ", barCells-cells) + "] "
}

// end takes the bar away, so that what comes next has the line for itself, and returns how long it all took. Nothing is shown afterwards.
func (p *progress) end() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.took > 0 {
		return p.took
	}
	p.took = max(p.now().Sub(p.start), 1)
	if p.columns != nil {
		_, _ = io.WriteString(p.out, eraseLine)
	}
	return p.took
}

// rate is how many were done per second.
func rate(rows int, took time.Duration) float64 {
	return float64(rows) / max(took.Seconds(), 1e-3)
}
