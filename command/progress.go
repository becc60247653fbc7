package command

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
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

// progress shows how far a file has been worked off: a bar on a terminal, else a line now and then.
type progress struct {
	out   io.Writer
	size  int64 // of the file in bytes, -1 when nobody knows
	bar   *progressbar.ProgressBar
	now   func() time.Time
	start time.Time
	next  time.Time // for the next line
}

func newProgress(out io.Writer, size int64) *progress {
	start := time.Now()
	p := &progress{out: out, size: size, now: time.Now, start: start, next: start.Add(lineEvery)}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(out),
			progressbar.OptionThrottle(drawEvery),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// show says that so many rows are done, for which so many bytes of the file were read.
func (p *progress) show(rows int, taken int64) {
	now := p.now()
	took := now.Sub(p.start)
	if p.bar != nil {
		// What cannot be drawn is no reason to stop.
		p.bar.Describe(english.Sprintf("%d rows, %.0f rows/s", rows, rate(rows, took)))
		_ = p.bar.Set64(taken)
		return
	}
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(lineEvery)
	_, _ = english.Fprintf(p.out, "%d rows, %.0f rows/s%s\n", rows, rate(rows, took), p.left(taken, took))
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

// end takes the bar away and returns how long it all took.
func (p *progress) end() time.Duration {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	return p.now().Sub(p.start)
}

// rate is rows per second.
func rate(rows int, took time.Duration) float64 {
	return float64(rows) / max(took.Seconds(), 1e-3)
}
