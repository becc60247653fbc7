package output

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/check"
)

// Where nobody draws, a line every five seconds says how far it is, how fast, and how long it will
// take.
func TestProgressLines(t *testing.T) {
	for _, test := range []struct {
		why  string
		size int64
		want string
	}{
		{"a file", 100_000, "12,000 rows, 2,000 rows/s, 20 %, 24s left\n30,000 rows, 2,500 rows/s, 48 %, 13s left\n"},
		{"a table of which the size was a guess", 25_000, "12,000 rows, 2,000 rows/s, 80 %, 1s left\n30,000 rows, 2,500 rows/s\n"},
		{"a pipe, the end of which nobody knows", -1, "12,000 rows, 2,000 rows/s\n30,000 rows, 2,500 rows/s\n"},
		{"a table whose engine does not count", 0, "12,000 rows, 2,000 rows/s\n30,000 rows, 2,500 rows/s\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := NewProgress(&out, test.size, "rows")
			for _, step := range []struct {
				seconds int
				rows    int
				taken   int64
			}{{1, 2000, 3000}, {6, 12_000, 20_000}, {10, 25_000, 40_000}, {12, 30_000, 48_000}} {
				time.Sleep(time.Until(p.start.Add(time.Duration(step.seconds) * time.Second)))
				p.Show(step.rows, step.taken)
			}
			check.Equal(t, test.want, out.String(), test.why)
			if took := p.End(); took != 12*time.Second {
				t.Errorf("%s took %s, want 12s", test.why, took)
			}
		})
	}
}

// On a terminal one line is drawn over and over, five times a second at most and never wider than
// the terminal, and taken away at the end.
func TestProgressBar(t *testing.T) {
	for _, test := range []struct {
		why     string
		size    int64
		columns int
		want    string
	}{
		{"a file", 100_000, 80, "|0 rows, 0 rows/s|[====                ] 12,000 rows, 2,000 rows/s, 20 %, 24s left|[=========           ] 30,000 rows, 2,500 rows/s, 48 %, 13s left|"},
		{"a narrow terminal", 100_000, 31, "|0 rows, 0 rows/s|12,000 rows, 2,000 rows/s, 20 |30,000 rows, 2,500 rows/s, 48 |"},
		{"a pipe, the end of which nobody knows", -1, 80, "|0 rows, 0 rows/s|12,000 rows, 2,000 rows/s|30,000 rows, 2,500 rows/s|"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := NewProgress(&out, test.size, "rows")
			p.next, p.columns = p.start, func() int { return test.columns }
			for _, step := range []struct {
				at    time.Duration
				rows  int
				taken int64
			}{{0, 0, 0}, {100 * time.Millisecond, 10, 20}, {6 * time.Second, 12_000, 20_000}, {12 * time.Second, 30_000, 48_000}, {12*time.Second + 1, 30_001, 48_001}} {
				time.Sleep(time.Until(p.start.Add(step.at)))
				p.Show(step.rows, step.taken)
			}
			p.End()
			p.Show(40_000, 60_000)
			check.Equal(t, test.want, strings.ReplaceAll(out.String(), eraseLine, "|"), test.why)
		})
	}
}

// One row is called so, and so is a rate of one.
func TestProgressOfOne(t *testing.T) {
	for what, want := range map[string]string{"rows": "1 row, 1 row/s\n", "items checked": "1 item checked, 1 item checked/s\n"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			p := NewProgress(&out, 0, what)
			p.next = p.start
			time.Sleep(time.Second)
			p.Show(1, 0)
			check.Equal(t, want, out.String(), what)
		})
	}
}
