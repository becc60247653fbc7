package output

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/check"
)

// step is a call of Show.
type step struct {
	at    time.Duration
	done  int
	taken int64
}

// shown returns the output of some work, with "|" where a line of the terminal is erased, and how
// long it took. Without columns it is no terminal.
func shown(t *testing.T, what string, size int64, columns int, steps ...step) (text string, took time.Duration) {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		p := NewProgress(&out, size, what)
		if columns > 0 {
			p.next, p.columns = p.start, func() int { return columns }
		}
		for _, s := range steps {
			time.Sleep(time.Until(p.start.Add(s.at)))
			p.Show(s.done, s.taken)
		}
		took = p.End()
		time.Sleep(time.Minute)
		p.Show(40_000, 60_000) // shows nothing
	})
	return strings.ReplaceAll(out.String(), eraseLine, "|"), took
}

// A line every five seconds says how far it is, how fast, and how long it will take. On a terminal
// one line is drawn over and over, five times a second at most and never wider than the terminal,
// and taken away at the end.
func TestProgress(t *testing.T) {
	const unknown = "12,000 rows, 2,000 rows/s\n30,000 rows, 2,500 rows/s\n"
	for _, test := range []struct {
		why     string
		size    int64
		columns int
		want    string
	}{
		{"a file", 100_000, 0, "12,000 rows, 2,000 rows/s, 20 %, 24s left\n30,000 rows, 2,500 rows/s, 48 %, 13s left\n"},
		{"a table of which the size was a guess", 25_000, 0, "12,000 rows, 2,000 rows/s, 80 %, 1s left\n30,000 rows, 2,500 rows/s\n"},
		{"a pipe, the end of which nobody knows", -1, 0, unknown},
		{"a table whose engine does not count", 0, 0, unknown},
		{"a file on a terminal", 100_000, 80, "|0 rows, 0 rows/s|[====                ] 12,000 rows, 2,000 rows/s, 20 %, 24s left|" +
			"[========            ] 25,000 rows, 2,500 rows/s, 40 %, 15s left|[=========           ] 30,000 rows, 2,500 rows/s, 48 %, 13s left|"},
		{"a narrow terminal", 100_000, 31, "|0 rows, 0 rows/s|12,000 rows, 2,000 rows/s, 20 |25,000 rows, 2,500 rows/s, 40 |30,000 rows, 2,500 rows/s, 48 |"},
		{"a pipe on a terminal", -1, 80, "|0 rows, 0 rows/s|12,000 rows, 2,000 rows/s|25,000 rows, 2,500 rows/s|30,000 rows, 2,500 rows/s|"},
	} {
		got, took := shown(t, "rows", test.size, test.columns, step{0, 0, 0}, step{100 * time.Millisecond, 10, 20}, step{6 * time.Second, 12_000, 20_000},
			step{10 * time.Second, 25_000, 40_000}, step{12 * time.Second, 30_000, 48_000}, step{12*time.Second + 1, 30_001, 48_001})
		check.Equal(t, test.want, got, test.why)
		if took != 12*time.Second+1 {
			t.Errorf("%s took %s, want 12s", test.why, took)
		}
	}
}

// One row is called so, and so is a rate of one.
func TestProgressOfOne(t *testing.T) {
	for what, want := range map[string]string{"rows": "|1 row, 1 row/s|", "items checked": "|1 item checked, 1 item checked/s|"} {
		got, _ := shown(t, what, 0, 80, step{time.Second, 1, 0})
		check.Equal(t, want, got, what)
	}
}
