package counts

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// states answers with one state after the other, and counts its calls.
type states struct {
	next  []stream.State
	err   error
	asked int
}

func (s *states) State(context.Context) (stream.State, error) {
	s.asked++
	if s.err != nil {
		return stream.State{}, s.err
	}
	state := s.next[0]
	if len(s.next) > 1 {
		s.next = s.next[1:]
	}
	return state, nil
}

// Statistics that were never counted are refused with an error that clients retry. Once they are
// counted, the state is not read again, even after records are lost: counts with a small error are
// better than none.
func TestUncountedIsRefused(t *testing.T) {
	now := time.Unix(1000, 0)
	source := &states{next: []stream.State{{}, {Version: 1, Label: "l"}, {Version: 3, Label: "l", Since: now, Gap: &stream.Gap{Reason: "lost"}}}}
	f := &firstCount{journal: source, now: func() time.Time { return now }}
	for i, row := range []struct {
		after time.Duration
		kind  comment.Kind
		asked int
		why   string
	}{
		{0, comment.Unavailable, 1, "nothing is known"},
		{uncountedAge / 2, comment.Unavailable, 1, "it was just looked at"},
		{uncountedAge, comment.Unavailable, 2, "the stream is read, and all is not counted yet"},
		{uncountedAge, comment.Internal, 3, "counted once, though there is a gap now"},
		{time.Hour, comment.Internal, 3, "it remains so"},
	} {
		now = now.Add(row.after)
		err := f.check(t.Context())
		if refused := row.kind == comment.Unavailable; (err != nil) != refused || comment.KindOf(err) != row.kind || source.asked != row.asked {
			t.Errorf("%d, %s: %v after %d looks", i, row.why, err, source.asked)
		}
	}
	broken := errors.New("broken")
	if err := (&firstCount{journal: &states{err: broken}, now: time.Now}).check(t.Context()); !errors.Is(err, broken) {
		t.Errorf("of a table that does not answer: %v", err)
	}
	if err := (*firstCount)(nil).check(t.Context()); err != nil {
		t.Error(err)
	}
}
