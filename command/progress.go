package command

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
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

// progress shows how far something has come: a bar on a terminal, else a line now and then. It may be ended while another goroutine still shows.
type progress struct {
	out   io.Writer
	what  string // what is counted, such as "rows"
	now   func() time.Time
	start time.Time

	mu   sync.Mutex
	size int64 // of the whole: bytes of a file, or the things counted; -1 when nobody knows
	bar  *progressbar.ProgressBar
	next time.Time     // for the next line
	took time.Duration // until the end; 0 before
}

func newProgress(out io.Writer, size int64, what string) *progress {
	start := time.Now()
	return &progress{out: out, size: size, what: what, now: time.Now, start: start, next: start.Add(lineEvery)}
}

// draw makes the bar if there is a terminal to draw on.
func (p *progress) draw() {
	if p.bar != nil || !isTerminal(p.out) {
		return
	}
	p.bar = progressbar.NewOptions64(p.size,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionThrottle(drawEvery),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionClearOnFinish(),
	)
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
	p.draw()
	now := p.now()
	took := now.Sub(p.start)
	if p.bar != nil {
		// What cannot be drawn is no reason to stop.
		p.bar.Describe(english.Sprintf("%d %s, %.0f %s/s", done, p.what, rate(done, took), p.what))
		_ = p.bar.Set64(taken)
		return
	}
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(lineEvery)
	_, _ = english.Fprintf(p.out, "%d %s, %.0f %s/s%s\n", done, p.what, rate(done, took), p.what, p.left(taken, took))
}

// left is the share of the file that is done and the time that the rest will take, if its size is known. A size that was
// passed was only a guess.
func (p *progress) left(taken int64, took time.Duration) string {
	if p.size <= 0 || taken <= 0 || taken > p.size {
		return ""
	}
	done := float64(taken) / float64(p.size)
	left := time.Duration(float64(took) * (1 - done) / done)
	return english.Sprintf(", %.0f %%, %s left", 100*done, left.Round(time.Second))
}

// end takes the bar away, so that what comes next has the line for itself, and returns how long it all took. Nothing is shown afterwards.
func (p *progress) end() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.took > 0 {
		return p.took
	}
	p.took = max(p.now().Sub(p.start), 1)
	if p.bar != nil {
		_ = p.bar.Finish()
		_ = p.bar.Clear() // one whose end nobody knows does not finish by itself
	}
	return p.took
}

// rate is how many were done per second.
func rate(rows int, took time.Duration) float64 {
	return float64(rows) / max(took.Seconds(), 1e-3)
}
