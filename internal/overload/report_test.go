package overload

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"slices"
	"strconv"
	"time"

	"github.com/talkback/talkback/internal/plot"
)

// loads are multiples of the capacity.
var loads = []float64{0.5, 1, 1.5, 2, 3}

// variant is a way to bound requests.
type variant struct {
	Name        string
	flags       []string
	environment []string
	spared      bool // whether requests beyond the capacity go to the server that refuses everything
}

// variants are all ways. The last ones admit so many requests that connections and memory run short
// before the limit is reached.
var variants = []variant{
	{Name: "adaptive"},
	{Name: "adaptive, spared the excess", spared: true},
	{Name: "adaptive, 128 MiB", environment: []string{"GOMEMLIMIT=128MiB"}},
	{Name: "fixed at 256", flags: []string{"--min-in-flight=256", "--max-in-flight=256"}},
	{Name: "none", flags: []string{"--min-in-flight=100000", "--max-in-flight=100000"}},
}

// considerate is the number of variants that disturb no other.
const considerate = 3

// figure is the result of one load.
type figure struct {
	Variant string
	Load    float64 // as a multiple of the capacity
	tally
	PeakMB int           // of the server's resident memory until then
	Floor  time.Duration // 99th percentile of the refusals of a server that refuses everything, meanwhile
	Table  time.Duration // 99th percentile of the lateness of the table's answers
	Busy   float64       // processors that the server used, on average
}

// row is the result of requests by a number. For a recovery, that is half the load by the second
// after an overload, with 0 for before. For crowds, it is the number of clients that ask again at
// once.
type row struct {
	Number int
	tally
}

func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
}

// median returns the median of each number over several rounds of the same load. The memory is that
// of the first round, before the server had larger loads.
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
	middle(of, &out, func(f *figure) *time.Duration { return &f.LateMedian })
	middle(of, &out, func(f *figure) *time.Duration { return &f.LateP99 })
	middle(of, &out, func(f *figure) *time.Duration { return &f.Floor })
	middle(of, &out, func(f *figure) *time.Duration { return &f.Table })
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

func lines(figures []figure) []byte {
	rows := [][]string{slices.Concat([]string{"limit", "load"}, tallyHead, []string{"peak_mb", "floor_p99_ms", "table_late_p99_ms", "processors"})}
	for _, f := range figures {
		rows = append(rows, slices.Concat([]string{f.Variant, strconv.FormatFloat(f.Load, 'g', -1, 64)}, f.cells(), []string{strconv.Itoa(f.PeakMB), milliseconds(f.Floor), milliseconds(f.Table), strconv.FormatFloat(f.Busy, 'f', 2, 64)}))
	}
	return table(rows)
}

func tallies(numbers string, rows []row) []byte {
	all := [][]string{slices.Concat([]string{numbers}, tallyHead)}
	for _, r := range rows {
		all = append(all, slices.Concat([]string{strconv.Itoa(r.Number)}, r.cells()))
	}
	return table(all)
}

var tallyHead = []string{"offered_per_s", "good_per_s", "refused_per_s", "failed_per_s", "median_ms", "p99_ms", "refused_median_ms", "refused_p99_ms", "late_median_ms", "late_p99_ms"}

func (t tally) cells() []string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
	return []string{
		number(t.Offered), number(t.Good), number(t.Refused), number(t.Failed),
		milliseconds(t.Median), milliseconds(t.P99), milliseconds(t.RefusedMedian), milliseconds(t.RefusedP99),
		milliseconds(t.LateMedian), milliseconds(t.LateP99),
	}
}

func table(rows [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(rows); err != nil {
		panic(err) // a buffer never fails
	}
	return b.Bytes()
}

// picture draws, by load, the answers in time and the 99th percentiles of answers and refusals.
func picture(figures []figure) []byte {
	panel := func(head string, of func(figure) float64) plot.Panel {
		p := plot.Panel{Head: head, Axis: "load, as a multiple of the capacity"}
		for _, v := range variants {
			var line []float64
			for _, f := range figures {
				if f.Variant == v.Name {
					line = append(line, max(1, of(f))) // a logarithmic scale has no smaller values
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
