package runs

import (
	"cmp"
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
)

// Grids are written as a list of the languages that occur, and then bit by bit. For each grid and
// language, one bit says whether there are comments; if so, five gamma codes give the counts by
// rating. Most counts in a run are small: a run with eight languages takes some 15 bytes.
// https://en.wikipedia.org/wiki/Elias_gamma_coding
//
// If any comment has traits, the bits begin with the sets of traits that occur, the most frequent
// first. The five counts of a language are then followed by their split: for each count, gamma
// codes by set, in that order, until no comments are left. The rest belongs to the last set.

func appendGrids(out []byte, split bool, grids ...comment.Stats) []byte {
	set := map[comment.Language]bool{}
	for _, grid := range grids {
		for language := range grid {
			set[language] = true
		}
	}
	languages := slices.Sorted(maps.Keys(set))
	w := gridWriter{bitWriter: bitWriter{out: appendLanguages(out, languages)}}
	if split {
		w.begin(grids)
	}
	for _, grid := range grids {
		for _, language := range languages {
			w.row(grid[language])
		}
	}
	return w.out
}

// split reports whether counts are split by traits.
func split(counts comment.Stats) bool {
	for _, row := range counts {
		if row.Traited() {
			return true
		}
	}
	return false
}

// negative reports whether any count is below zero, which is impossible.
func negative(counts comment.Stats) bool {
	for _, row := range counts {
		for _, counts := range row.Sets() {
			if slices.Min(counts[:]) < 0 {
				return true
			}
		}
	}
	return false
}

// gridWriter writes rows of grids.
type gridWriter struct {
	bitWriter
	// sets are the sets of traits in the order of writing; none if no comment has traits.
	sets []comment.Traits
}

// setBits is the size of a set of traits, in bits.
const setBits = 3

// begin writes the sets of traits that occur in grids.
func (w *gridWriter) begin(grids []comment.Stats) {
	var totals [comment.TraitSets]int
	for _, grid := range grids {
		for _, row := range grid {
			for traits, counts := range row.Sets() {
				totals[traits] += counts.Total()
			}
		}
	}
	for traits, n := range totals {
		if n > 0 || traits == 0 {
			w.sets = append(w.sets, comment.Traits(traits))
		}
	}
	slices.SortStableFunc(w.sets, func(a, b comment.Traits) int { return cmp.Compare(totals[b], totals[a]) })
	w.bits(len(w.sets)-1, setBits)
	for _, traits := range w.sets {
		w.bits(int(traits), setBits)
	}
}

func (w *gridWriter) row(row comment.Row) {
	w.bit(row != comment.Row{})
	if row == (comment.Row{}) {
		return
	}
	for _, n := range row.Counts {
		w.gamma(uint64(n) + 1)
	}
	w.split(row)
}

// split writes how a row's counts are split by traits.
func (w *gridWriter) split(row comment.Row) {
	if len(w.sets) < 2 {
		return
	}
	sets := row.Sets()
	for rating, rest := range row.Counts {
		for _, traits := range w.sets[:len(w.sets)-1] {
			if rest == 0 {
				break
			}
			n := sets[traits][rating]
			w.gamma(uint64(n) + 1)
			rest -= n
		}
	}
}

// grids reads a number of grids. It returns that many even after an error.
func (d *decoder) grids(number int) []comment.Stats {
	languages := d.languages()
	r := gridReader{bitReader: bitReader{decoder: d}}
	if d.split {
		r.begin()
	}
	out := make([]comment.Stats, number)
	for i := range out {
		out[i] = comment.Stats{}
		for _, language := range languages {
			if d.err != nil {
				break // damaged numbers could keep this loop busy for minutes
			}
			if row := r.row(); row != (comment.Row{}) {
				out[i][language] = row
			}
		}
	}
	r.end()
	return out
}

// gridReader reads what a gridWriter wrote.
type gridReader struct {
	bitReader
	sets []comment.Traits
}

func (r *gridReader) begin() {
	for range r.bits(setBits) + 1 {
		r.sets = append(r.sets, comment.Traits(r.bits(setBits)))
	}
}

func (r *gridReader) row() (row comment.Row) {
	if !r.bit() || r.err != nil {
		return row
	}
	for i := range row.Counts {
		row.Counts[i] = int(r.gamma() - 1)
	}
	return r.split(row.Counts)
}

// split reads how a row's counts are split by traits.
func (r *gridReader) split(counts comment.Counts) comment.Row {
	if len(r.sets) < 2 {
		return comment.Row{Counts: counts}
	}
	var sets comment.Sets
	last := r.sets[len(r.sets)-1]
	for rating, rest := range counts {
		for _, traits := range r.sets[:len(r.sets)-1] {
			if rest == 0 {
				break
			}
			n := int(r.gamma() - 1)
			if n > rest {
				r.fail()
				return comment.Row{}
			}
			sets[traits][rating] += n
			rest -= n
		}
		sets[last][rating] += rest
	}
	return comment.RowOf(sets)
}

// impossible is the encoding of a split with negative counts.
const impossible = 0

// EncodeSplit returns the split of statistics by traits, as stored beside their counts; nil if no
// comment has traits. It encodes negative counts as damage, which a rebuild repairs.
func EncodeSplit(stats comment.Stats) []byte {
	if !split(stats) {
		return nil
	}
	if negative(stats) {
		return []byte{impossible}
	}
	w := gridWriter{bitWriter: bitWriter{out: []byte{formatSplit}}}
	w.begin([]comment.Stats{stats})
	for _, language := range slices.Sorted(maps.Keys(stats)) {
		w.split(stats[language])
	}
	return w.out
}

// DecodeSplit splits statistics by traits, from what EncodeSplit returned.
func DecodeSplit(in []byte, stats comment.Stats) error {
	if len(in) == 0 {
		return nil
	}
	d := newDecoder(in)
	if !d.split {
		return errDamaged
	}
	r := gridReader{bitReader: bitReader{decoder: d}}
	r.begin()
	for _, language := range slices.Sorted(maps.Keys(stats)) {
		stats[language] = r.split(stats[language].Counts)
	}
	if r.end(); len(d.rest) > 0 {
		d.fail()
	}
	return d.err
}
