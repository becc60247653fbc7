package runs

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/talkback/talkback/comment"
)

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
	split := slices.ContainsFunc(d.Inline, Run.split) || slices.ContainsFunc(d.References, func(ref Reference) bool { return split(ref.Counts) })
	out := binary.AppendUvarint([]byte{formatOf(split)}, d.Version)
	out = binary.AppendUvarint(out, d.Merged)
	sums := make([]Run, len(d.References))
	for i, ref := range d.References {
		sums[i] = Run{From: ref.From, End: ref.End, Counts: ref.Counts}
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
		out.References = append(out.References, Reference{From: sum.From, End: sum.End, Counts: sum.Counts})
	}
	for i := range out.References {
		out.References[i].Key = d.key(out.Version)
		out.References[i].Bytes = int(d.uvarint())
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
