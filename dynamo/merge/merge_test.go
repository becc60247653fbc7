package merge_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/dynamo/merge"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// pile is a source under test. It yields its items in batches of given sizes, and ends with its
// last item or with an empty batch after it.
type pile struct {
	items   []int
	batches []int
	halves  int // number of batches after which it ends, and two further sources yield the rest; 0 for never
	lateEnd bool
	gap     int // distance of a batch's bound below the next item; 0 for no bounds
}

func (p *pile) next() merge.Batch[int] {
	size := len(p.items)
	if len(p.batches) > 0 {
		size, p.batches = min(p.batches[0], size), p.batches[1:]
	}
	batch := merge.Batch[int]{Items: p.items[:size]}
	p.items = p.items[size:]
	if p.gap > 0 && len(p.items) > 0 {
		batch.Bound = new(p.items[0] - p.gap)
	}
	batch.Done = len(p.items) == 0 && !p.lateEnd
	p.lateEnd = p.lateEnd && len(p.items) > 0
	return batch
}

// fillFrom reads on in piles. It fails the test when the merger breaks the contract of Fill.
func fillFrom(t interface{ Fatalf(string, ...any) }, piles []*pile) merge.Fill[int] {
	return func(_ context.Context, dry []int, missing int) ([]merge.Batch[int], error) {
		if len(dry) == 0 || !slices.IsSorted(dry) || missing < 1 {
			t.Fatalf("fill asked for sources %v while %d items are missing", dry, missing)
		}
		var out, further []merge.Batch[int]
		for _, number := range dry {
			p := piles[number]
			if p.halves--; p.halves != 0 {
				out = append(out, p.next())
				continue
			}
			out = append(out, merge.Batch[int]{Done: true})
			even, odd := &pile{gap: p.gap, halves: 2}, &pile{batches: p.batches, lateEnd: p.lateEnd}
			for _, item := range p.items {
				half := [...]*pile{even, odd}[item%2]
				half.items = append(half.items, item)
			}
			piles, further = append(piles, even, odd), append(further, even.next(), odd.next())
		}
		return append(out, further...), nil
	}
}

// deal distributes sorted items over piles, some items to two piles.
func deal(t *rapid.T, items []int) []*pile {
	piles := make([]*pile, rapid.IntRange(1, 7).Draw(t, "piles"))
	for i := range piles {
		piles[i] = &pile{
			batches: rapid.SliceOfN(rapid.IntRange(0, 5), 0, 6).Draw(t, "batches"),
			lateEnd: rapid.Bool().Draw(t, "lateEnd"),
			gap:     rapid.IntRange(0, 5).Draw(t, "gap"),
			halves:  rapid.IntRange(0, 3).Draw(t, "halves"),
		}
	}
	for _, item := range items {
		copies := rapid.SliceOfN(rapid.IntRange(0, len(piles)-1), 1, 2).Draw(t, "copies")
		for _, number := range slices.Compact(slices.Sorted(slices.Values(copies))) {
			piles[number].items = append(piles[number].items, item)
		}
	}
	return piles
}

// A source whose bound lies at or above the items of the others is not read again, even if it has
// yielded nothing yet.
func TestBoundsSpareRounds(t *testing.T) {
	for _, row := range []struct {
		why    string
		bound  int
		rounds int
	}{
		{"all further items are above those taken", 30, 1},
		{"further items may be below those taken", 15, 2},
		{"a further item may be the very next", 29, 2},
	} {
		rounds := 0
		merger := merge.New(2, compare, func(context.Context, []int, int) ([]merge.Batch[int], error) {
			if rounds++; rounds == 1 {
				return []merge.Batch[int]{{Items: []int{10, 20, 30}}, {Bound: &row.bound}}, nil
			}
			return nil, errEnough
		})
		_, err := merger.Take(t.Context(), 3)
		if rounds != row.rounds || (err != nil) != (row.rounds > 1) {
			t.Errorf("%s: %d waves, want %d; %v", row.why, rounds, row.rounds, err)
		}
	}
}

var errEnough = errors.New("asked again")

func TestMergeGivesBackWhatWasDealt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOf(rapid.IntRange(0, 99)).Draw(t, "items"))))
		piles := deal(t, want)
		merger := merge.New(len(piles), compare, fillFrom(t, piles))
		if rapid.Bool().Draw(t, "ahead") {
			merger.ReadAhead(distance)
		}
		var got []int
		for {
			n := rapid.IntRange(1, 9).Draw(t, "take")
			part := must.Get(merger.Take(t.Context(), n))(t)
			got = append(got, part...)
			if len(part) > n {
				t.Fatalf("took %d of %d", len(part), n)
			}
			if len(part) < n {
				break
			}
		}
		if !slices.Equal(want, got) {
			t.Fatalf("merged %v, dealt %v", got, want)
		}
	})
}

func distance(a, b *int) float64 { return float64(*b - *a) }

func compare(a, b *int) int { return cmp.Compare(*a, *b) }

// A source that will probably run dry before Take has enough is read together with a dry one, which
// saves a further wave.
func TestReadAhead(t *testing.T) {
	for _, row := range []struct {
		why   string
		bound [2]int // of the first source, after 10 and 20; and of the second, after 11
		take  int
		want  []int // the sources of the second fill
	}{
		{"the second has only one left, and 12 items are missing", [2]int{20, 25}, 14, []int{0, 1}},
		{"the second has none left below its bound, which is its last item", [2]int{20, 22}, 14, []int{0, 1}},
		{"five more or less of the first come before the second goes on, and five are missing", [2]int{20, 45}, 8, []int{0, 1}},
		{"the first yields one for 10, so some 98 come before the second goes on", [2]int{20, 1000}, 14, []int{0}},
		{"as many as are missing are at hand before the second goes on", [2]int{20, 25}, 4, []int{0}},
	} {
		var second []int
		before := 0
		var merger *merge.Merger[int]
		merger = merge.New(2, compare, func(_ context.Context, dry []int, missing int) ([]merge.Batch[int], error) {
			if second == nil {
				second = []int{}
				return []merge.Batch[int]{{Items: []int{10, 20}, Bound: &row.bound[0]}, {Items: []int{11, 22}, Bound: &row.bound[1]}}, nil
			}
			second, before = dry, merger.Before(1)
			return nil, errEnough
		})
		merger.ReadAhead(distance)
		_, _ = merger.Take(t.Context(), row.take)
		if !slices.Equal(second, row.want) || len(second) > 0 && before != 1 {
			t.Errorf("%s: sources %v are read on, want %v; %d items come before the rest of the second", row.why, second, row.want, before)
		}
	}
}

// Every read costs money, so Take makes none that it does not need.
func TestTakeReadsNoMoreThanItMust(t *testing.T) {
	fills := 0
	merger := merge.New(2, compare, func(context.Context, []int, int) ([]merge.Batch[int], error) {
		fills++
		return []merge.Batch[int]{{Items: []int{1, 3}}, {Items: []int{2, 4}}}, nil
	})
	if got, err := merger.Take(t.Context(), 0); len(got) != 0 || err != nil || fills != 0 {
		t.Errorf("taking none gave %v, %v after %d fills", got, err, fills)
	}
	if got, err := merger.Take(t.Context(), 3); !slices.Equal(got, []int{1, 2, 3}) || err != nil || fills != 1 {
		t.Errorf("taking three gave %v, %v after %d fills; want one, though a source is dry afterwards", got, err, fills)
	}
}

// What was taken is the caller's: appending to it does not change what is taken next.
func TestTakenItemsAreTheCallers(t *testing.T) {
	merger := merge.New(1, compare, func(context.Context, []int, int) ([]merge.Batch[int], error) {
		return []merge.Batch[int]{{Items: []int{1, 2, 3}, Done: true}}, nil
	})
	first, err := merger.Take(t.Context(), 1)
	_ = append(first, 9)
	if next, more := merger.Take(t.Context(), 2); err != nil || more != nil || !slices.Equal(next, []int{2, 3}) {
		t.Errorf("next comes %v, %v, %v", next, err, more)
	}
}

func TestAllDrySourcesAreReadAtOnce(t *testing.T) {
	var asked [][]int
	merger := merge.New(3, compare, func(_ context.Context, dry []int, _ int) ([]merge.Batch[int], error) {
		asked = append(asked, dry)
		if len(asked) == 1 {
			return []merge.Batch[int]{{}, {Items: []int{1}, Done: true}, {}}, nil
		}
		return []merge.Batch[int]{{Done: true}, {Items: []int{2}, Done: true}}, nil
	})
	got, err := merger.Take(t.Context(), 9)
	if err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Errorf("got %v, %v", got, err)
	}
	if diff := gocmp.Diff([][]int{{0, 1, 2}, {0, 2}}, asked); diff != "" {
		t.Errorf("waves: %s", diff)
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		why  string
		fill func(call int) ([]merge.Batch[int], error)
		want error
	}{
		{"an error of the first read", func(int) ([]merge.Batch[int], error) { return nil, broken }, broken},
		{"an error of a later read, though items were there", func(call int) ([]merge.Batch[int], error) {
			if call > 1 {
				return nil, broken
			}
			return []merge.Batch[int]{{Items: []int{1}}}, nil
		}, broken},
		{"a source out of order inside a batch", func(int) ([]merge.Batch[int], error) {
			return []merge.Batch[int]{{Items: []int{1, 3, 2}}}, nil
		}, merge.ErrOrder},
		{"a source that repeats itself in the next batch", func(int) ([]merge.Batch[int], error) {
			return []merge.Batch[int]{{Items: []int{1}}}, nil
		}, merge.ErrOrder},
	} {
		calls := 0
		merger := merge.New(1, compare, func(context.Context, []int, int) ([]merge.Batch[int], error) {
			calls++
			return row.fill(calls)
		})
		for range 2 { // later calls fail too
			if got, err := merger.Take(t.Context(), 5); !errors.Is(err, row.want) || got != nil {
				t.Errorf("%s: %v, %v; want no items and %v", row.why, got, err, row.want)
			}
		}
	}
	short := merge.New(2, compare, func(context.Context, []int, int) ([]merge.Batch[int], error) {
		return []merge.Batch[int]{{}}, nil
	})
	if _, err := short.Take(t.Context(), 1); err == nil {
		t.Error("one batch for two sources went unnoticed")
	}
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	merger := merge.New(1, compare, func(context.Context, []int, int) ([]merge.Batch[int], error) {
		cancel()
		return []merge.Batch[int]{{}}, nil // without the check, Take would read forever
	})
	if _, err := merger.Take(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
}

func BenchmarkTake(b *testing.B) {
	for _, sources := range []struct {
		name  string
		count int
	}{{"1 source", 1}, {"4 sources", 4}, {"32 sources", 32}} {
		b.Run(sources.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				merger := merge.New(sources.count, compare, func(_ context.Context, dry []int, _ int) ([]merge.Batch[int], error) {
					out := make([]merge.Batch[int], len(dry))
					for i := range out {
						items := make([]int, 22)
						for j := range items {
							items[j] = j*sources.count + i
						}
						out[i] = merge.Batch[int]{Items: items, Done: true}
					}
					return out, nil
				})
				must.Get(merger.Take(b.Context(), 22))(b)
			}
		})
	}
}
