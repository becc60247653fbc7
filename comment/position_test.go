package comment_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

func anyPosition(t *rapid.T, label string) comment.Position {
	return comment.Position(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
}

// A position is a ULID: text, order and time are those of the reference implementation.
func TestPositionIsULID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := anyPosition(t, "p"), anyPosition(t, "q")
		if got, want := p.String(), ulid.ULID(p).String(); got != want {
			t.Fatalf("text is %s, of the reference %s", got, want)
		}
		if got, want := p.Time().UnixMilli(), int64(ulid.ULID(p).Time()); got != want {
			t.Fatalf("time is %d ms, of the reference %d", got, want)
		}
		if got, want := (comment.Comment{ID: comment.IDOf(p)}).CreatedAt(), p.Time(); got != want {
			t.Fatalf("a comment is created at %s, its position is at %s", got, want)
		}
		back, err := comment.ParsePosition(p.String())
		if err != nil || back != p {
			t.Fatalf("%s reads back as %v, %v", p, back, err)
		}
		if got, want := p.Compare(q), bytes.Compare(p[:], q[:]); got != want {
			t.Fatalf("compare is %d, of the bytes %d", got, want)
		}
		if got, want := p.Compare(q), strings.Compare(p.String(), q.String()); got != want {
			t.Fatalf("compare is %d, of the texts %d: the table sorts by text", got, want)
		}
	})
}

func TestNeighbouringPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPosition(t, "p")
		if p != comment.MaxPosition && (p.Next().Compare(p) <= 0 || p.Next().Previous() != p) {
			t.Fatalf("the next of %s is %s, whose previous is %s", p, p.Next(), p.Next().Previous())
		}
	})
	carry := comment.Position{14: 1, 15: 255}
	if got, want := carry.Next(), (comment.Position{14: 2}); got != want {
		t.Errorf("next of %v is %v, want %v: a full byte carries over", carry, got, want)
	}
	if got := comment.MaxPosition.Next(); got != comment.MaxPosition {
		t.Errorf("next of the highest is %s", got)
	}
	if got := (comment.Position{}).Previous(); got != (comment.Position{}) {
		t.Errorf("previous of the lowest is %s", got)
	}
}

func TestParsePositionRefuses(t *testing.T) {
	for _, row := range []struct{ text, why string }{
		{"", "empty"},
		{"01HZ000000000000000000000", "a character short"},
		{"01HZ00000000000000000000000", "a character long"},
		{"01hz0000000000000000000000", "lower case: one text for each position, since the table compares texts"},
		{"01HZ000000000000000000000I", "I is not in the alphabet"},
		{"81HZ0000000000000000000000", "more than 128 bits"},
		{"01HZ0000000000\n00000000000", "a line break, which base32 would skip"},
	} {
		if p, err := comment.ParsePosition(row.text); err == nil {
			t.Errorf("%q is read as %s: %s", row.text, p, row.why)
		}
	}
}

func TestFirstAtIsTheLowestOfItsMillisecond(t *testing.T) {
	moment := time.Date(2024, 5, 1, 12, 0, 0, int(123456789), time.UTC)
	first := comment.FirstAt(moment)
	if got, want := first.Time(), moment.Truncate(time.Millisecond); !got.Equal(want) {
		t.Errorf("its time is %s, want %s", got, want)
	}
	if before := first.Previous(); !before.Time().Before(first.Time()) {
		t.Errorf("%s is below it and of the same millisecond", before)
	}
	if got := comment.FirstAt(time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)); got != (comment.Position{}) {
		t.Errorf("a time before 1970 stands at %s, want the lowest", got)
	}
	latest := comment.FirstAt(time.Date(10889, 8, 2, 5, 31, 50, 655e6, time.UTC)) // the last millisecond that a position holds
	if got := comment.FirstAt(time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)); got != latest || latest.Time().UnixMilli() != 1<<48-1 {
		t.Errorf("a time beyond all positions stands at %s, want %s", got, latest)
	}
}

func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPosition(t, "p")
		id, err := comment.ParseID(string(comment.IDOf(p)))
		if err != nil || id.Position() != p {
			t.Fatalf("the id of %s reads back as %s, %v", p, id, err)
		}
	})
	for _, text := range []string{"", "c_", "42", "C_01HZ0000000000000000000000", "c_01HZ000000000000000000000U"} {
		if _, err := comment.ParseID(text); comment.KindOf(err) != comment.BadInput {
			t.Errorf("%q: %v, want bad input", text, err)
		}
	}
}
