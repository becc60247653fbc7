package overload

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/plot"
)

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
}

// median has the median of each number of several rounds of the same load.
func median(of []figure) figure {
	out := of[0]
	middle(of, &out, func(f *figure) *float64 { return &f.Offered })
	middle(of, &out, func(f *figure) *float64 { return &f.Good })
	middle(of, &out, func(f *figure) *float64 { return &f.Refused })
	middle(of, &out, func(f *figure) *float64 { return &f.Failed })
	middle(of, &out, func(f *figure) *float64 { return &f.Busy })
	middle(of, &out, func(f *figure) *time.Duration { return &f.Median })
	middle(of, &out, func(f *figure) *time.Duration { return &f.P99 })
	middle(of, &out, func(f *figure) *time.Duration { return &f.RefusedMedian })
	middle(of, &out, func(f *figure) *time.Duration { return &f.RefusedP99 })
	middle(of, &out, func(f *figure) *time.Duration { return &f.Floor })
	out.PeakMB = of[len(of)-1].PeakMB // until then
	return out
}

func middle[T cmp.Ordered](of []figure, out *figure, get func(*figure) *T) {
	var all []T
	for i := range of {
		all = append(all, *get(&of[i]))
	}
	slices.Sort(all)
	*get(out) = all[len(all)/2]
}

// lines has a line for each figure.
func lines(figures []figure) []byte {
	rows := [][]string{slices.Concat([]string{"limit", "load"}, tallyHead, []string{"peak_mb", "floor_p99_ms", "processors"})}
	for _, f := range figures {
		rows = append(rows, slices.Concat([]string{f.Variant, strconv.FormatFloat(f.Load, 'g', -1, 64)}, f.cells(), []string{strconv.Itoa(f.PeakMB), milliseconds(f.Floor), strconv.FormatFloat(f.Busy, 'f', 2, 64)}))
	}
	return table(rows)
}

// recoveryLines has a line for each second.
func recoveryLines(seconds []second) []byte {
	rows := [][]string{slices.Concat([]string{"second"}, tallyHead)}
	for _, s := range seconds {
		rows = append(rows, slices.Concat([]string{strconv.Itoa(s.Number)}, s.cells()))
	}
	return table(rows)
}

var tallyHead = []string{"offered_per_s", "good_per_s", "refused_per_s", "failed_per_s", "median_ms", "p99_ms", "refused_median_ms", "refused_p99_ms"}

func (t tally) cells() []string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
	return []string{
		number(t.Offered), number(t.Good), number(t.Refused), number(t.Failed),
		milliseconds(t.Median), milliseconds(t.P99), milliseconds(t.RefusedMedian), milliseconds(t.RefusedP99),
	}
}

func table(rows [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(rows); err != nil {
		panic(err) // a buffer takes all
	}
	return b.Bytes()
}

// markdown is the table of docs/measurements.md.
func markdown(capacity float64, figures []figure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The capacity is %.0f a second.\n\n| load | limit | good a second | 99 %% within | refused a second | half of them within | 99 %% within | by a server that refuses all | processors used | good for each | memory |\n|---|---|---|---|---|---|---|---|---|---|---|\n", capacity)
	for _, f := range figures {
		fmt.Fprintf(&b, "| %g | %s | %.0f | %s ms | %.0f | %s ms | %s ms | %s ms | %.2f | %.0f | %d MB |\n",
			f.Load, f.Variant, f.Good, milliseconds(f.P99), f.Refused, milliseconds(f.RefusedMedian), milliseconds(f.RefusedP99), milliseconds(f.Floor), f.Busy, f.Good/max(f.Busy, 0.01), f.PeakMB)
	}
	return b.String()
}

// recoveryMarkdown is the second table there.
func recoveryMarkdown(seconds []second) string {
	var b strings.Builder
	b.WriteString("| half the load | good a second | refused a second | median | 99 % within |\n|---|---|---|---|---|\n")
	for _, s := range seconds {
		when := fmt.Sprintf("second %d after the overload", s.Number)
		if s.Number == 0 {
			when = "before"
		}
		fmt.Fprintf(&b, "| %s | %.0f | %.0f | %s ms | %s ms |\n", when, s.Good, s.Refused, milliseconds(s.Median), milliseconds(s.P99))
	}
	return b.String()
}

// picture draws answers in time, and how long 99 in 100 of them and of the refusals take, by load.
func picture(figures []figure) []byte {
	panel := func(head string, of func(figure) float64) plot.Panel {
		p := plot.Panel{Head: head, Axis: "load, as a multiple of the capacity"}
		for _, v := range variants {
			var line []float64
			for _, f := range figures {
				if f.Variant == v.Name {
					line = append(line, max(1, of(f))) // a logarithm has no place for less
				}
			}
			p.Lines = append(p.Lines, line)
		}
		for _, load := range loads {
			p.Ticks = append(p.Ticks, strconv.FormatFloat(load, 'g', -1, 64))
		}
		return p
	}
	inMilliseconds := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	legend := make([]string, len(variants))
	for i, v := range variants {
		legend[i] = v.Name
	}
	return plot.Figure{
		Title: "What becomes of requests under overload",
		Note:  "answers a second, and milliseconds, on a logarithmic scale", Label: "Answers and their durations by load and limit",
		Legend: legend,
		Panels: []plot.Panel{
			panel("answers within a second, per second", func(f figure) float64 { return f.Good }),
			panel("99 % of answers, ms", func(f figure) float64 { return inMilliseconds(f.P99) }),
			panel("99 % of refusals, ms", func(f figure) float64 { return inMilliseconds(f.RefusedP99) }),
		},
	}.SVG()
}

// The report has what was measured.
func TestReport(t *testing.T) {
	var figures []figure
	for _, v := range variants {
		for i, load := range loads {
			figures = append(figures, figure{v.Name, load, tally{Good: float64(100 + i), P99: time.Duration(i) * time.Millisecond}, 50, time.Millisecond, 0.5})
		}
	}
	if got := strings.Count(string(lines(figures)), "\n"); got != 1+len(figures) {
		t.Errorf("%d lines", got)
	}
	if text := markdown(600, figures); !strings.Contains(text, "| 0.5 | adaptive | 100 | 0.0 ms | 0 | 0.0 ms | 0.0 ms | 1.0 ms | 0.50 | 200 | 50 MB |") {
		t.Error(text)
	}
	rounds := []figure{{"", 1, tally{Good: 3, P99: 9}, 40, 0, 1}, {"", 1, tally{Good: 1, P99: 8}, 41, 0, 2}, {"", 1, tally{Good: 2, P99: 7}, 42, 0, 3}}
	if got, want := median(rounds), (figure{"", 1, tally{Good: 2, P99: 8}, 42, 0, 2}); got != want {
		t.Errorf("medians are %+v, want %+v", got, want)
	}
	seconds := []second{{0, tally{Good: 50}}, {1, tally{Good: 40, Refused: 10}}}
	if got := strings.Count(string(recoveryLines(seconds)), "\n"); got != 1+len(seconds) {
		t.Errorf("%d lines of seconds", got)
	}
	if text := recoveryMarkdown(seconds); !strings.Contains(text, "| second 1 after the overload | 40 | 10 | 0.0 ms | 0.0 ms |") {
		t.Error(text)
	}
	if drawn := string(picture(figures)); strings.Count(drawn, "<polyline") != 3*len(variants) {
		t.Error(drawn)
	}
}
