package stream_test

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/stream"
)

// The result of a rebuild stands, unless records were lost since it began.
func TestMarkComplete(t *testing.T) {
	since := time.Unix(2, 0)
	gap, another := &stream.Gap{Found: time.Unix(1, 0), Shard: "s"}, &stream.Gap{Found: since, Shard: "s"}
	for _, row := range []struct {
		why         string
		before, now stream.State
		stands      bool
	}{
		{"nothing was read before", stream.State{}, stream.State{Label: "l"}, true},
		{"a gap known before", stream.State{Label: "l", Gap: gap}, stream.State{Label: "l", Gap: gap}, true},
		{"a gap since it began", stream.State{Label: "l"}, stream.State{Label: "l", Gap: gap}, false},
		{"another gap since it began", stream.State{Label: "l", Gap: gap}, stream.State{Label: "l", Gap: another}, false},
		{"another stream since it began", stream.State{Label: "l"}, stream.State{Label: "later"}, false},
	} {
		journal, want := &fakeJournal{state: row.now}, row.now
		if row.stands {
			want.Complete, want.Since, want.Gap = true, since, nil
		}
		err := stream.MarkComplete(t.Context(), journal, row.before, since)
		if (err == nil) != row.stands || err != nil && comment.KindOf(err) != comment.Conflict {
			t.Errorf("%s: %v", row.why, err)
		}
		check.Equal(t, want, journal.state, row.why)
	}
}
