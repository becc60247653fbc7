package objects

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// random returns roughly the n-th comment, in one of 25 cells.
func random(r *rand.Rand, n int) pageindex.Entry {
	var distinct [10]byte
	for i := range distinct {
		distinct[i] = byte(r.Uint32())
	}
	return pageindex.Entry{
		Product: "espresso", Position: comment.PositionAt(time.UnixMilli(1_600_000_000_000+int64(n)*1000), distinct),
		Cell:    &comment.Cell{Language: []comment.Language{"de", "en", "es", "fr", "it"}[r.IntN(5)], Rating: 1 + r.IntN(comment.MaxRating)},
		Follows: stream.Position(fmt.Sprintf("2026-11-22T07:57:30.123/%040d", r.Int64())),
	}
}

// BenchmarkFolder measures a jump to a random page, a build, a change, and a merge of 20,000
// changes anywhere.
func BenchmarkFolder(b *testing.B) {
	for _, comments := range []int{1000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(comments), func(b *testing.B) { benchmarkFolder(b, comments) })
	}
}

func benchmarkFolder(b *testing.B, comments int) {
	r := rand.New(rand.NewPCG(1, 2))
	set := folderSettings
	set.mergeAt, set.mergeEvery = 1<<20, time.Hour
	s := must.Get(openIn(b.Context(), b.TempDir(), set))(b)
	defer func() { _ = s.Close() }()
	var entries []pageindex.Entry
	for i := range comments {
		entries = append(entries, random(r, i))
	}
	r.Shuffle(comments, func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	build := func(b *testing.B) {
		building := must.Get(s.Build(b.Context()))(b)
		for chunk := range slices.Chunk(entries, 1000) {
			must.Do(b, building.Add(b.Context(), chunk))
		}
		must.Do(b, building.Finish(b.Context(), "built"))
	}
	build(b)
	b.Run("Build", func(b *testing.B) {
		for b.Loop() {
			build(b)
		}
	})
	b.Run("Find", func(b *testing.B) {
		list := pageindex.List{Product: "espresso", Filter: comment.Filter{Languages: []comment.Language{"de"}, Ratings: []int{4, 5}}, Order: comment.NewestFirst}
		for b.Loop() {
			must.Get(s.Find(b.Context(), list, []pageindex.Target{{Rank: r.IntN(comments / 13), Exact: true}}))(b)
		}
	})
	b.Run("Apply", func(b *testing.B) {
		for b.Loop() {
			must.Do(b, s.Apply(b.Context(), []pageindex.Entry{random(r, r.IntN(comments))}))
		}
	})
	b.Run("Merge", func(b *testing.B) {
		for b.Loop() {
			for range 20 {
				var more []pageindex.Entry
				for range 1000 {
					more = append(more, random(r, r.IntN(comments)))
				}
				must.Do(b, s.Apply(b.Context(), more))
			}
			must.Do(b, s.merger.merge(b.Context()))
		}
	})
}
