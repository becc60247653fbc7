package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/pageindex"
)

// BenchmarkStore measures jumps and writes of a product with many comments, and the server's memory
// for each comment.
func BenchmarkStore(b *testing.B) {
	for _, size := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			server := redistest.Start(b)
			s := must.Get(Open(b.Context(), server.URL(), "comments"))(b)
			defer s.Close()
			r := rand.New(rand.NewPCG(1, 2))
			fill(b, s, r, size)
			benchmarkFind(b, s, size)
			benchmarkApply(b, s, r, size)
		})
	}
}

// fill builds the store from random comments.
func fill(b *testing.B, s *Store, r *rand.Rand, size int) {
	begun, before := time.Now(), memory(b, s)
	build := must.Get(s.Build(b.Context()))(b)
	for from := 0; from < size; from += 1000 {
		var chunk []pageindex.Entry
		for i := range min(1000, size-from) {
			chunk = append(chunk, random(r, from+i))
		}
		must.Do(b, build.Add(b.Context(), chunk))
	}
	must.Do(b, build.Finish(b.Context(), "all"))
	b.Logf("%d comments: built in %v, %d bytes of memory each", size, time.Since(begun).Round(time.Millisecond), (memory(b, s)-before)/size)
}

// random returns comment number n, a minute after the one before.
func random(r *rand.Rand, n int) pageindex.Entry {
	c := commenttest.Random(r, product)
	cell := c.Cell()
	at := commenttest.Epoch.Add(time.Duration(n) * time.Minute)
	return pageindex.Entry{Product: product, Position: comment.PositionAt(at, [10]byte{1: byte(r.Uint32()), 9: byte(r.Uint32())}), Cell: &cell, Follows: follow(n)}
}

func memory(b *testing.B, s *Store) int {
	return must.Get(strconv.Atoi(fieldsOf(s.client.Info(b.Context()).Val())["used_memory"]))(b)
}

func benchmarkFind(b *testing.B, s *Store, size int) {
	after, before := commenttest.Epoch.Add(time.Duration(size/4)*time.Minute), commenttest.Epoch.Add(time.Duration(size/2)*time.Minute)
	for _, row := range []struct {
		name   string
		filter comment.Filter
	}{
		{"all", comment.Filter{}},
		{"1cell", comment.Filter{Languages: commenttest.Languages[:1], Ratings: []int{5}}},
		{"2ratings", comment.Filter{Ratings: []int{4, 5}}},
		{"2ratingsAndDates", comment.Filter{Ratings: []int{4, 5}, CreatedAfter: &after, CreatedBefore: &before}},
	} {
		list := pageindex.List{Product: product, Filter: row.filter, Order: comment.NewestFirst}
		for _, where := range []string{"page10", "middle"} {
			b.Run(row.name+"/"+where, func(b *testing.B) { find(b, s, list, where) })
		}
	}
}

func find(b *testing.B, s *Store, list pageindex.List, where string) {
	counted := must.Get(s.Find(context.Background(), list, nil))(b)
	rank := 180
	if where == "middle" {
		rank = counted.Counts.Total() / 2
	}
	waves := 0
	for b.Loop() {
		found := must.Get(s.Find(context.Background(), list, []pageindex.Target{{Rank: rank}}))(b)
		waves = found.Cost.Waves
	}
	b.ReportMetric(float64(waves), "waves")
}

func benchmarkApply(b *testing.B, s *Store, r *rand.Rand, size int) {
	for _, batch := range []int{1, 25, 500} {
		b.Run(fmt.Sprint("apply", batch), func(b *testing.B) {
			n := size
			for b.Loop() {
				var entries []pageindex.Entry
				for range batch {
					n++
					entries = append(entries, random(r, n))
				}
				must.Do(b, s.Apply(context.Background(), entries))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*batch), "us/entry")
		})
	}
}
