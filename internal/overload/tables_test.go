package overload

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// markdown is the tables of docs/measurements.md.
func markdown(capacity float64, figures []figure, seconds []row) string {
	return fmt.Sprintf("The capacity is %.0f a second.\n\n", capacity) +
		strings.Join([]string{aims(figures), answers(figures), refusals(figures), costs(figures), recovery(seconds)}, "\n")
}

// of returns the figures of a variant, by load.
func of(figures []figure, variant string) (all []figure) {
	for _, f := range figures {
		if f.Variant == variant {
			all = append(all, f)
		}
	}
	return all
}

// aims compares the aims for the first variant at the highest load with the results.
func aims(figures []figure) string {
	all := of(figures, variants[0].Name)
	alone, most := all[0], all[len(all)-1]
	peak := slices.MaxFunc(all, func(a, b figure) int { return int(a.Good - b.Good) })
	return fmt.Sprintf("| %s, at %g times the capacity | wanted | measured |\n|---|---|---|\n", most.Variant, most.Load) +
		fmt.Sprintf("| good a second, beside the peak of all loads | 85 %% or more | %.0f %%: %.0f of %.0f, at %g times |\n", 100*most.Good/max(peak.Good, 1), most.Good, peak.Good, peak.Load) +
		fmt.Sprintf("| 99 %% of refusals within | 25 ms | %s ms |\n", milliseconds(most.RefusedP99)) +
		fmt.Sprintf("| 99 %% of answers within, beside those at %g times | 3 times | %.1f times: %s and %s ms |\n", alone.Load, float64(most.P99)/float64(max(alone.P99, 1)), milliseconds(most.P99), milliseconds(alone.P99))
}

// answers has a column for each variant: answers in time, and their 99th percentile.
func answers(figures []figure) string {
	var b strings.Builder
	b.WriteString("| load |")
	for _, v := range variants {
		fmt.Fprintf(&b, " %s |", v.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(variants)) + "\n")
	for i, load := range loads {
		fmt.Fprintf(&b, "| %g |", load)
		for _, v := range variants {
			f := of(figures, v.Name)[i]
			fmt.Fprintf(&b, " %.0f, %s ms |", f.Good, milliseconds(f.P99))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// refusals are those of the first variant, with the delays of the generator, the table and the
// machine.
func refusals(figures []figure) string {
	var b strings.Builder
	b.WriteString("| load | refused a second | half of them within | 99 % within | by a server that refuses everything | generator late: half of all | 99 % | table late: 99 % |\n|---|---|---|---|---|---|---|---|\n")
	for _, f := range of(figures, variants[0].Name) {
		fmt.Fprintf(&b, "| %g | %.0f | %s ms | %s ms | %s ms | %s ms | %s ms | %s ms |\n", f.Load, f.Refused,
			milliseconds(f.RefusedMedian), milliseconds(f.RefusedP99), milliseconds(f.Floor), milliseconds(f.LateMedian), milliseconds(f.LateP99), milliseconds(f.Table))
	}
	return b.String()
}

// costs are what each variant uses at the highest load.
func costs(figures []figure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| at %g times the capacity | processors used | answers for each | memory |\n|---|---|---|---|\n", loads[len(loads)-1])
	for _, v := range variants {
		all := of(figures, v.Name)
		f := all[len(all)-1]
		fmt.Fprintf(&b, "| %s | %.2f | %.0f | %d MB |\n", v.Name, f.Busy, f.Good/max(f.Busy, 0.01), f.PeakMB)
	}
	return b.String()
}

// recovery is the result of half the load in each second.
func recovery(seconds []row) string {
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

// kept is the answers of the largest crowd over those of each crowd. It is the median of the ratios
// of all rounds, since within a short round the machine keeps its speed.
func kept(of [][]figure) []float64 {
	largest, out := of[len(of)-1], make([]float64, len(of))
	for i := range of {
		ratios := make([]float64, len(largest))
		for round, f := range largest {
			ratios[round] = f.Good / of[i][round].Good
		}
		slices.Sort(ratios)
		out[i] = ratios[len(ratios)/2]
	}
	return out
}

// crowded is the result of clients that ask again at once.
func crowded(rows []row, kept []float64) string {
	var b strings.Builder
	b.WriteString("| clients | good a second | refused a second | median | 99 % within | the largest crowd keeps |\n|---|---|---|---|---|---|\n")
	for i, r := range rows {
		fmt.Fprintf(&b, "| %d | %.0f | %.0f | %s ms | %s ms | %.2f |\n", r.Number, r.Good, r.Refused, milliseconds(r.Median), milliseconds(r.P99), kept[i])
	}
	return b.String()
}

// The tables and the files contain the measurements.
func TestReport(t *testing.T) {
	var figures []figure
	for i, load := range loads {
		for _, v := range variants {
			good := float64(1000 + 100*i)
			if i == len(loads)-1 {
				good = 1235
			}
			ms := time.Duration(i+1) * time.Millisecond
			figures = append(figures, figure{v.Name, load, tally{Good: good, Refused: 7, P99: 10 * ms, RefusedMedian: ms, RefusedP99: 2 * ms, LateMedian: ms / 10, LateP99: ms / 2}, 50, 3 * ms, ms / 5, 0.5})
		}
	}
	seconds := []row{{0, tally{Good: 50}}, {1, tally{Good: 40, Refused: 10}}}
	text := markdown(600, figures, seconds)
	text += crowded([]row{{1024, tally{Good: 300, Refused: 9}}}, kept([][]figure{{{tally: tally{Good: 300}}}}))
	for _, want := range []string{
		"| 1024 | 300 | 9 | 0.0 ms | 0.0 ms | 1.00 |",
		"The capacity is 600 a second.",
		"| adaptive, at 3 times the capacity | wanted | measured |",
		"| 85 % or more | 95 %: 1235 of 1300, at 2 times |",
		"| 99 % of refusals within | 25 ms | 10.0 ms |",
		"| 3 times | 5.0 times: 50.0 and 10.0 ms |",
		"| 0.5 | 1000, 10.0 ms | 1000, 10.0 ms |",
		"| 0.5 | 7 | 1.0 ms | 2.0 ms | 3.0 ms | 0.1 ms | 0.5 ms | 0.2 ms |",
		"| fixed at 256 | 0.50 | 2470 | 50 MB |",
		"| second 1 after the overload | 40 | 10 | 0.0 ms | 0.0 ms |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, file := range []struct {
		content []byte
		of      string
		times   int
	}{{lines(figures), "\n", 1 + len(figures)}, {tallies("second", seconds), "\n", 3}, {picture(figures), "<polyline", 3 * len(variants)}} {
		if got := strings.Count(string(file.content), file.of); got != file.times {
			t.Errorf("%q stands %d times, want %d:\n%s", file.of, got, file.times, file.content)
		}
	}
}

// Of several rounds the medians count, and the memory of the first.
func TestMedian(t *testing.T) {
	rounds := []figure{{"", 1, tally{Good: 3, P99: 9}, 40, 0, 0, 1}, {"", 1, tally{Good: 1, P99: 8}, 41, 0, 0, 2}, {"", 1, tally{Good: 2, P99: 7}, 42, 0, 0, 3}}
	if got, want := median(rounds), (figure{"", 1, tally{Good: 2, P99: 8}, 40, 0, 0, 2}); got != want {
		t.Errorf("medians are %+v, want %+v", got, want)
	}
}
