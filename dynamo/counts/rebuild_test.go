package counts_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

func newRebuilder(client *dynamodb.Client, table string) *counts.Rebuilder {
	return counts.Hasten(counts.NewRebuilder(client, table, counts.RebuildOptions{Calls: 2}))
}

func rebuild(t *testing.T, client *dynamodb.Client, table string) counts.RebuildResult {
	t.Helper()
	return must.Get(newRebuilder(client, table).Run(t.Context(), func(counts.RebuildProgress) {}))(t)
}

// verify fails the test unless a verification finds exactly these kinds of drift, one drift for
// each element.
func verify(t *testing.T, client *dynamodb.Client, table string, want ...counts.DriftKind) counts.Verified {
	t.Helper()
	return verifyWith(t, client, table, counts.VerifyOptions{Calls: 2}, want...)
}

func verifyWith(t *testing.T, client *dynamodb.Client, table string, options counts.VerifyOptions, want ...counts.DriftKind) counts.Verified {
	t.Helper()
	found := must.Get(counts.HastenVerifier(counts.NewVerifier(client, table, options)).Run(t.Context(), func(int) {}))(t)
	var kinds []counts.DriftKind
	for _, drift := range found.Drifts {
		kinds = append(kinds, drift.Kind)
	}
	if diff := cmp.Diff(want, kinds); diff != "" || len(found.Restless) > 0 {
		t.Errorf("%d drifts, among them %v, restless %v: %s", len(kinds), found.Drifts[:min(len(kinds), 10)], found.Restless, diff)
	}
	return found
}

func load(t *testing.T, client *dynamodb.Client, table string, comments []comment.Comment) {
	t.Helper()
	must.Get(dynamo.NewLoader(client, table, 0).Load(t.Context(), comments))(t)
}

// A rebuild counts a table that was never counted; another one finds nothing to do. The comments of
// the first product take several transactions.
func TestRebuildOfATableNeverCounted(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		client, table := newTableAt(t, endpoint)
		model := commenttest.NewModel()
		for i, product := range historicProducts {
			comments := commenttest.Many(r, product, 100>>i)
			load(t, client, table, comments)
			for _, c := range comments {
				model.Insert(c)
			}
		}
		comments := len(model.All())
		want := counts.RebuildResult{Products: len(historicProducts), Comments: comments, Complete: true}
		if got := rebuild(t, client, table); !cmp.Equal(got, want) {
			t.Errorf("the first rebuild did %+v, want %+v", got, want)
		}
		checkCounted(t, client, table, historicProducts, model)
		found := verify(t, client, table)
		if found.Products != len(historicProducts) || found.Comments != comments {
			t.Errorf("%d comments of %d products were verified", found.Comments, found.Products)
		}
		want.Comments = 0
		if got := rebuild(t, client, table); !cmp.Equal(got, want) {
			t.Errorf("the second rebuild did %+v, want %+v", got, want)
		}
	})
}

// A rebuild closes the gap that was known when it began, and no other.
func TestRebuildAndGaps(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	before := &stream.Gap{Found: time.UnixMilli(1000).UTC(), Shard: "1", Reason: "it was dropped"}
	meanwhile := &stream.Gap{Found: time.UnixMilli(2000).UTC(), Shard: "1", Reason: "it was dropped again"}
	for _, row := range []struct {
		why               string
		before, meanwhile *stream.Gap
		interrupted       bool
		complete, resumed bool
	}{
		{"nothing was lost", nil, nil, false, true, false},
		{"records lost before it are counted", before, nil, false, true, false},
		{"records lost meanwhile may be missing", nil, meanwhile, false, false, false},
		{"lost before, and lost again meanwhile", before, meanwhile, false, false, false},
		{"an interruption changes nothing", before, nil, true, true, true},
		{"records lost between an interruption and the next run are counted by starting anew", before, meanwhile, true, true, false},
	} {
		table := smallTable(t, client, commenttest.Rand(t), historicProducts...)
		leases := leases.NewLeases(client, table)
		record := func(gap *stream.Gap) {
			t.Helper()
			state := must.Get(leases.State(t.Context()))(t)
			next := state
			next.Label, next.Gap = "2026", gap
			must.Do(t, leases.SwapState(t.Context(), state, next))
		}
		record(row.before)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var once atomic.Bool
		var scanning time.Time
		result, err := newRebuilder(client, table).Run(ctx, func(counts.RebuildProgress) {
			if !once.CompareAndSwap(false, true) {
				return
			}
			scanning = time.Now()
			if row.meanwhile != nil {
				record(row.meanwhile)
			}
			if row.interrupted {
				cancel()
			}
		})
		if row.interrupted {
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: interrupted, it ends with %v", row.why, err)
			}
			result = rebuild(t, client, table)
		} else if err != nil {
			t.Fatal(err)
		}
		state := must.Get(leases.State(t.Context()))(t)
		if result.Complete != row.complete || state.Complete != row.complete || (state.Gap == nil) != row.complete || result.Resumed != row.resumed {
			t.Errorf("%s: %+v, and the state is %+v", row.why, result, state)
		}
		if result.Complete && (state.Since.IsZero() || state.Since.After(scanning)) && row.meanwhile == nil {
			t.Errorf("%s: complete since %v, though it was scanned from %v on", row.why, state.Since, scanning)
		}
	}
}

// Those who follow events learn of a gap before it is closed. If the process ends in between, the
// next rebuild tells them again. Without a gap, they are told nothing.
func TestRebuildTellsOfGaps(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := smallTable(t, client, commenttest.Rand(t), historicProducts...)
	leases := leases.NewLeases(client, table)
	gap := stream.State{Label: "2026", Gap: &stream.Gap{Found: time.UnixMilli(1000).UTC(), Reason: "it was dropped"}}
	must.Do(t, leases.SwapState(t.Context(), stream.State{}, gap))
	told := 0
	rebuilder := newRebuilder(client, table)
	for _, row := range []struct {
		why    string
		ends   error
		closed bool
		told   int
	}{
		{why: "it ends before the gap is closed", ends: context.Canceled, told: 1},
		{why: "it goes on", closed: true, told: 2},
		{why: "there is no gap", closed: true, told: 2},
	} {
		rebuilder.Lost = func(context.Context) error { told++; return row.ends }
		if _, err := rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}); !errors.Is(err, row.ends) {
			t.Errorf("%s: %v", row.why, err)
		}
		state, err := leases.State(t.Context())
		if err != nil || state.Complete != row.closed || told != row.told {
			t.Errorf("%s: told %d times, %+v, %v", row.why, told, state, err)
		}
	}
}
