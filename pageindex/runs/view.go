package runs

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/talkback/talkback/comment"
)

// View is the state of a product's index at one moment: after the last entry of its head. It holds
// the parts read so far; Load and Reveal add more.
type View struct {
	head Head
	// merged is the number of the last entry that the stored runs include.
	merged   uint64
	segments []*segment
	// rows are the languages with a separate row in all segments. If shared is set, all others
	// share a row in chunks not loaded yet.
	rows   map[comment.Language]bool
	shared bool
}

// segment is a range of positions. Segments are in ascending order, without gaps.
type segment struct {
	// from and last are its bounds, inclusive. The head's last is the highest position of its
	// comments; it may be below from if there are none.
	from, last comment.Position
	// counts is the number of comments, including all entries. Without changes it is the map that
	// was read, which other values may share.
	counts comment.Stats
	// chunk is the reference to a chunk not loaded yet, nil for a run and for the head.
	chunk *Reference
	// changes are the entries' changes in this segment, in their order.
	changes []Change
	// markers are the segment's comments, in ascending order, once revealed is set.
	markers  []Marker
	revealed bool
}

// Marker says in which cell the comment at a position counts.
type Marker struct {
	Position comment.Position
	Cell     comment.Cell
}

// NewView combines parts of an index. The head must exist. It ignores entries of the log that were
// merged, or that follow the head's last. The error wraps ErrTorn if the parts do not fit together.
func NewView(head Head, d Directory, log []Entry) (*View, error) {
	if d.Merged < head.First { // no directory, or that of an earlier index
		d = Directory{Merged: head.First}
	}
	v := &View{head: head, merged: d.Merged, rows: map[comment.Language]bool{}}
	v.addDirectory(d)
	fresh, err := between(log, d.Merged, head.Last)
	if err != nil {
		return nil, err
	}
	for _, e := range fresh {
		for _, c := range e.Changes {
			if !v.change(c) {
				return nil, fmt.Errorf("entry %d changes a comment above all runs: %w", e.Number, ErrTorn)
			}
		}
		if e.Sealed != nil {
			v.addRun(*e.Sealed)
		}
	}
	if end := v.end(); end != head.Bound {
		return nil, fmt.Errorf("the runs end at %s, and the head begins at %s: %w", end, head.Bound, ErrTorn)
	}
	v.segments = append(v.segments, &segment{from: head.Bound, last: head.Highest, counts: head.Counts})
	return v, v.check()
}

// between returns the entries after a number, up to another. It is an error if one is missing.
func between(log []Entry, after, last uint64) ([]Entry, error) {
	if after > last {
		return nil, fmt.Errorf("the directory includes entry %d, and the head none above %d: %w", after, last, ErrTorn)
	}
	var out []Entry
	for _, e := range log {
		if e.Number == after+uint64(len(out))+1 && e.Number <= last {
			out = append(out, e)
		}
	}
	if missing := after + uint64(len(out)) + 1; missing <= last {
		return nil, fmt.Errorf("entry %d of %d is missing: %w", missing, last, ErrTorn)
	}
	return out, nil
}

func (v *View) addDirectory(d Directory) {
	for _, ref := range d.References {
		v.segments = append(v.segments, &segment{from: ref.From, last: ref.End.Previous(), counts: ref.Counts, chunk: &ref})
		for language := range ref.Counts {
			v.rows[language] = true
		}
	}
	v.shared = v.rows[comment.OtherLanguages]
	delete(v.rows, comment.OtherLanguages)
	for _, run := range d.Inline {
		v.addRun(run)
	}
}

func (v *View) addRun(run Run) {
	v.segments = append(v.segments, &segment{from: run.From, last: run.End.Previous(), counts: run.Counts})
}

func (v *View) end() comment.Position {
	if len(v.segments) == 0 {
		return comment.Position{}
	}
	return v.segments[len(v.segments)-1].last.Next()
}

// change counts a change in its segment, and reports whether there is one.
func (v *View) change(c Change) bool {
	i := v.find(c.Position)
	if i < 0 || c.Position.Compare(v.segments[i].last) > 0 {
		return false
	}
	s := v.segments[i]
	if len(s.changes) == 0 {
		s.counts = s.counts.Clone()
	}
	s.changes = append(s.changes, c)
	if s.chunk != nil {
		c.From, c.To = v.inRow(c.From), v.inRow(c.To)
	}
	addChange(s.counts, c)
	return true
}

// find returns the number of the last segment that begins at or below a position, -1 if none does.
func (v *View) find(p comment.Position) int {
	return sort.Search(len(v.segments), func(i int) bool { return v.segments[i].from.Compare(p) > 0 }) - 1
}

// inRow returns the cell in which a chunk's sum includes a cell.
func (v *View) inRow(cell *comment.Cell) *comment.Cell {
	if cell == nil {
		return nil
	}
	in := *cell
	in.Language = v.rowOf(cell.Language)
	return &in
}

// rowOf returns the language whose row in a chunk's sum includes a language: its own, or the shared
// one. As in the statistics, a new language gets a row while there is room and no language shares
// one. So all comments of a language are in the same row everywhere.
func (v *View) rowOf(language comment.Language) comment.Language {
	switch {
	case v.rows[language]:
	case !v.shared && len(v.rows) < comment.MaxLanguageRows:
		v.rows[language] = true
	default:
		v.shared = true
		return comment.OtherLanguages
	}
	return language
}

// sumOf returns the sum of runs. Each language is counted in the row that rowOf names, or in its
// own if rowOf is nil.
func sumOf(runs []Run, rowOf func(comment.Language) comment.Language) comment.Stats {
	sum := comment.Stats{}
	for _, run := range runs {
		for language, row := range run.Counts {
			if rowOf != nil {
				language = rowOf(language)
			}
			sum[language] = sum[language].Plus(row)
		}
	}
	return sum
}

func (v *View) check() error {
	for _, s := range v.segments {
		if negative(s.counts) {
			return fmt.Errorf("the counts from %s on are below zero: %w", s.from, ErrTorn)
		}
	}
	return nil
}

// Load adds a chunk that was read.
func (v *View) Load(key Key, c Chunk) error {
	i := slices.IndexFunc(v.segments, func(s *segment) bool { return s.chunk != nil && s.chunk.Key == key })
	if i < 0 {
		return nil
	}
	was := v.segments[i]
	part := View{}
	for _, run := range c.Runs {
		part.addRun(run)
	}
	if len(c.Runs) == 0 || part.segments[0].from != was.from || part.end() != was.chunk.End {
		return fmt.Errorf("chunk %s has other bounds than the directory says: %w", key, ErrTorn)
	}
	if sum := sumOf(c.Runs, v.rowOf); !maps.Equal(sum, was.chunk.Counts) {
		return fmt.Errorf("chunk %s has other counts than the directory says: %w", key, ErrTorn)
	}
	for _, change := range was.changes {
		part.change(change)
	}
	v.segments = slices.Replace(v.segments, i, i+1, part.segments...)
	return part.check()
}

// Unloaded returns the chunks that are not loaded yet.
func (v *View) Unloaded() []Key {
	var keys []Key
	for _, s := range v.segments {
		if s.chunk != nil {
			keys = append(keys, s.chunk.Key)
		}
	}
	return keys
}

// Runs returns all runs in ascending order, with the head as the last. All chunks must be loaded.
func (v *View) Runs() []Run {
	out := make([]Run, len(v.segments))
	for i, s := range v.segments {
		out[i] = Run{From: s.from, End: s.last.Next(), Counts: s.counts}
	}
	out[len(out)-1].End = comment.MaxPosition
	return out
}

// Range is a range of positions, both inclusive.
type Range struct{ From, Last comment.Position }

// Reveal adds the markers of a run or of the head. They may have been read before or after the
// moment of the view: Reveal undoes the changes of later entries. The error wraps ErrTorn if the
// markers do not match the counts.
func (v *View) Reveal(r Range, read []Marker, later ...Entry) error {
	s := v.segments[max(0, v.find(r.From))]
	known := map[comment.Position]*comment.Cell{}
	for _, c := range s.changes {
		known[c.Position] = c.To
	}
	for _, e := range slices.Backward(later) {
		for _, c := range e.Changes {
			known[c.Position] = c.From
		}
	}
	s.markers, s.revealed = s.overridden(read, known), true
	sum := comment.Stats{}
	for _, m := range s.markers {
		sum.Add(m.Cell, 1)
	}
	if !maps.Equal(sum, s.counts) {
		return fmt.Errorf("the markers from %s to %s are not as they are counted: %w", s.from, s.last, ErrTorn)
	}
	return nil
}

// overridden returns the markers of the segment in order: those that were read, unless known has
// another cell for the position, or nil for none.
func (s *segment) overridden(read []Marker, known map[comment.Position]*comment.Cell) []Marker {
	outside := func(p comment.Position) bool { return p.Compare(s.from) < 0 || p.Compare(s.last) > 0 }
	out := slices.DeleteFunc(slices.Clone(read), func(m Marker) bool {
		_, overridden := known[m.Position]
		return overridden || outside(m.Position)
	})
	for p, cell := range known {
		if cell != nil && !outside(p) {
			out = append(out, Marker{Position: p, Cell: *cell})
		}
	}
	slices.SortFunc(out, func(a, b Marker) int { return a.Position.Compare(b.Position) })
	return out
}

// ViewOf returns the view of a product with these comments and no index.
func ViewOf(markers []Marker) *View {
	s := &segment{last: comment.MaxPosition, revealed: true}
	s.markers = s.overridden(markers, nil)
	return &View{segments: []*segment{s}}
}

// Untouched reports whether no comment in some ranges has changed between this head and a later
// one, given the log entries after this head. It returns false for ranges that reach into the head,
// whose changes are not in the log.
func (h Head) Untouched(ranges []Range, now Head, log []Entry) bool {
	next := h.Last + 1
	for _, e := range log {
		if e.Number != next {
			return false
		}
		next++
		for _, c := range e.Changes {
			if slices.ContainsFunc(ranges, func(r Range) bool { return r.From.Compare(c.Position) <= 0 && c.Position.Compare(r.Last) <= 0 }) {
				return false
			}
		}
	}
	inHead := slices.ContainsFunc(ranges, func(r Range) bool { return r.Last.Compare(h.Bound) >= 0 })
	return !inHead && now.First == h.First && now.Last < next
}
