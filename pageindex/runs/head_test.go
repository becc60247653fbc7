package runs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

var begun = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// positions draws positions of comments: many in few milliseconds, and some that differ in one
// byte.
var positions = rapid.Custom(func(t *rapid.T) comment.Position {
	p := comment.FirstAt(begun.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "ms")) * time.Millisecond))
	binary.BigEndian.PutUint16(p[6:], rapid.Uint16().Draw(t, "high"))
	p[15] = rapid.Byte().Draw(t, "low")
	return p
})

var someLanguages = []comment.Language{"de", "en", "x-private", "und", "zh-Hant-TW"}

var cells = rapid.Custom(func(t *rapid.T) *comment.Cell {
	return &comment.Cell{
		Language: rapid.SampledFrom(someLanguages).Draw(t, "language"),
		Rating:   rapid.IntRange(1, comment.MaxRating).Draw(t, "rating"),
	}
})

var cellsOrNil = rapid.OneOf(cells, rapid.Just[*comment.Cell](nil))

var grids = rapid.Custom(func(t *rapid.T) comment.Stats {
	grid := comment.Stats{}
	for range rapid.IntRange(0, 10).Draw(t, "cells") {
		grid.Add(*cells.Draw(t, "cell"), rapid.SampledFrom([]int{1, 2, 7, 1e6, 1 << 40}).Draw(t, "n"))
	}
	return grid
})

func TestHeadsAndEntriesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		head := Start(grids.Draw(t, "counts"), positions.Draw(t, "highest"), begun)
		head.Bound = rapid.OneOf(positions, rapid.Just(comment.Position{}), rapid.Just(comment.MaxPosition)).Draw(t, "bound")
		head.Last += rapid.Uint64Range(0, 1e9).Draw(t, "entries")
		if got, err := DecodeHead(head.Encode()); err != nil || !cmp.Equal(got, head) {
			t.Errorf("%v %s", err, cmp.Diff(head, got))
		}
		entry := Entry{Number: 7}
		for _, p := range rapid.SliceOf(positions).Draw(t, "positions") {
			entry.Changes = append(entry.Changes, Change{Position: p, From: cellsOrNil.Draw(t, "from"), To: cellsOrNil.Draw(t, "to")})
		}
		if rapid.Bool().Draw(t, "seals") {
			entry.Sealed = &Run{From: positions.Draw(t, "from"), End: positions.Draw(t, "end"), Counts: grids.Draw(t, "sealed")}
		}
		if got, err := DecodeEntry(7, entry.Encode()); err != nil || !cmp.Equal(got, entry) {
			t.Errorf("%v %s", err, cmp.Diff(entry, got))
		}
	})
}

// Truncated or changed bytes are an error or decode to something else. They never cause a panic or
// use much memory.
func TestDamagedBytesAreRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := Start(grids.Draw(t, "counts"), positions.Draw(t, "highest"), begun).Encode()
		if _, err := DecodeHead(whole[:rapid.IntRange(1, len(whole)-1).Draw(t, "cut")]); err == nil {
			t.Error("a cut head was read")
		}
		noise := append([]byte{formatPlain}, rapid.SliceOf(rapid.Byte()).Draw(t, "noise")...)
		_, _ = DecodeHead(noise)
		_, _ = DecodeEntry(1, noise)
	})
	for _, in := range [][]byte{{}, {2, 0}, {formatPlain, 0, 0, 0, 0, 0, 0}} {
		if _, err := DecodeEntry(1, in); err == nil && len(in) < 7 {
			t.Errorf("the entry %v was read", in)
		}
	}
}

// A head that contradicts a change gives up the index, and keeps none of it.
func TestContradictionsEndTheIndex(t *testing.T) {
	cell := comment.Cell{Language: "de", Rating: 5}
	head := Start(comment.Stats{"en": {Counts: comment.Counts{1}}}, comment.FirstAt(begun), begun)
	next, entry := head.Apply([]Change{{Position: comment.FirstAt(begun), From: &cell}})
	if next.Exists() || entry != nil || len(next.Encode()) > 0 {
		t.Errorf("got %+v, %+v", next, entry)
	}
}

// A merge falls due for each 4 KB that the log grows, and when the first run is sealed.
func TestMergeIsDue(t *testing.T) {
	bound := comment.FirstAt(begun)
	for _, row := range []struct {
		why           string
		before, after Head
		want          bool
	}{
		{"nothing was written", Head{}, Head{}, false},
		{"the first run is to be split", Head{}, Head{Bound: bound, Written: 50}, true},
		{"a further run", Head{Bound: bound, Written: 50}, Head{Bound: bound, Written: 90}, false},
		{"4 KB are full", Head{Bound: bound, Written: 4090}, Head{Bound: bound, Written: 4100}, true},
		{"the merge before is not done yet", Head{Bound: bound, Written: 4100}, Head{Bound: bound, Written: 4200}, false},
		{"another 4 KB are full", Head{Bound: bound, Written: 8100}, Head{Bound: bound, Written: 9000}, true},
	} {
		if got := row.after.MergeDue(row.before); got != row.want {
			t.Errorf("%s: %v", row.why, got)
		}
	}
}

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
	f.Add(byte(3), Directory{Version: 7, References: []Reference{{Run: run}}, Inline: []Run{run}}.Encode())
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

// Without traits, the stored index is to the byte what it was before traits existed. The hashes are
// from that time.
func TestBytesWithoutTraits(t *testing.T) {
	cell := func(i int) *comment.Cell {
		return &comment.Cell{Language: []comment.Language{"en", "en", "de", "pt-BR"}[i%4], Rating: 1 + i*i%5}
	}
	at := func(i int) comment.Position {
		p := comment.FirstAt(begun.Add(time.Duration(i) * time.Minute))
		binary.BigEndian.PutUint64(p[8:], uint64(i)*0x9E3779B97F4A7C15)
		return p
	}
	head, entries := Start(comment.Stats{}, comment.Position{}, begun), sha256.New()
	var log []Entry
	for i := 0; i < 40_000; i += 20 {
		var changes []Change
		for j := i; j < i+20; j++ {
			changes = append(changes, Change{Position: at(j), To: cell(j)})
		}
		if i > 1000 { // an edit and a deletion in runs
			changes = append(changes, Change{Position: at(i - 900), From: cell(i - 900), To: cell(i - 899)}, Change{Position: at(i - 901), From: cell(i - 901)})
		}
		next, entry := head.Apply(changes)
		if head = next; entry != nil {
			log = append(log, *entry)
			entries.Write(entry.Encode())
		}
	}
	merge := must.Get(NewMerge(head, Directory{}, log))(t)
	result, chunks := merge.Result(7), sha256.New()
	for _, key := range slices.SortedFunc(maps.Keys(result.Chunks), func(a, b Key) int { return int(a.Number) - int(b.Number) }) {
		chunks.Write(result.Chunks[key].Encode())
	}
	directory, ofHead := sha256.Sum256(result.Directory.Encode()), sha256.Sum256(head.Encode())
	for what, row := range map[string]struct {
		hash []byte
		want string
	}{
		"entries of the log": {entries.Sum(nil), "53d75b40ec689f2f"}, "chunks": {chunks.Sum(nil), "eb8bab62c05561a7"},
		"directory": {directory[:], "5c8e69652c741a5f"}, "head": {ofHead[:], "d6199571c7489313"},
	} {
		if got := hex.EncodeToString(row.hash[:8]); got != row.want {
			t.Errorf("the %s of comments without traits: the bytes have the hash %s, want %s", what, got, row.want)
		}
	}
	if len(log) == 0 || len(result.Chunks) == 0 {
		t.Error("there are no entries, or no chunks")
	}
}
