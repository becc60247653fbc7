package runs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

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
