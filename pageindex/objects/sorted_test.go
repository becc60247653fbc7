package objects

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// Comments that arrive in any order are returned by product, in the order of names and complete,
// however few are sorted in memory at once. No files are left.
func TestSorted(t *testing.T) {
	r := commenttest.Rand(t)
	for _, atOnce := range []int{1, 7, 100, sortedAtOnce} {
		s := must.Get(NewSorted())(t)
		s.sorter.Items = atOnce
		want := map[string]pageindex.Places{}
		for range 400 {
			c := commenttest.Random(r, []string{"a", "a b", "b", "ü"}[r.IntN(4)])
			if want[c.ProductID] == nil {
				want[c.ProductID] = pageindex.Places{}
			}
			want[c.ProductID].Add(c.Cell(), c.ID.Position())
			must.Do(t, s.Add(c.ProductID, c.Cell(), c.ID.Position()))
		}
		var names []string
		err := s.Each(func(product string, places pageindex.Places) error {
			names = append(names, product)
			for cell, positions := range want[product] {
				slices.SortFunc(positions, comment.Position.Compare)
				if !slices.Equal(places[cell], positions) {
					t.Errorf("%d at once: %q has %d places in %v, want %d", atOnce, product, len(places[cell]), cell, len(positions))
				}
			}
			if len(places) != len(want[product]) {
				t.Errorf("%d at once: %q has %d cells, want %d", atOnce, product, len(places), len(want[product]))
			}
			return nil
		})
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), names); err != nil || diff != "" {
			t.Errorf("%d at once: products (-want +got), %v:\n%s", atOnce, err, diff)
		}
		stop := errors.New("stop")
		if err := s.Each(func(string, pageindex.Places) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%v, want the caller's error", err)
		}
		must.Do(t, s.Close())
		if _, err := os.Stat(s.sorter.Folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", s.sorter.Folder, err)
		}
	}
}

// Without a folder for temporary files, or room in it, the error names the cure.
func TestNoTemporaryFiles(t *testing.T) {
	const cure = ": no such file or directory): set TMPDIR to a folder with room that this user may write to"
	t.Setenv("TMPDIR", t.TempDir())
	for atOnce, fails := range map[int]func(*Sorted) error{
		1: func(s *Sorted) error {
			return s.Add("cup", comment.Cell{Language: "en", Rating: 1}, comment.MaxPosition)
		},
		2: func(s *Sorted) error {
			_ = s.Add("cup", comment.Cell{Language: "en", Rating: 1}, comment.MaxPosition)
			return s.Each(func(string, pageindex.Places) error { return nil })
		},
	} {
		s := must.Get(NewSorted())(t)
		s.sorter.Items = atOnce
		must.Do(t, s.Close()) // the folder is gone, as if it had never been
		if err := fails(s); err == nil || !strings.HasPrefix(err.Error(), "temporary files cannot be written (") || !strings.HasSuffix(err.Error(), cure) {
			t.Errorf("%d at once: %v", atOnce, err)
		}
	}
	t.Setenv("TMPDIR", "/missing")
	if _, err := NewSorted(); err == nil || err.Error() != "temporary files cannot be written (stat /missing"+cure {
		t.Error(err)
	}
}

// BenchmarkSorted measures the memory that the comments of 1,000 products take once all are read,
// sorted and as a map.
//
//	go test ./pageindex/objects -run - -bench Sorted -benchtime 1x
func BenchmarkSorted(b *testing.B) {
	for _, comments := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint("comments=", comments), func(b *testing.B) {
			for b.Loop() {
				before := inUse()
				s := must.Get(NewSorted())(b)
				defer s.Close()
				many(b, comments, func(product string, cell comment.Cell, at comment.Position) { _ = s.Add(product, cell, at) })
				stop := errors.New("stop")
				if err := s.Each(func(string, pageindex.Places) error {
					b.ReportMetric(float64(inUse()-before)/1e6, "sorted-MB")
					return stop
				}); !errors.Is(err, stop) {
					b.Fatal(err)
				}

				before = inUse()
				all := map[string]pageindex.Places{}
				many(b, comments, func(product string, cell comment.Cell, at comment.Position) {
					if all[product] == nil {
						all[product] = pageindex.Places{}
					}
					all[product].Add(cell, at)
				})
				b.ReportMetric(float64(inUse()-before)/1e6, "map-MB")
				runtime.KeepAlive(all)
			}
		})
	}
}

// many adds random comments.
func many(b *testing.B, comments int, add func(product string, cell comment.Cell, at comment.Position)) {
	r := commenttest.Rand(b)
	for range comments {
		c := commenttest.Random(r, "")
		add(fmt.Sprintf("product-%d", r.IntN(1000)), c.Cell(), c.ID.Position())
	}
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Changes that wait for a merge keep nothing else in memory of the answers in which they came.
func TestItemsKeepNoAnswers(t *testing.T) {
	const answers, size = 32, 1 << 20
	before := inUse()
	var waiting []Item
	for i := range answers {
		product, language := strings.Repeat(strconv.Itoa(i)+"-", size)[:3], strings.Repeat("de", size)[:2]
		entries := []pageindex.Entry{{Product: product, Position: comment.Position{1}, Follows: stream.Position(strings.Repeat("1", size)[:9]), Cell: &comment.Cell{Language: comment.Language(language), Rating: 5}}}
		waiting = append(waiting, must.Get(itemsOf(entries, time.Now()))(t)...)
	}
	if grown := inUse() - before; len(waiting) != answers || grown > answers*size/4 {
		t.Errorf("%d changes keep %d bytes in memory", len(waiting), grown)
	}
	runtime.KeepAlive(waiting)
}
