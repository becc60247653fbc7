package command

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/stream"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestStatusHeadline(t *testing.T) {
	t.Parallel()
	gap := &stream.Gap{Found: noon.Add(-time.Hour), Shard: "s", Reason: "records were dropped"}
	caughtUp := []stream.Lease{{Shard: "s", CaughtUp: noon.Add(-1500 * time.Millisecond)}}
	for _, row := range []struct {
		why    string
		status status
		want   string
	}{
		{"a table of which nothing is known", status{}, "Incomplete: all comments are still to be counted"},
		{"a stream that is read before all was counted", status{state: stream.State{Label: "l"}, leases: caughtUp}, "Incomplete"},
		{"a fresh table", status{state: stream.State{Complete: true}}, "Complete: all comments were counted; the stream has not been read since"},
		{"a reader that just began", status{state: stream.State{Complete: true, Label: "l"}, leases: []stream.Lease{{Shard: "s"}}}, "not known yet"},
		{"as it should be", status{state: stream.State{Complete: true, Label: "l"}, leases: caughtUp}, "Complete: the statistics are 1.5 s behind the comments"},
		{"a clock that is a little ahead", status{state: stream.State{Complete: true, Label: "l"}, leases: []stream.Lease{{Shard: "s", CaughtUp: noon.Add(time.Second)}}}, "Complete: the statistics are 0.0 s behind the comments"},
		{"a clock that is ahead", status{state: stream.State{Complete: true, Label: "l"}, leases: []stream.Lease{{Shard: "s", CaughtUp: noon.Add(5 * time.Minute)}}}, "Complete; how far the statistics are behind is not known, since a process that counts has a clock ahead of this one"},
		{"an import ended, and a function counts", status{state: stream.State{Complete: true, Label: "l", Scheduled: noon.Add(-time.Minute)}, leases: []stream.Lease{{Shard: "s", CaughtUp: noon.Add(-time.Hour)}}}, "Complete: AWS Lambda processed an item of its schedule 1m0s ago"},
		{"a gap", status{state: stream.State{Label: "l", Gap: gap}, leases: caughtUp}, "Gap: since 2026-05-01T11:00:00Z the statistics may be wrong (records were dropped)"},
	} {
		row.status.now = noon
		if got, _ := row.status.headline(); !strings.Contains(got, row.want) {
			t.Errorf("%s: %q does not say %q", row.why, got, row.want)
		}
		fine := strings.HasPrefix(row.want, "Complete:") || row.want == "not known yet"
		if found := row.status.ofCounts(); (found.Result == resultOK) != fine {
			t.Errorf("%s: doctor says %v", row.why, found)
		}
	}
}

// The findings of talkback doctor about a status.
func TestFindingsOfStatus(t *testing.T) {
	t.Parallel()
	complete := stream.State{Complete: true, Label: "l"}
	lease := stream.Lease{Shard: "s", Owner: "host/A", CaughtUp: noon.Add(-time.Second)}
	for _, row := range []struct {
		why    string
		status status
		want   []finding // without their texts
	}{
		{"as it should be", status{state: complete, leases: []stream.Lease{lease}}, []finding{{Check: "counts", Result: resultOK}}},
		{"a new table", status{}, []finding{{Check: "counts", Result: resultWarning}}},
		{"records were lost", status{state: stream.State{Label: "l", Gap: &stream.Gap{}}}, []finding{{Check: "counts", Result: resultProblem}}},
		{"an import ended, and a function counts", status{state: stream.State{Complete: true, Label: "l", Scheduled: noon.Add(-time.Minute)}, leases: []stream.Lease{{Shard: "s", CaughtUp: noon.Add(-time.Hour)}}}, []finding{{Check: "counts", Result: resultOK}}},
		{"the only process died", status{state: complete, leases: []stream.Lease{{Shard: "s", CaughtUp: noon.Add(-time.Hour)}}},
			[]finding{{Check: "counts", Result: resultWarning}, {Check: "stream", Result: resultWarning}}},
		{"a shard that was read to its end needs no reader", status{state: complete, leases: []stream.Lease{lease, {Shard: "r", Ended: true}}},
			[]finding{{Check: "counts", Result: resultOK}}},
		{"a change could not be counted", status{state: stream.State{Label: "l", Gap: &stream.Gap{}}, leases: []stream.Lease{lease}, deadLetters: []stream.DeadLetter{{}}},
			[]finding{{Check: "counts", Result: resultProblem}, {Check: "dead letters", Result: resultProblem}}},
		{"a rebuild has counted it since", status{state: complete, leases: []stream.Lease{lease}, deadLetters: []stream.DeadLetter{{}}},
			[]finding{{Check: "counts", Result: resultOK}, {Check: "dead letters", Result: resultWarning}}},
		{"a rebuild was interrupted", status{state: complete, leases: []stream.Lease{lease}, rebuild: counts.RebuildStatus{Who: "x", Interrupted: true}},
			[]finding{{Check: "counts", Result: resultOK}, {Check: "rebuild", Result: resultWarning}}},
		{"page numbers are being built", status{state: complete, leases: []stream.Lease{lease}, pages: []keeper.Status{{Name: "files"}}},
			[]finding{{Check: "counts", Result: resultOK}, {Check: "page numbers", Result: resultWarning}}},
		{"their store is away", status{state: complete, leases: []stream.Lease{lease}, pages: []keeper.Status{{Name: "redis", Complete: true, Away: errors.New("refused"), Work: keeper.Work{Owner: "killed"}}}},
			[]finding{{Check: "counts", Result: resultOK}, {Check: "page numbers", Result: resultProblem}}},
	} {
		row.status.now = noon
		got := row.status.findings()
		for i := range got {
			if got[i].Found == "" || got[i].Result == resultProblem && got[i].Cure == "" {
				t.Errorf("%s: %s says nothing, or no cure", row.why, got[i].Check)
			}
			if strings.HasPrefix(got[i].Cure, "start the store") && !strings.Contains(got[i].Found, "the store does not answer (refused)") {
				t.Errorf("%s: %s", row.why, got[i].Found)
			}
			got[i].Found, got[i].Cure = "", ""
		}
		check.Equal(t, row.want, got, row.why)
	}
}

// A store that only the table knows of may have been left: the status says with what it is built,
// and that it needs nothing then. A build may fail again and again, or its process was killed.
func TestStoreThatWasLeft(t *testing.T) {
	t.Parallel()
	for asked, want := range map[bool]string{
		true:  "Page numbers in s: not complete; talkback serve, talkback stream and talkback rebuild --pages build it",
		false: "Page numbers in s: not complete; with this store as --pages, talkback serve, talkback stream and talkback rebuild --pages build it; if you left it, it needs nothing and is listed for 90 days",
	} {
		check.Equal(t, want, status{}.pagesLine(keeper.Status{Name: "s", Asked: asked}), "asked: ", asked)
	}
	check.Equal(t, "Page numbers in s: being built by talkback serve, 0 comments so far; if that number stays, the log of that process says why, and if it was killed, talkback rebuild --pages builds it",
		status{}.pagesLine(keeper.Status{Name: "s", Work: keeper.Work{Owner: "o", Who: "talkback serve"}}))
}
