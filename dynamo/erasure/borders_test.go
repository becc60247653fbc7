package erasure_test

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
)

// An import leaves out what an erased author wrote up to the millisecond in which the erasure ended.
func TestMarkAtTheEndOfAnErasure(t *testing.T) {
	x := newTable(t)
	done, err := x.eraser(x.client).Run(t.Context(), ada, none)
	x.must(err)
	marks := erasure.NewMarks(x.client, x.name)
	for after, want := range map[time.Duration]bool{-time.Millisecond: true, 0: true, time.Millisecond: false} {
		c := x.comment(ada)
		c.ID = comment.IDOf(comment.PositionAt(done.FinishedAt.Add(after), [10]byte{}))
		if got, err := marks.Erased(t.Context(), c); got != want || err != nil {
			t.Errorf("written %v after the end: %v, %v", after, got, err)
		}
	}
}

// A copy of the table replaces a mark unless the erasure ended later than that in the copy, or is under way.
func TestWhatOutlastsACopy(t *testing.T) {
	mark := func(ended int64) layout.Item {
		it := layout.Item{"PK": layout.Text("ERASED"), "SK": layout.Text("digest"), "rq": layout.Number(1)}
		if ended > 0 {
			it["un"] = layout.Number(ended)
		}
		return it
	}
	keys := layout.Item{"PK": layout.Text("ERASED"), "SK": layout.Text("digest")}
	job, other := layout.Key("ERASING", "digest"), layout.Key("P#p", "S")
	for _, row := range []struct {
		why           string
		there, copied layout.Item
		want          bool
	}{
		{"not in the copy", mark(5), nil, true},
		{"an earlier end in the copy", mark(5), mark(4), true},
		{"the same end", mark(5), mark(5), false},
		{"a later end in the copy", mark(5), mark(6), false},
		{"under way in the copy, which has its job too", mark(5), mark(0), false},
		{"under way again", mark(0), mark(4), true},
		{"only the key is known", keys, mark(4), false},
		{"a job that is not in the copy", job, nil, true},
		{"a job that is", job, job, false},
		{"an item of a product", other, nil, false},
	} {
		if got := erasure.Outlasts(row.there, row.copied); got != row.want {
			t.Errorf("%s: %v", row.why, got)
		}
	}
}
