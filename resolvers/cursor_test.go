package resolvers

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
)

var (
	coffee = list{product: "coffee", order: comment.NewestFirst, filter: comment.Filter{
		Languages: []comment.Language{"de", "en"}, Ratings: []int{1, 4},
	}}
	somewhere = comment.PositionAt(time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC), [10]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
)

// A cursor reads back as its place, cut nowhere, and only in its list. One of an order by rating
// contains the rating.
func TestCursorReadsBack(t *testing.T) {
	rated := list{product: "coffee", order: comment.HighestRated}
	for _, row := range []struct {
		of, other list
		place     comment.Place
		length    int // at most 64, as was promised
	}{
		{coffee, rated, *comment.At(somewhere), 36},
		{rated, coffee, comment.Place{Key: 5, Position: somewhere}, 42},
		{rated, coffee, comment.Place{Key: -3, Position: comment.MaxPosition}, 42},
	} {
		cursor := row.of.cursor(&row.place, row.of.fingerprint())
		if p, err := row.of.place("after", &cursor); err != nil || *p != row.place || len(cursor) != row.length {
			t.Errorf("%s reads back as %v, %v; want %v", cursor, p, err, row.place)
		}
		if p, err := row.other.place("after", &cursor); comment.KindOf(err) != comment.BadCursor {
			t.Errorf("in another list: %v, %v", p, err)
		}
		for length := 1; length < len(cursor); length++ { // an empty one counts as none
			cut := cursor[:length]
			if _, err := row.of.place("after", &cut); comment.KindOf(err) != comment.BadCursor {
				t.Errorf("%q is taken for a cursor", cut)
			}
		}
	}
}

// Cursors of the first release are valid for the same lists.
func TestKeptCursor(t *testing.T) {
	moment := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for cursor, of := range map[string]list{
		"AQGPNAaeAAECAwQFBgcICQrb1a-BnFxuVGQn": coffee,
		"AQGPNAaeAAECAwQFBgcICQqWlXGAtLRmlgVz": {product: "coffee", order: comment.NewestFirst},
		"AQGPNAaeAAECAwQFBgcICQrAlLSD7kl6fLwr": {product: "coffee", order: comment.OldestFirst, filter: comment.Filter{CreatedAfter: &moment}},
	} {
		if p, err := of.place("after", &cursor); err != nil || *p != *comment.At(somewhere) {
			t.Errorf("%s of %+v reads as %v, %v", cursor, of, p, err)
		}
	}
}

func TestCursorOfAnotherList(t *testing.T) {
	moment := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	later := moment.Add(time.Millisecond)
	change := func(f func(*list)) list { l := coffee; f(&l); return l }
	for why, other := range map[string]list{
		"product":              change(func(l *list) { l.product = "tea" }),
		"order":                change(func(l *list) { l.order = comment.OldestFirst }),
		"an order by rating":   change(func(l *list) { l.order = comment.LowestRated }),
		"no filter":            change(func(l *list) { l.filter = comment.Filter{} }),
		"one language less":    change(func(l *list) { l.filter.Languages = l.filter.Languages[:1] }),
		"another rating":       change(func(l *list) { l.filter.Ratings = []int{1, 5} }),
		"a start":              change(func(l *list) { l.filter.CreatedAfter = &moment }),
		"an end":               change(func(l *list) { l.filter.CreatedBefore = &moment }),
		"a millisecond later":  change(func(l *list) { l.filter.CreatedBefore = &later }),
		"product runs further": change(func(l *list) { l.product = "coffee NEWEST_FIRST" }),
	} {
		cursor := other.cursor(comment.At(somewhere), other.fingerprint())
		_, err := coffee.place("after", &cursor)
		if comment.KindOf(err) != comment.BadCursor || !strings.Contains(err.Error(), "another list") {
			t.Errorf("%s: %v, want a bad cursor of another list", why, err)
		}
	}
}

func TestDamagedCursor(t *testing.T) {
	good := coffee.cursor(comment.At(somewhere), coffee.fingerprint())
	refuse := func(cursor, why string) {
		t.Helper()
		if p, err := coffee.place("before", &cursor); comment.KindOf(err) != comment.BadCursor {
			t.Errorf("%s: %q reads as %v, %v; want a bad cursor", why, cursor, p, err)
		}
	}
	raw, _ := base64.RawURLEncoding.DecodeString(good)
	for bit := range 8 * len(raw) {
		flipped := append([]byte(nil), raw...)
		flipped[bit/8] ^= 1 << (bit % 8)
		refuse(base64.RawURLEncoding.EncodeToString(flipped), "one bit of the bytes flipped")
	}
	for bit := range 8 * len(good) {
		flipped := []byte(good)
		flipped[bit/8] ^= 1 << (bit % 8)
		refuse(string(flipped), "one bit of the text flipped")
	}
	refuse(good+"A", "longer")
	refuse(good[:9]+"\n"+good[9:], "with a line break, which base64 would skip")
	refuse(strings.Repeat("A", len(good)), "all zero")
	refuse("\xff\x00", "not even text")
}

// FuzzCursor looks for an accepted text that differs from the cursor it decodes to.
func FuzzCursor(f *testing.F) {
	f.Add(coffee.cursor(comment.At(somewhere), coffee.fingerprint()))
	f.Add("")
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := coffee.place("after", &cursor)
		if err != nil && comment.KindOf(err) != comment.BadCursor {
			t.Errorf("%q: %v is not a bad cursor", cursor, err)
		}
		if cursor == "" && p == nil && err == nil {
			return // counts as none
		}
		if err == nil && coffee.cursor(p, coffee.fingerprint()) != cursor {
			t.Errorf("%q reads as %v, whose cursor is another", cursor, p)
		}
	})
}
