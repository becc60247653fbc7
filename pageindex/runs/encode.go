package runs

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
)

// Encode returns the head as stored in an attribute of the statistics item, nil for the zero Head.
func (h Head) Encode() []byte {
	if !h.Exists() {
		return nil
	}
	split := split(h.Counts)
	out := binary.AppendUvarint([]byte{formatOf(split)}, h.First)
	out = binary.AppendUvarint(out, h.Last-h.First)
	out = binary.AppendUvarint(out, h.Written)
	out = appendPosition(out, h.Bound, comment.Position{})
	out = appendPosition(out, h.Highest, h.Bound)
	return appendGrids(out, split, h.Counts)
}

// DecodeHead decodes what Encode returned. No bytes are the zero Head.
func DecodeHead(in []byte) (Head, error) {
	if len(in) == 0 {
		return Head{}, nil
	}
	d := newDecoder(in)
	var h Head
	h.First = d.uvarint()
	h.Last = h.First + d.uvarint()
	h.Written = d.uvarint()
	h.Bound = d.position(comment.Position{})
	h.Highest = d.position(h.Bound)
	h.Counts = d.grids(1)[0]
	if d.err == nil && !h.Exists() {
		d.fail()
	}
	if d.err != nil {
		return Head{}, fmt.Errorf("head of the page index: %w", d.err)
	}
	return h, nil
}

// Encode returns the entry as stored in its item, without the number.
func (e Entry) Encode() []byte {
	set := map[comment.Language]bool{}
	for _, c := range e.Changes {
		for _, cell := range []*comment.Cell{c.From, c.To} {
			if cell != nil {
				set[cell.Language] = true
			}
		}
	}
	languages, split := slices.Sorted(maps.Keys(set)), e.split()
	out := appendLanguages([]byte{formatOf(split)}, languages)
	out = binary.AppendUvarint(out, uint64(len(e.Changes)))
	last := comment.Position{}
	for _, c := range e.Changes {
		out = appendPosition(out, c.Position, last)
		out = binary.AppendUvarint(out, cellCode(languages, c.From, split))
		out = binary.AppendUvarint(out, cellCode(languages, c.To, split))
		last = c.Position
	}
	if e.Sealed == nil {
		return out
	}
	out = appendPosition(out, e.Sealed.From, comment.Position{})
	out = appendPosition(out, e.Sealed.End, e.Sealed.From)
	return appendGrids(out, split, e.Sealed.Counts)
}

// split reports whether the entry has any traits.
func (e Entry) split() bool {
	traited := func(cell *comment.Cell) bool { return cell != nil && cell.Traits != 0 }
	return e.Sealed != nil && split(e.Sealed.Counts) ||
		slices.ContainsFunc(e.Changes, func(c Change) bool { return traited(c.From) || traited(c.To) })
}

// DecodeEntry decodes what Encode returned.
func DecodeEntry(number uint64, in []byte) (Entry, error) {
	d := newDecoder(in)
	e := Entry{Number: number}
	languages := d.languages()
	last := comment.Position{}
	for range d.length() {
		last = d.position(last)
		e.Changes = append(e.Changes, Change{Position: last, From: d.cell(languages), To: d.cell(languages)})
	}
	if d.err == nil && len(d.rest) > 0 {
		run := Run{From: d.position(comment.Position{})}
		run.End = d.position(run.From)
		run.Counts = d.grids(1)[0]
		e.Sealed = &run
	}
	if d.err != nil {
		return Entry{}, fmt.Errorf("entry %d of the page index: %w", number, d.err)
	}
	return e, nil
}

// codesOf returns the number of cell codes of each language.
func codesOf(split bool) uint64 {
	if split {
		return comment.MaxCellCode
	}
	return comment.MaxRating
}

// cellCode returns the number of a cell among the languages, 0 for nil.
func cellCode(languages []comment.Language, cell *comment.Cell, split bool) uint64 {
	if cell == nil {
		return 0
	}
	i, _ := slices.BinarySearchFunc(languages, cell.Language, cmp.Compare[comment.Language])
	return uint64(i)*codesOf(split) + uint64(cell.Code())
}

func (d *decoder) cell(languages []comment.Language) *comment.Cell {
	code := d.uvarint()
	if code == 0 {
		return nil
	}
	i := (code - 1) / codesOf(d.split)
	if i >= uint64(len(languages)) {
		d.fail()
		return nil
	}
	cell, any := comment.CellOf(languages[i], int((code-1)%codesOf(d.split))+1)
	if !any {
		d.fail()
		return nil
	}
	return &cell
}

// Encode returns the chunk as stored in its item.
func (c Chunk) Encode() []byte {
	split := slices.ContainsFunc(c.Runs, Run.split)
	return appendRuns([]byte{formatOf(split)}, split, c.Runs)
}

// split reports whether the run has comments with traits.
func (r Run) split() bool { return split(r.Counts) }

// DecodeChunk decodes what Encode returned.
func DecodeChunk(in []byte) (Chunk, error) {
	d := newDecoder(in)
	c := Chunk{Runs: d.runs()}
	if d.err != nil {
		return Chunk{}, fmt.Errorf("chunk of the page index: %w", d.err)
	}
	return c, nil
}

func appendRuns(out []byte, split bool, runs []Run) []byte {
	out = binary.AppendUvarint(out, uint64(len(runs)))
	if len(runs) == 0 {
		return out
	}
	out = appendPosition(out, runs[0].From, comment.Position{})
	grids := make([]comment.Stats, len(runs))
	for i, run := range runs {
		out = appendPosition(out, run.End, run.From)
		grids[i] = run.Counts
	}
	return appendGrids(out, split, grids...)
}

func (d *decoder) runs() []Run {
	runs := make([]Run, d.length())
	if len(runs) == 0 {
		return nil
	}
	from := d.position(comment.Position{})
	for i := range runs {
		end := d.position(from)
		runs[i].From, runs[i].End = from, end
		from = end
	}
	for i, grid := range d.grids(len(runs)) {
		runs[i].Counts = grid
	}
	return runs
}

// Encode returns the directory as stored in its item.
func (d Directory) Encode() []byte {
	split := slices.ContainsFunc(d.Inline, Run.split) || slices.ContainsFunc(d.References, func(ref Reference) bool { return ref.split() })
	out := binary.AppendUvarint([]byte{formatOf(split)}, d.Version)
	out = binary.AppendUvarint(out, d.Merged)
	sums := make([]Run, len(d.References))
	for i, ref := range d.References {
		sums[i] = ref.Run
	}
	out = appendRuns(out, split, sums)
	for _, ref := range d.References {
		out = binary.AppendUvarint(appendKey(out, ref.Key, d.Version), uint64(ref.Bytes))
	}
	out = appendRuns(out, split, d.Inline)
	out = binary.AppendUvarint(out, uint64(len(d.Replaced)))
	for _, key := range d.Replaced {
		out = appendKey(out, key, d.Version)
	}
	return out
}

// DecodeDirectory decodes what Encode returned. No bytes are the zero Directory.
func DecodeDirectory(in []byte) (Directory, error) {
	if len(in) == 0 {
		return Directory{}, nil
	}
	d := newDecoder(in)
	out := Directory{Version: d.uvarint(), Merged: d.uvarint()}
	for _, sum := range d.runs() {
		out.References = append(out.References, Reference{Key: d.key(out.Version), Run: sum, Bytes: int(d.uvarint())})
	}
	out.Inline = d.runs()
	for range d.length() {
		out.Replaced = append(out.Replaced, d.key(out.Version))
	}
	if d.err != nil {
		return Directory{}, fmt.Errorf("directory of the page index: %w", d.err)
	}
	return out, nil
}

// appendKey writes a key, with its version relative to a later one.
func appendKey(out []byte, key Key, version uint64) []byte {
	out = binary.AppendUvarint(out, version-key.Version)
	return binary.BigEndian.AppendUint32(out, key.Number)
}

func (d *decoder) key(version uint64) Key {
	key := Key{Version: version - d.uvarint()}
	if number := d.bytes(4); len(number) == 4 {
		key.Number = binary.BigEndian.Uint32(number)
	}
	return key
}
