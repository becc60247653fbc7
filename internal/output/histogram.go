package output

import (
	"fmt"
	"strings"
)

const (
	// mostBar and leastBar bound the length of the longest bar of a histogram, in columns.
	mostBar, leastBar = 40, 4
	// eighths is how many lengths a bar has within a column.
	eighths = 8
)

// Histogram is counts with a bar for each.
type Histogram struct {
	names  []string
	counts []int
}

// Add adds a count. The name is printable.
func (h *Histogram) Add(name string, count int) {
	h.names, h.counts = append(h.names, name), append(h.counts, count)
}

// On lays the histogram out on a screen: a line for each count with its name, its bar, itself and
// its share of the sum.
func (h *Histogram) On(s Screen) string {
	sum, most, name, number := 0, 0, 0, 0
	for i, count := range h.counts {
		sum, most = sum+count, max(most, count)
		name, number = max(name, Width(h.names[i])), max(number, len(English.Sprint(count)))
	}
	const share = len("100.0 %")
	room := mostBar
	if s.Columns > 0 {
		room = max(leastBar, min(room, s.Columns-name-number-share-3*len(gap)))
	}
	var out strings.Builder
	for i, count := range h.counts {
		bar := bar(count, most, room)
		fmt.Fprintf(&out, "%s%s%s%s%s%*s%s%*s\n",
			h.names[i], strings.Repeat(" ", name-Width(h.names[i])), gap, s.Stars(bar), strings.Repeat(" ", room-Width(bar))+gap,
			number, English.Sprint(count), gap, share, Share(count, sum))
	}
	return out.String()
}

// bar draws a count beside the largest one, which takes all of the room. A count above 0 is never
// drawn as nothing.
func bar(count, most, room int) string {
	if count == 0 {
		return ""
	}
	length := max(1, count*room*eighths/most)
	out := strings.Repeat("█", length/eighths)
	if rest := length % eighths; rest > 0 {
		out += string('█' + rune(eighths-rest)) // U+2588 is full, U+258F an eighth
	}
	return out
}

// Share returns a part of a whole in percent, such as "12.5 %"; of nothing, it is "0.0 %".
func Share(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(whole, 1)))
}
