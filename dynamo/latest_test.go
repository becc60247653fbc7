package dynamo

import (
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

var (
	praise, complaint = []int{4, 5}, []int{1, 2}
	at                = func(n byte) comment.Position { return comment.Position{0: 1, 15: n} }
)

// rated returns bounds of German comments. The newest with 5 stars is at position 9, with 2 stars
// at 4, with 1 star at 3.
func rated() (*layout.Bounds, comment.Stats) {
	bounds, stats := &layout.Bounds{}, comment.Stats{}
	for rating, n := range map[int]byte{5: 9, 2: 4, 1: 3} {
		bounds.Enter(comment.Cell{Language: "de", Rating: rating}, 0, at(n))
		stats.Add(comment.Cell{Language: "de", Rating: rating}, 2)
	}
	return bounds, stats
}

// Statistics name the newest comment only if they are trusted and that comment still exists.
func TestNewest(t *testing.T) {
	for _, row := range []struct {
		why     string
		do      func(r *reader, m *memory)
		ratings []int
		want    comment.Position
		known   bool
	}{
		{"of two ratings", nil, complaint, at(4), true},
		{"of two ratings, one without comments", nil, praise, at(9), true},
		{"of a rating that has none", nil, []int{3}, comment.Position{}, true},
		{"it was deleted", func(r *reader, _ *memory) { r.newest.Leave(2, 1, at(4)) }, complaint, at(0), false},
		{"an older one was deleted", func(r *reader, _ *memory) { r.newest.Leave(1, 1, at(3)) }, complaint, at(4), true},
		{"positions are not known", func(r *reader, _ *memory) { r.newest = nil }, complaint, at(0), false},
		{"this server wrote", func(_ *reader, m *memory) { m.wrote("42") }, complaint, at(0), false},
		{"counting lags", func(r *reader, _ *memory) { r.lag = time.Minute }, complaint, at(0), false},
		{"how far is not known", func(r *reader, _ *memory) { r.unknown = true }, complaint, at(0), false},
	} {
		r := &reader{lag: time.Second}
		inTime(t, r, func(t *testing.T, m *memory) {
			r.newest, r.stats = rated()
			if row.do != nil {
				row.do(r, m)
			}
			settle(m)
			got, known := m.newest("42", row.ratings, 20)
			if known != row.known || known && got != row.want {
				t.Errorf("%s: %v, known %v", row.why, got, known)
			}
		})
	}
	var none *memory
	if _, known := none.newest("42", praise, 20); known {
		t.Error("a store without statistics knows the newest")
	}
}

// likely returns the newest comments of the wanted ratings that no page of that size has shown, as
// long as no newer comment is known.
func TestWhichNewestAreLikely(t *testing.T) {
	r := &reader{lag: time.Second}
	inTime(t, r, func(t *testing.T, m *memory) {
		r.newest, r.stats = rated()
		want := func(among int) comment.Latest {
			return comment.Latest{Ratings: [][]int{praise, complaint}, Among: among}
		}
		settle(m)
		if ids := m.likely([]string{"42"}, want(20)); ids != nil {
			t.Errorf("%v, though pages showed them", ids)
		}
		m.newest("42", complaint, 20)
		beyond := []comment.ID{comment.IDOf(at(4))}
		for among, ids := range map[int][]comment.ID{3: beyond, 20: beyond, 21: nil} {
			if got := m.likely([]string{"41", "42"}, want(among)); !slices.Equal(got, ids) {
				t.Errorf("beside a page of %d: %v, want %v", among, got, ids)
			}
		}
		m.noteChange("42", at(10), &comment.Cell{Language: "de", Rating: 1})
		if ids := m.likely([]string{"42"}, want(20)); ids != nil {
			t.Errorf("%v, though another is newer", ids)
		}
	})
}

// The newest praise that becomes a complaint is named once: a call that fetches it twice is
// refused.
func TestNewestOfAnotherRating(t *testing.T) {
	r := &reader{lag: time.Second}
	inTime(t, r, func(t *testing.T, m *memory) {
		r.newest, r.stats = rated()
		settle(m)
		m.newest("42", praise, 20)
		r.newest, r.stats = rated()
		r.newest.Leave(5, 1, at(9))
		r.newest.Enter(comment.Cell{Language: "de", Rating: 1}, 2, at(9))
		time.Sleep(trustFor)
		settle(m)
		m.newest("42", complaint, 20)
		want := comment.Latest{Ratings: [][]int{praise, complaint}, Among: 20}
		if ids, moved := m.likely([]string{"42"}, want), []comment.ID{comment.IDOf(at(9))}; !slices.Equal(ids, moved) {
			t.Errorf("%v, want %v", ids, moved)
		}
	})
}

// A watermark is trusted if it is young, by clocks that agree.
func TestTrusting(t *testing.T) {
	inTime(t, &reader{}, func(t *testing.T, m *memory) {
		now := time.Now()
		for _, row := range []struct {
			why        string
			upTo, want time.Time
		}{
			{"now", now, now},
			{"at the end of its age", now.Add(-trustFor), now.Add(-trustFor)},
			{"older", now.Add(-trustFor - 1), time.Time{}},
			{"a little ahead", now.Add(clockMargin), now},
			{"far ahead", now.Add(clockMargin + 1), time.Time{}},
			{"unknown", time.Time{}, time.Time{}},
		} {
			if got := m.trusting(row.upTo); !got.Equal(row.want) {
				t.Errorf("%s: %v, want %v", row.why, got, row.want)
			}
		}
		m.maxAge = 0
		if got := m.trusting(now); !got.IsZero() {
			t.Errorf("%v is trusted where nothing is", got)
		}
	})
}

// A comment that is not shown, or is gone, comes beside statistics like one that does not exist.
// Ids that were left, or whose items are malformed, are unknown.
func TestWhatComesBesideStatistics(t *testing.T) {
	shown := commenttest.Many(commenttest.Rand(t), "42", 5)
	pending := shown[1]
	pending.Status, pending.Moderation = comment.Pending, &comment.Moderation{Held: []comment.HoldReason{comment.HeldLink}, Since: time.Unix(1, 0)}
	damaged := layout.Encode(shown[3])
	delete(damaged, layout.AttrRating)
	items := []layout.Item{layout.Encode(shown[0]), layout.Encode(pending), layout.Tombstone(shown[2].ID, "", time.Unix(1, 0)), damaged}
	var ids []comment.ID
	for _, c := range shown {
		ids = append(ids, c.ID)
	}
	got := new(Store).besides(t.Context(), ids, items, ids[4:], false)
	if len(got) != 3 || got[ids[0]] == nil || got[ids[1]] != nil || got[ids[2]] != nil {
		t.Errorf("%v, want the first, and none of the second and third", got)
	}
}
