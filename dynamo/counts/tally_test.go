package counts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/pageindex/runs"
)

var (
	globe = comment.IDOf(comment.Position{15: 1})
	plate = comment.IDOf(comment.Position{15: 2})

	english5 = &comment.Cell{Language: "en", Rating: 5}
	english1 = &comment.Cell{Language: "en", Rating: 1}
	german5  = &comment.Cell{Language: "de", Rating: 5}
)

// Each row tallies standings of a product. Where it was counted, the globe's marker is in english5
// at position 7.
func TestTallyUp(t *testing.T) {
	globe5 := marker{cell: english5, position: "7"}
	looked5 := globe5
	looked5.looked = true
	none, en5 := marker{}, comment.Stats{"en": {Counts: comment.Counts{4: 1}}}
	for _, row := range []struct {
		why       string
		globe     marker
		standings []standing
		want      comment.Stats
		marked    int
	}{
		{"a new comment is counted", none, []standing{{ID: globe, Cell: english5, position: "1"}}, en5, 1},
		{"two of one batch are one change of the statistics", none,
			[]standing{{ID: globe, Cell: english5, position: "1"}, {ID: plate, Cell: english5, position: "2"}}, comment.Stats{"en": {Counts: comment.Counts{4: 2}}}, 2},
		{"an edit moves a comment between its counts, by the marker and not by the record's old image", globe5,
			[]standing{{ID: globe, Cell: german5, position: "8"}}, comment.Stats{"de": {Counts: comment.Counts{4: 1}}}, 1},
		{"a deletion subtracts the comment and removes a language without comments", globe5, []standing{{ID: globe, position: "8"}}, comment.Stats{}, 1},
		{"a record that the marker follows already changes nothing", globe5, []standing{{ID: globe, Cell: english1, position: "7"}}, en5, 0},
		{"an earlier record, from a reader that fell behind, changes nothing", globe5, []standing{{ID: globe, position: "6"}}, en5, 0},
		{"an edit of the text alone costs no write", globe5, []standing{{ID: globe, Cell: english5, position: "8"}}, en5, 0},
		{"a change and its reversal in one batch are noted, so that a reader with the change alone is rejected", globe5,
			[]standing{{ID: globe, Cell: english5, position: "9", moved: true}}, en5, 1},
		{"the deletion of a comment that was never counted changes nothing", none, []standing{{ID: globe, position: "1"}}, comment.Stats{}, 0},
		{"a look at the comment counts, whatever record the marker follows", globe5,
			[]standing{{ID: globe, Cell: english1}}, comment.Stats{"en": {Counts: comment.Counts{1}}}, 1},
		{"the first record after a look is noted although it changes nothing, so that earlier records are rejected", looked5,
			[]standing{{ID: globe, Cell: english5, position: "8"}}, en5, 1},
		{"a look that finds nothing new costs no write", looked5, []standing{{ID: globe, Cell: english5}}, en5, 0},
	} {
		before := ledger{product: "p", statistics: statistics{stats: comment.Stats{}}, markers: map[comment.ID]marker{}}
		if row.globe.cell != nil {
			before.stats, before.markers[globe] = en5, row.globe
		}
		got := tallyUp(before, row.standings, maxItemsPerTransaction)
		check.Equal(t, row.want, got.after.stats, row.why)
		if len(got.markers) != row.marked || got.standings != len(row.standings) {
			t.Errorf("%s: %d markers of %d standings", row.why, len(got.markers), got.standings)
		}
	}
}

// A look at a comment leaves its marker's position unchanged, since the records after that position
// are still to come.
func TestLookingLeavesThePosition(t *testing.T) {
	before := ledger{markers: map[comment.ID]marker{globe: {cell: english5, position: "7"}}}
	got := tallyUp(before, []standing{{ID: globe, Cell: english1}}, maxItemsPerTransaction)
	if position := got.markers[0].after.position; position != "7" || !got.markers[0].after.looked {
		t.Errorf("the marker is at %q, looked %v; want 7, true", position, got.markers[0].after.looked)
	}
}

// The log of the page index has an entry for a comment that moved, and none for one that came back.
func TestNoEntryWithoutAMove(t *testing.T) {
	page := runs.Head{First: 1, Last: 1, Bound: comment.MaxPosition} // everything is below the head
	for rating, want := range map[int]bool{4: true, 5: false} {
		before := ledger{
			statistics: statistics{changes: 1, stats: comment.Stats{"en": {Counts: comment.Counts{4: 1}}}}, page: page,
			markers: map[comment.ID]marker{globe: {cell: english5, position: "7"}},
		}
		got := tallyUp(before, []standing{{ID: globe, Cell: &comment.Cell{Language: "en", Rating: rating}, position: "9", moved: true}}, maxItemsPerTransaction)
		if len(got.markers) != 1 || got.entry != nil != want {
			t.Errorf("now with %d stars: %d markers, entry %v", rating, len(got.markers), got.entry)
		}
	}
}

// However many languages and comments there are, the writes fit into a transaction. Standings that
// do not fit are left for the next.
func TestTallyFitsIntoATransaction(t *testing.T) {
	languages := []comment.Language{"aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii", "jj"}
	page := runs.Head{First: 1, Last: 1, Bound: comment.MaxPosition} // everything is below the head
	for _, looked := range []bool{false, true} {
		var standings []standing
		markers := map[comment.ID]marker{}
		for i := range 200 {
			id := comment.IDOf(comment.Position{14: byte(i >> 8), 15: byte(i)})
			markers[id] = marker{cell: &comment.Cell{Language: languages[i%10], Rating: 5}, position: "1"}
			s := standing{ID: id, Cell: &comment.Cell{Language: languages[(i+i/10)%10], Rating: 1 + i%5}, position: "2"}
			if looked {
				s.position = ""
			}
			standings = append(standings, s)
		}
		for rounds := 0; len(standings) > 0; rounds++ {
			got := tallyUp(ledger{statistics: statistics{stats: comment.Stats{"de": {Counts: comment.Counts{7}}}}, markers: markers, page: page}, standings, maxItemsPerTransaction-1)
			if got.entry == nil {
				t.Fatal("the log of the page index has no entry")
			}
			if writes := got.writes("t", 4, testTime); len(writes) > maxItemsPerTransaction-1 {
				t.Fatalf("%d writes in one transaction", len(writes))
			}
			if got.standings == 0 {
				t.Fatal("nothing fits")
			}
			standings = standings[got.standings:]
		}
	}
}

// Encoding and decoding keep all values.
func TestCountingItems(t *testing.T) {
	s := statistics{stats: comment.Stats{"en": {Counts: comment.Counts{1, 2, 3, 4, 5}}, "de": {Counts: comment.Counts{0, 0, 0, 0, 7}}}, changes: 12, hold: hold{owner: "a/b", until: testTime}, head: []byte("head")}
	fields, intact := cmp.AllowUnexported(statistics{}, hold{}, marker{}), cmp.Comparer(func(a, b stored) bool { return a.damage == b.damage })
	if diff := cmp.Diff(s, decodeStatistics(statisticsItem("p", s, 4)), fields, intact); diff != "" {
		t.Errorf("statistics: %s", diff)
	}
	for _, m := range []marker{{cell: english5, position: "2026/1"}, {position: "2026/1"}, {cell: german5, looked: true}} {
		if diff := cmp.Diff(m, decodeMarker(markerItem("p", globe, m, testTime)), fields, intact); diff != "" {
			t.Errorf("marker: %s", diff)
		}
	}
}

// The marker of a deleted comment outlives the records of the stream, which come for 24 hours and
// may then wait for one more.
func TestDeletedMarkersStay(t *testing.T) {
	ttl := layout.NewReader(markerItem("p", globe, marker{position: "1"}, testTime)).Number(layout.AttrTTL)
	if stays := time.Unix(ttl, 0).Sub(testTime); stays < 25*time.Hour {
		t.Errorf("it stays for %v", stays)
	}
}

// An item without a readable number of changes gets one above all that a process may have read.
func TestNumberOfChangesAfterDamage(t *testing.T) {
	for _, was := range []layout.Item{{layout.AttrChanges: layout.Text("x")}, {layout.AttrChanges: layout.Number(1 << 60)}} {
		damaged := decodeStatistics(was)
		if next := damaged.next(); damaged.damage == nil || next <= damaged.changes || next < 1_000_000_000 {
			t.Errorf("%v is followed by %d; %v", was, next, damaged.damage)
		}
	}
}

// A new page index covers the comments that are written while its statistics are read.
func TestNewIndexIsAheadOfClocks(t *testing.T) {
	soon := comment.FirstAt(testTime.Add(30 * time.Second))
	for _, newest := range []comment.Position{globe.Position(), comment.FirstAt(testTime.Add(time.Hour))} {
		head := startHead(comment.Stats{"en": {Counts: comment.Counts{4: 1}}}, newest, testTime)
		if head.Highest.Compare(soon) < 0 || head.Highest.Compare(newest) < 0 {
			t.Errorf("the highest position is %v, after %v", head.Highest.Time(), newest.Time())
		}
	}
}

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
