package runs

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
)

// Any bytes are either refused or decoded to a part of an index that is the same after it is
// written and read again.
//
//	go test ./pageindex/runs -run '^$' -fuzz FuzzDecode -fuzztime 1m
func FuzzDecode(f *testing.F) {
	cell := &comment.Cell{Language: "en", Rating: 5}
	run := Run{From: comment.FirstAt(begun), End: comment.MaxPosition, Counts: comment.Stats{"de": {Counts: comment.Counts{0, 1, 0, 0, 900}}}}
	f.Add(byte(0), Head{First: 1, Last: 3, Written: 2, Bound: run.From, Highest: run.End, Counts: run.Counts}.Encode())
	f.Add(byte(1), Entry{Changes: []Change{{Position: run.From, To: cell}}, Sealed: &run}.Encode())
	f.Add(byte(2), Chunk{Runs: []Run{run, run}}.Encode())
	f.Add(byte(3), Directory{Version: 7, References: []Reference{{From: run.From, End: run.End, Counts: run.Counts}}, Inline: []Run{run}}.Encode())
	f.Fuzz(func(t *testing.T, part byte, in []byte) {
		switch part % 4 {
		case 0:
			checkReadBack(t, in, DecodeHead)
		case 1:
			checkReadBack(t, in, func(in []byte) (Entry, error) { return DecodeEntry(1, in) })
		case 2:
			checkReadBack(t, in, DecodeChunk)
		case 3:
			checkReadBack(t, in, DecodeDirectory)
		}
	})
}

func checkReadBack[T interface{ Encode() []byte }](t *testing.T, in []byte, decode func([]byte) (T, error)) {
	read, err := decode(in)
	if err != nil {
		return
	}
	again, err := decode(read.Encode())
	if diff := cmp.Diff(read, again); err != nil || diff != "" {
		t.Fatalf("it reads back otherwise: %v %s", err, diff)
	}
}

// Damaged bytes that claim many runs and many languages are refused without a search for each
// language in each run, which would exceed any test's time.
func TestManyClaimsAreRefused(t *testing.T) {
	const many = 1 << 20
	claim := binary.AppendUvarint(nil, many)
	in := slices.Concat([]byte{formatPlain}, claim, make([]byte, 1+many), claim, make([]byte, many))
	if _, err := DecodeChunk(in); !errors.Is(err, ErrTorn) {
		t.Errorf("it is read: %v", err)
	}
}
