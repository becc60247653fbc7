package runs

import (
	"fmt"
	"slices"

	"github.com/talkback/talkback/comment"
)

// Merge merges the log of a product into its directory and chunks. The caller performs these steps
// in order:
//
//  1. It reads the statistics, the directory and the log, consistently, for NewMerge.
//  2. It reads the chunks that Chunks names, for Load.
//  3. It reads the markers of the runs that Unsplit names. After that it reads the statistics and
//     the log again, for Split.
//  4. It deletes the chunks that Leftover names, and writes those that Result names. Then it
//     replaces the directory, on condition that its version is still the one read. Then it deletes
//     the merged entries. If another merge was faster, it deletes the chunks that it wrote.
//
// The caller may stop after every step, and merges may run in parallel. Until the directory is
// replaced, nothing has changed for readers.
type Merge struct {
	before Directory
	view   *View
	// logBytes is the size of the entries to be merged.
	logBytes int
}

// chunkBytes is the maximum size of a chunk, unless a single run is larger. With its key and the
// longest product id, an item has less than 4 KB, so reading it costs half a unit.
const chunkBytes = 3900

// NewMerge begins a merge. The log must hold all unmerged entries, up to the head's last.
func NewMerge(head Head, d Directory, log []Entry) (*Merge, error) {
	v, err := NewView(head, d, log)
	if err != nil {
		return nil, err
	}
	m := &Merge{before: d, view: v}
	for _, e := range log {
		if e.Number > v.merged && e.Number <= head.Last {
			m.logBytes += len(e.Encode()) + entryOverhead
		}
	}
	m.view.segments = v.segments[:len(v.segments)-1] // the head is not merged
	return m, nil
}

// Empty reports whether there is nothing to merge.
func (m *Merge) Empty() bool { return m.view.merged == m.view.head.Last }

// Chunks returns the chunks to read: those that the log changes, and neighbours with room for more
// runs.
func (m *Merge) Chunks() []Key {
	var keys []Key
	for i, s := range m.view.segments {
		if s.chunk == nil {
			continue
		}
		// An unchanged chunk takes new runs unless it is nearly full, and a rewritten neighbour if it is
		// nearly empty.
		hasRoom := slices.ContainsFunc(m.view.segments[max(i-1, 0):min(i+2, len(m.view.segments))], func(beside *segment) bool {
			return beside.chunk == nil && s.chunk.Bytes < chunkBytes*3/4 || len(beside.changes) > 0 && s.chunk.Bytes < chunkBytes/4
		})
		if len(s.changes) > 0 || hasRoom {
			keys = append(keys, s.chunk.Key)
		}
	}
	return keys
}

// A merge that writes many chunks is expensive, so it waits until the log is larger.
const (
	manyChunks   = 4
	patientBytes = 11 << 10 // merges are due every 4 KB, so it waits for the third
)

// Postponed reports whether to skip this merge until the next one is due, because it would write
// many chunks for a small log. Runs that are far too large do not wait.
func (m *Merge) Postponed() bool {
	return !slices.ContainsFunc(m.view.segments, (*segment).tooLarge) && len(m.Chunks()) > manyChunks && m.logBytes < patientBytes
}

// Load adds a chunk that was read.
func (m *Merge) Load(key Key, c Chunk) error { return m.view.Load(key, c) }

// Unsplit returns the runs that are too large, and have to be split.
func (m *Merge) Unsplit() []Range {
	var out []Range
	for _, s := range m.view.segments {
		if s.chunk == nil && s.counts.Total() > splitAbove {
			out = append(out, Range{From: s.from, Last: s.last})
		}
	}
	return out
}

// Split adds the markers of a run, and the table's content read after them: the head, and all
// entries after the last merged one. Markers may have been read after an unmerged change, or during
// a transaction, so the entries override them.
func (m *Merge) Split(r Range, read []Marker, afterwards Head, log []Entry) error {
	if afterwards.First != m.view.head.First {
		return fmt.Errorf("the index of the product was started anew: %w", ErrTorn)
	}
	later, err := between(log, m.view.head.Last, afterwards.Last)
	if err != nil {
		return err
	}
	return m.view.Reveal(r, read, later...)
}

// Result is what a merge writes.
type Result struct {
	// Directory replaces the one that was read.
	Directory Directory
	// Chunks are new. They are written before the directory.
	Chunks map[Key]Chunk
}

// Leftover returns unneeded chunks: those that the previous directory replaced, and those of the
// read directory's version that it does not refer to. Interrupted merges have left these behind.
func (m *Merge) Leftover(ofVersion []Key) []Key {
	unnamed := slices.DeleteFunc(slices.Clone(ofVersion), func(key Key) bool {
		return slices.ContainsFunc(m.before.References, func(ref Reference) bool { return ref.Key == key })
	})
	return slices.Concat(m.before.Replaced, unnamed)
}

// Result ends the merge. The random number is for the keys of new chunks.
func (m *Merge) Result(random uint32) Result {
	d := Directory{Version: max(m.before.Version+1, m.view.head.First), Merged: m.view.head.Last}
	out := Result{Chunks: map[Key]Chunk{}}
	stretches := m.stretches()
	if len(stretches) == 1 && stretches[0].kept == nil {
		if c := (Chunk{Runs: stretches[0].runs}); len(c.Encode()) <= chunkBytes {
			d.Inline = c.Runs
		}
	}
	for i, s := range stretches {
		switch {
		case s.kept != nil:
			d.References = append(d.References, *s.kept)
		case d.Inline == nil:
			for _, runs := range pack(s.runs, i == len(stretches)-1) {
				key, chunk := Key{Version: d.Version, Number: random + uint32(len(out.Chunks))}, Chunk{Runs: runs}
				out.Chunks[key] = chunk
				d.References = append(d.References, Reference{
					Key: key, Run: Run{runs[0].From, runs[len(runs)-1].End, sumOf(runs, m.view.rowOf)}, Bytes: len(chunk.Encode()),
				})
			}
		}
	}
	for _, old := range m.before.References {
		if !slices.ContainsFunc(d.References, func(ref Reference) bool { return ref.Key == old.Key }) {
			d.Replaced = append(d.Replaced, old.Key)
		}
	}
	out.Directory = d
	return out
}

// stretch is either a kept chunk, or adjacent runs for new chunks.
type stretch struct {
	kept *Reference
	runs []Run
}

// stretches returns the content of the merged index. A run that is too small is joined with its
// predecessor, unless the result were too large.
func (m *Merge) stretches() []stretch {
	var out []stretch
	for _, s := range m.view.segments {
		if s.chunk != nil {
			out = append(out, stretch{kept: s.chunk})
			continue
		}
		if len(out) == 0 || out[len(out)-1].kept != nil {
			out = append(out, stretch{})
		}
		last := &out[len(out)-1]
		for _, run := range s.split() {
			if n := len(last.runs); n > 0 {
				before := &last.runs[n-1]
				a, b := before.Counts.Total(), run.Counts.Total()
				if min(a, b) < joinBelow && a+b <= splitAbove {
					*before = Run{From: before.From, End: run.End, Counts: sumOf([]Run{*before, run}, nil)}
					continue
				}
			}
			last.runs = append(last.runs, run)
		}
	}
	return out
}

// split returns the runs that a segment becomes: several, cut between its markers, or one if the
// markers were not read.
func (s *segment) split() []Run {
	run := Run{From: s.from, End: s.last.Next(), Counts: s.counts}
	if !s.revealed {
		return []Run{run}
	}
	pieces := max(1, len(s.markers)/runSize)
	var out []Run
	for i := range pieces {
		from, end := i*len(s.markers)/pieces, (i+1)*len(s.markers)/pieces
		piece := Run{From: run.From, End: run.End, Counts: comment.Stats{}}
		if end < len(s.markers) {
			piece.End = shortBetween(s.markers[end-1].Position, s.markers[end].Position)
		}
		for _, m := range s.markers[from:end] {
			piece.Counts.Add(m.Cell, 1)
		}
		out = append(out, piece)
		run.From = piece.End
	}
	return out
}

// pack divides runs into as few chunks as possible, of equal size. At the end of the product, where
// new runs are added, all chunks but the last are as full as possible.
func pack(runs []Run, atEnd bool) [][]Run {
	bytes := len(Chunk{Runs: runs}.Encode())
	if bytes <= chunkBytes || len(runs) == 1 {
		return [][]Run{runs}
	}
	const full = chunkBytes * 9 / 10 // runs differ in size
	each := max(1, len(runs)*full/bytes)
	if !atEnd {
		number := (len(runs) + each - 1) / each
		each = (len(runs) + number - 1) / number
	}
	var out [][]Run
	for part := range slices.Chunk(runs, min(each, len(runs)-1)) {
		out = append(out, pack(part, false)...)
	}
	return out
}
