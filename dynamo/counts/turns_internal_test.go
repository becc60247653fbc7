package counts

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// However long a product is throttled, its next turn is at most the longest wait away. Soon after
// the trouble, the wait is the shortest again.
func TestWaitsAfterALongOutage(t *testing.T) {
	turns := turns{queues: map[string]*queue{}}
	shares := turns.join([]Change{{Product: "x", ID: "c_1"}})
	for range 200 {
		turns.queues["x"].due = time.Time{}
		now, _, _, _ := turns.begin(shares)
		turns.end(now, nil, errWaits)
		if early := time.Until(turns.queues["x"].due); early > turnLongestWait {
			t.Fatalf("the next turn is due in %v", early)
		}
	}
	for range turnDoublings {
		turns.queues["x"].due = time.Time{}
		now, _, _, _ := turns.begin(shares)
		turns.end(now, nil, comment.Errorf(comment.Internal, "of something else"))
	}
	if failures := turns.queues["x"].failures; failures != 0 {
		t.Errorf("the wait is still doubled %d times", failures)
	}
}

// After a turn that failed, each product has a transaction of its own, so that one in trouble does
// not hold up the others.
func TestProductsInTroubleAreCountedApart(t *testing.T) {
	turns := turns{queues: map[string]*queue{}}
	shares := turns.join([]Change{{Product: "x", ID: "c_1"}, {Product: "y", ID: "c_2"}})
	for _, want := range []bool{false, true} {
		now, _, _, _ := turns.begin(shares)
		if now.apart != want || len(now.shares) != 2 {
			t.Errorf("apart: %v; %d products", now.apart, len(now.shares))
		}
		transactions := len(packs([]tally{{product: "x"}, {product: "y"}}, leaderSettings{shards: 4}, "t", testTime, now.apart))
		if (transactions == 2) != want {
			t.Errorf("%d transactions; apart: %v", transactions, want)
		}
		turns.end(now, nil, errWaits)
		for _, q := range turns.queues {
			q.due = time.Time{}
		}
	}
}

// Queues of products that were throttled once are forgotten.
func TestQueuesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := turns{queues: map[string]*queue{}}
		for n := range 3 * mostQueues {
			shares := turns.join([]Change{{Product: fmt.Sprint(n), ID: "c_1"}})
			now, _, _, _ := turns.begin(shares)
			turns.end(now, nil, errWaits)
			time.Sleep(turnLongestWait)
			now, _, _, _ = turns.begin(shares)
			clear(now.work)
			turns.end(now, nil, nil)
		}
		if len(turns.queues) > mostQueues+3 {
			t.Errorf("%d queues are kept", len(turns.queues))
		}
	})
}

// Of several records of a comment the last by position counts, in whatever order they come. That
// the comment was in another cell between them is not forgotten.
func TestRecordsOfOneCommentAreOneStanding(t *testing.T) {
	for _, row := range []struct {
		why   string
		come  []standing
		want  standing
		moved bool
	}{
		{"a late reader's record comes last", []standing{{Cell: english5, position: "2"}, {Cell: german5, position: "1"}}, standing{Cell: english5, position: "2"}, true},
		{"a move and an edit of the text", []standing{{Cell: english5, position: "1"}, {Cell: german5, position: "2"}, {Cell: german5, position: "3"}}, standing{Cell: german5, position: "3"}, true},
		{"an edit of the text", []standing{{Cell: english5, position: "1"}, {Cell: english5, position: "2"}}, standing{Cell: english5, position: "2"}, false},
	} {
		w := workload{}
		for _, s := range row.come {
			s.ID = globe
			w.add("p", s)
		}
		if got := w["p"]; len(got) != 1 || got[0].Cell != row.want.Cell || got[0].position != row.want.position || got[0].moved != row.moved {
			t.Errorf("%s: %+v", row.why, got)
		}
	}
}

// An interrupted rebuild continues only with the same number of shards, with the stream that it
// began with, and while that holds all changes since.
func TestWhatCanBeResumed(t *testing.T) {
	saved := time.UnixMilli(1_000_000)
	known, gap := stream.State{Label: "2026"}, &stream.Gap{Found: saved, Shard: "1"}
	progress := rebuildProgress{saved: saved, shards: 4, segments: make([]segmentProgress, 2), stream: known}
	for _, row := range []struct {
		why    string
		shards int
		after  time.Duration
		now    stream.State
		want   bool
	}{
		{"nothing changed", 4, time.Hour, known, true},
		{"another number of shards", 5, time.Hour, known, false},
		{"too late", 4, 24 * time.Hour, known, false},
		{"another stream", 4, time.Hour, stream.State{Label: "2027"}, false},
		{"records were lost meanwhile", 4, time.Hour, stream.State{Label: "2026", Gap: gap}, false},
	} {
		if got := progress.goesOn(row.shards, saved.Add(row.after), row.now); got != row.want {
			t.Errorf("%s: resumed is %v", row.why, got)
		}
	}
}

// A rebuild keeps the gap of its beginning, even one whose time is damaged in the state of the
// stream.
func TestGapOfARebuild(t *testing.T) {
	for _, found := range []time.Time{{}, time.UnixMilli(-1), time.UnixMilli(1_000_000)} {
		progress := rebuildProgress{stream: stream.State{Gap: &stream.Gap{Found: found, Shard: "1", Reason: "it was away"}}}
		if back, err := decodeRebuild(progress.attributes()); err != nil || !progress.stream.Gap.Same(back.stream.Gap) {
			t.Errorf("found %v: %+v, %v", found, back.stream.Gap, err)
		}
	}
}
