package markers

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// entry returns the entry of comment n, which is deleted if cell is 0. Otherwise cell is its
// rating.
func entry(n, cell int, follows string) pageindex.Entry {
	e := pageindex.Entry{
		Product: "4711", Position: comment.PositionAt(commenttest.Epoch.Add(time.Duration(n)*time.Second), [10]byte{9: byte(n)}),
		Follows: stream.Position(follows),
	}
	if cell > 0 {
		e.Cell = &comment.Cell{Language: "de", Rating: cell}
	}
	return e
}

// lists are the lists that tests look up: one cell and several.
var lists = []pageindex.List{
	{Product: "4711", Order: comment.NewestFirst},
	{Product: "4711", Order: comment.OldestFirst, Filter: comment.Filter{Ratings: []int{5}}},
}

// ranks returns targets all over a list.
func ranks() (out []pageindex.Target) {
	for rank := 0; rank < 140; rank += 9 {
		out = append(out, pageindex.Target{Rank: rank, Exact: true})
	}
	return out
}

// answers returns what an index finds, without costs, and nil where it is Unavailable.
func answers(t *testing.T, index pageindex.Index) (out []*pageindex.Found) {
	t.Helper()
	for _, list := range lists {
		found, err := index.Find(t.Context(), list, ranks())
		found.Cost = pageindex.Cost{}
		switch {
		case comment.KindOf(err) == comment.Unavailable:
			out = append(out, nil)
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, &found)
		}
	}
	return out
}

// A process that ends at any call of a write leaves right answers, or none where stamps are wrong.
// The next write of the product finishes the work.
func TestInterruptedAnywhere(t *testing.T) {
	client, r := call.NewLocalClient(dynamotest.Dynoxide(t)), commenttest.Rand(t)
	unavailable := 0
	var before, after []pageindex.Entry
	for n := range 120 {
		before = append(before, entry(n, 4+n%2, "1"))
	}
	for n := range 12 { // deletions and edits near the oldest, and some new comments
		after = append(after, entry(3*n, n%3, "2"), entry(200+n, 5, "2"))
	}
	wants := [2][]*pageindex.Found{answers(t, modelOf(t, before)), answers(t, modelOf(t, slices.Concat(before, after)))}
	for calls := 1; ; calls += commenttest.Stride(r, 4) { // stamps are wrong before some five of the calls
		table := newTable(t, client)
		whole := small(Open(client, table))
		apply(t, whole, before)
		ctx, cancel := context.WithCancel(t.Context())
		fault := []faulttest.Fault{faulttest.Refused, faulttest.AnswerLost}[r.IntN(2)]
		spoiled, network := faulttest.Under(client, func(n int) faulttest.Fault {
			if n < calls {
				return faulttest.None
			}
			cancel()
			return fault
		})
		err := small(Open(spoiled, table)).Apply(ctx, after)
		cancel()
		for i, got := range answers(t, whole) {
			if got == nil {
				unavailable++
			} else if cmp.Diff(got, wants[0][i]) != "" && cmp.Diff(got, wants[1][i]) != "" {
				t.Errorf("ended at call %d (%s): the answer is neither that from before nor that from after: %s", calls, fault, cmp.Diff(wants[1][i], got))
			}
		}
		apply(t, whole, after)
		if diff := cmp.Diff(wants[1], answers(t, whole)); diff != "" {
			t.Errorf("ended at call %d (%s), then written again: %s", calls, fault, diff)
		}
		if err == nil && network.Calls() < calls {
			break
		}
	}
	if unavailable == 0 {
		t.Error("no answer was refused: nothing was looked at while stamps were wrong")
	}
}

func modelOf(t *testing.T, entries []pageindex.Entry) *conformance.Model {
	t.Helper()
	m := conformance.NewModel()
	apply(t, m, entries)
	return m
}

func apply(t *testing.T, store pageindex.Store, entries []pageindex.Entry) {
	t.Helper()
	must.Do(t, store.Apply(t.Context(), entries))
}

// A build whose answers are lost is finished all the same, and only once.
func TestBuildOverABadNetwork(t *testing.T) {
	client, r := call.NewLocalClient(dynamotest.Dynoxide(t)), commenttest.Rand(t)
	table := newTable(t, client)
	for range commenttest.Times(3, 30) {
		spoiled, _ := faulttest.Under(client, faulttest.OneIn(r, 6))
		s := small(Open(spoiled, table))
		var b pageindex.Build
		retry(t, func() (err error) { b, err = s.Build(t.Context()); return err })
		retry(t, func() error { return b.Add(t.Context(), []pageindex.Entry{entry(1, 5, "1"), entry(2, 4, "1")}) })
		retry(t, func() error { return b.Finish(t.Context(), "all") })
		whole := Open(client, table)
		conformance.CheckCovers(t, whole, "all")
		if found, err := whole.Find(t.Context(), lists[0], nil); err != nil || found.Counts != (comment.Counts{3: 1, 4: 1}) {
			t.Errorf("%+v %v", found, err)
		}
	}
}

// retry repeats a call that fails, like the keeper of a store. A conflict would end the build.
func retry(t *testing.T, what func() error) {
	t.Helper()
	for range 100 {
		err := what()
		if err == nil {
			return
		}
		if comment.KindOf(err) == comment.Conflict {
			t.Fatal(err)
		}
	}
	t.Fatal("it fails each time")
}

// A generation that begins while entries are written gets them too, and a generation that ends
// keeps none of them.
func TestBuildDuringApply(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := newTable(t, client)
	other := Open(client, table)
	apply(t, other, []pageindex.Entry{entry(1, 5, "1")})
	spoiled, _ := faulttest.Under(client, func(n int) faulttest.Fault {
		if n != 2 { // once the generations have been read
			return faulttest.None
		}
		b, err := other.Build(t.Context())
		if err == nil {
			err = b.Finish(t.Context(), "empty")
		}
		if err != nil {
			t.Error(err)
		}
		return faulttest.None
	})
	apply(t, Open(spoiled, table), []pageindex.Entry{entry(2, 5, "1")})
	if found, err := other.Find(t.Context(), lists[0], nil); err != nil || found.Counts.Total() != 1 {
		t.Errorf("%+v %v", found, err)
	}
	gone := entry(2, 0, "2")
	apply(t, other, []pageindex.Entry{gone})
	if left := held(t, client, table, "4711"); len(left) > 0 {
		t.Errorf("the table still holds %q", left)
	}
}

// A build that begins while another one ends takes nothing back.
func TestBuildsMeet(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := newTable(t, client)
	other := Open(client, table)
	conformance.Build(t, other, []pageindex.Entry{entry(1, 5, "1")}, "first")
	spoiled, _ := faulttest.Under(client, func(n int) faulttest.Fault {
		if n == 2 { // once the generations have been read
			conformance.Build(t, other, []pageindex.Entry{entry(2, 5, "1")}, "second")
		}
		return faulttest.None
	})
	b := must.Get(Open(spoiled, table).Build(t.Context()))(t)
	conformance.CheckCovers(t, other, "second")
	if found, err := other.Find(t.Context(), lists[0], nil); err != nil || found.Counts.Total() != 1 {
		t.Errorf("%+v %v", found, err)
	}
	must.Do(t, b.Finish(t.Context(), "third"))
	conformance.CheckCovers(t, other, "third")
}

// Whatever changes between two reads, an answer describes one state.
func TestChangesBetweenReads(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := newTable(t, client)
	var entries []pageindex.Entry
	for n := range 60 {
		entries = append(entries, entry(n, 4+n%2, "1"))
	}
	other := small(Open(client, table))
	apply(t, other, entries)
	version, wants := "1", modelOf(t, entries)
	for at := 2; at < 12; at++ {
		spoiled, _ := faulttest.Under(client, func(n int) faulttest.Fault {
			if n == at { // comments change cells, and keep their places
				version += "~"
				apply(t, other, []pageindex.Entry{entry(5, 4+at%2, version), entry(6, 4+at%2, version), entry(31, 5-at%2, version)})
			}
			return faulttest.None
		})
		want := must.Get(wants.Find(t.Context(), lists[0], ranks()))(t)
		found := must.Get(small(Open(spoiled, table)).Find(t.Context(), lists[0], ranks()))(t)
		if diff := cmp.Diff(want.Boundaries, found.Boundaries); diff != "" || found.Counts.Total() != 60 {
			t.Errorf("changed before call %d: %v: %s", at, found.Counts, diff)
		}
	}
}

// A lookup whose generation ends under way answers from the next one, however much of the old one a
// sweep deletes before it is killed.
func TestGenerationEndsBetweenReads(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := newTable(t, client)
	var entries []pageindex.Entry
	for n := range 60 {
		entries = append(entries, entry(n, 4+n%2, "1"))
	}
	other := small(Open(client, table))
	conformance.Build(t, other, entries, "first")
	targets := []pageindex.Target{{At: &entries[31].Position}}
	want := must.Get(modelOf(t, entries).Find(t.Context(), lists[0], targets))(t)
	for at := 2; at < 9; at++ {
		for _, swept := range []int{6, 7, 9, 20} {
			b := must.Get(other.Build(t.Context()))(t)
			must.Do(t, b.Add(t.Context(), entries))
			reading, _ := faulttest.Under(client, func(n int) faulttest.Fault {
				if n == at {
					g := must.Get(other.finish(t.Context(), b.(*building).generation, "next"))(t)
					ctx, kill := context.WithCancel(t.Context())
					defer kill()
					killed, _ := faulttest.Under(client, func(n int) faulttest.Fault {
						if n > swept {
							kill()
						}
						return faulttest.None
					})
					_ = Open(killed, table).sweep(ctx, g)
				}
				return faulttest.None
			})
			found, err := small(Open(reading, table)).Find(t.Context(), lists[0], targets)
			if diff := cmp.Diff(want.Boundaries, found.Boundaries); err != nil || diff != "" || found.Counts != want.Counts {
				t.Errorf("ended before call %d, swept for %d calls: %v, %v: %s", at, swept, err, found.Counts, diff)
			}
		}
	}
}
