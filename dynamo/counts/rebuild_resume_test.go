package counts_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// smallTable makes a table that was never counted, and damages parts of it.
func smallTable(t *testing.T, client *dynamodb.Client, r *rand.Rand, products ...string) string {
	t.Helper()
	table := newTable(t, client)
	var comments []comment.Comment
	for _, product := range products {
		comments = append(comments, commenttest.Many(r, product, 1+r.IntN(4))...)
	}
	load(t, client, table, comments)
	v := vandal{t: t, client: client, table: table}
	v.update("P#globe", "S#xx", "SET board = :a, place = :b", text("LEADERS#xx#0"), text("9999999989#globe"))
	v.update("P#globe", markerOf(comment.IDOf(comment.MaxPosition)), "SET s = :a", text("en/1"))
	v.update("C#"+comments[0].ID.Position().String(), "C", "REMOVE L")
	return table
}

func checkRebuilt(t *testing.T, client *dynamodb.Client, table string) {
	t.Helper()
	checkCounted(t, client, table, historicProducts, storedModel(t, client, table))
	verify(t, client, table)
}

// Whichever call fails, and however, a rebuild ends right. It reports the same work as an
// undisturbed one, including writes whose answer was lost. Neighbouring kinds of faults spoil
// neighbouring calls, so that one of several similar faults strikes at each.
func TestRebuildOverABadNetwork(t *testing.T) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(t))
	first := commenttest.Rand(t).IntN(12)
	damaged := func(t *testing.T) string { return smallTable(t, direct, rand.New(rand.NewPCG(1, 1)), "globe") }
	run := func(t *testing.T, client *dynamodb.Client, table string) (counts.RebuildResult, error) {
		rebuilder := counts.HastenWithFewGuards(counts.NewRebuilder(client, table, counts.RebuildOptions{Calls: 1}))
		rebuilder.LeaderShards = 3
		return rebuilder.Run(t.Context(), func(counts.RebuildProgress) {})
	}
	want, err := run(t, direct, damaged(t))
	if err != nil || want.Comments == 0 || want.Repaired == 0 || want.Refiled == 0 {
		t.Fatalf("an undisturbed rebuild did %+v, %v", want, err)
	}
	for lane, fault := range faulttest.Kinds {
		t.Run(string(fault), func(t *testing.T) {
			stride := commenttest.Times(12, 1)
			if fault.OfTransactions() {
				stride = commenttest.Times(6, 1)
			}
			for n, more := 1+(first+lane)%stride, true; more; n += stride {
				table := damaged(t)
				client, network := faulttest.Under(direct, faulttest.Nth(n, fault))
				if got, err := run(t, client, table); err != nil || !cmp.Equal(got, want) {
					t.Fatalf("call %d: it did %+v, want %+v, %v", n, got, want, err)
				}
				verify(t, direct, table)
				if t.Failed() {
					t.Fatalf("call %d", n)
				}
				more = network.Calls() >= n
			}
		})
	}
}

// A rebuild that was overtaken by another change of the number of shards lowers no guard.
func TestRebuildLowersNoGuard(t *testing.T) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := smallTable(t, direct, commenttest.Rand(t), "globe")
	v, later := vandal{t: t, client: direct, table: table}, 1<<52
	busy := faulttest.Before(direct, "PutItem", func() {
		later += 2 // it overtakes the rebuild, which raises what it has read by one
		v.update("STATISTICS", "LEADERS#3", "SET g = :a", &types.AttributeValueMemberN{Value: fmt.Sprint(later)})
	})
	rebuilder := counts.HastenWithFewGuards(counts.NewRebuilder(busy, table, counts.RebuildOptions{Calls: 1}))
	rebuilder.LeaderShards = 3
	if _, err := rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}); comment.KindOf(err) != comment.Conflict {
		t.Error(err)
	}
}

// losingAnswers is a client that loses the answer to each write of several items.
type losingAnswers struct {
	*dynamodb.Client
}

func (c losingAnswers) TransactWriteItems(ctx context.Context, input *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if _, err := c.Client.TransactWriteItems(ctx, input, options...); err != nil {
		return nil, err
	}
	return nil, context.DeadlineExceeded
}

// A rebuild reports its work correctly even if the table never answers a write in time.
func TestRebuildWhoseAnswersAreLost(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	seed := commenttest.Rand(t).Uint64()
	damaged := func() string { return smallTable(t, client, rand.New(rand.NewPCG(seed, 1)), historicProducts...) }
	want := rebuild(t, client, damaged())
	table := damaged()
	rebuilder := counts.Hasten(counts.NewRebuilder(losingAnswers{client}, table, counts.RebuildOptions{}))
	got, err := rebuilder.Run(t.Context(), func(counts.RebuildProgress) {})
	if err != nil || want.Refiled == 0 || want.Repaired == 0 || !cmp.Equal(got, want) {
		t.Errorf("it did %+v, want %+v, %v", got, want, err)
	}
	checkRebuilt(t, client, table)
}

// interrupted returns a client whose n-th call cancels a context. That call and all later ones meet
// a fault.
func interrupted(t *testing.T, direct *dynamodb.Client, n int, fault faulttest.Fault) (context.Context, *dynamodb.Client, *faulttest.Network) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	client, network := faulttest.Under(direct, func(call int) faulttest.Fault {
		if call < n {
			return faulttest.None
		}
		cancel()
		return fault
	})
	return ctx, client, network
}

// callsWithoutHeartbeats returns the number of a rebuild's calls, without its heartbeats. A slow
// machine makes more and more heartbeats, so a test that spoils each call in turn would not end.
func callsWithoutHeartbeats(t *testing.T, direct *dynamodb.Client, table string) int {
	t.Helper()
	client, network := faulttest.Under(direct, func(int) faulttest.Fault { return faulttest.None })
	must.Get(counts.HastenButForHeartbeats(counts.NewRebuilder(client, table, counts.RebuildOptions{Calls: 2})).Run(t.Context(), func(counts.RebuildProgress) {}))(t)
	return network.Calls()
}

// Wherever and however a rebuild ends early, the next one ends right. It begins at once or after a
// few heartbeats.
func TestRebuildInterrupted(t *testing.T) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(t))
	r := commenttest.Rand(t)
	most := 2 * callsWithoutHeartbeats(t, direct, smallTable(t, direct, r, historicProducts...))
	for n, more := 1, true; more && n <= most; n += commenttest.Stride(r, 24) {
		table := smallTable(t, direct, r, historicProducts...)
		fault := []faulttest.Fault{faulttest.None, faulttest.Refused}[r.IntN(2)] // a killed process writes nothing more
		ctx, client, network := interrupted(t, direct, n, fault)
		rebuilder := counts.HastenWithFewGuards(counts.NewRebuilder(client, table, counts.RebuildOptions{Calls: 2}))
		rebuilder.LeaderShards = 1 + r.IntN(9)
		_, err := rebuilder.Run(ctx, func(counts.RebuildProgress) {})
		if more = network.Calls() >= n; !more && err != nil {
			t.Fatal(err)
		}
		rebuild(t, direct, table)
		checkRebuilt(t, direct, table)
		if t.Failed() {
			t.Fatalf("ended at call %d: %s", n, fault)
		}
	}
}

// A rebuild that was killed together with its engine is continued at once by the process that
// started the engine again.
func TestRebuildOfAnEngineThatEnded(t *testing.T) {
	direct := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := smallTable(t, direct, commenttest.Rand(t), historicProducts...)
	ctx, client, _ := interrupted(t, direct, 15, faulttest.Refused)
	killed := newRebuilder(client, table)
	killed.Engine = "127.0.0.1:1001"
	if _, err := killed.Run(ctx, func(counts.RebuildProgress) {}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	next := counts.HastenButForHeartbeats(counts.NewRebuilder(direct, table, counts.RebuildOptions{Calls: 2}))
	next.Engine = "127.0.0.1:1002"
	if result, err := next.Run(ctx, func(counts.RebuildProgress) {}); err != nil || !result.Resumed {
		t.Fatalf("%+v, %v", result, err)
	}
	checkRebuilt(t, direct, table)
}

// Wherever a rebuild is interrupted, all comments that it has not passed may be deleted before the
// next one continues: the part that it passed is right.
func TestRebuildPassesWhatIsDone(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	r := commenttest.Rand(t)
	sixEach := func() (table string) {
		table = newTable(t, client)
		for _, product := range historicProducts {
			load(t, client, table, commenttest.Many(r, product, 6))
		}
		return table
	}
	most := 2 * callsWithoutHeartbeats(t, client, sixEach())
	for n, more := 10, true; more && n <= most; n += commenttest.Stride(r, 14) {
		table := sixEach()
		ctx, spoiled, network := interrupted(t, client, n, faulttest.None)
		_, _ = counts.Hasten(counts.NewRebuilder(spoiled, table, counts.RebuildOptions{Calls: 4})).Run(ctx, func(counts.RebuildProgress) {})
		more = network.Calls() >= n
		left := must.Get(counts.NotPassed(t.Context(), client, table))(t)
		deleteAll(t, client, table, left)
		rebuild(t, client, table)
		checkRebuilt(t, client, table)
		if t.Failed() {
			t.Fatalf("ended at call %d, with %d items not passed", n, len(left))
		}
	}
}

// deleteAll deletes comments, and counts the deletions.
func deleteAll(t *testing.T, client *dynamodb.Client, table string, comments []map[string]types.AttributeValue) {
	t.Helper()
	v := vandal{t: t, client: client, table: table}
	records := make([]stream.Record, len(comments))
	for i, it := range comments {
		v.delete(it["PK"].(*types.AttributeValueMemberS).Value, it["SK"].(*types.AttributeValueMemberS).Value)
		records[i] = stream.Record{Position: stream.PositionOf("2026-01-01T00:00:00.000", fmt.Sprint(i)), Old: it}
	}
	handle(t, counts.NewCounter(client, table, counts.CounterOptions{}), records...)
}

// A rebuild continues after the work done before an interruption. After its end, the next rebuild
// starts anew.
func TestRebuildGoesOnWhereItWas(t *testing.T) {
	client, table := newTableAt(t, dynamotest.Dynoxide(t))
	r := commenttest.Rand(t)
	const comments = 80
	all := make([]comment.Comment, comments)
	for i := range all {
		all[i] = commenttest.Random(r, fmt.Sprint("p", i))
	}
	load(t, client, table, all)
	ctx, cancel := context.WithCancel(t.Context())
	var seen int64
	first, err := newRebuilder(client, table).Run(ctx, func(p counts.RebuildProgress) {
		seen = p.Items
		if seen > comments/2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || first.Resumed {
		t.Fatalf("%+v, %v", first, err)
	}
	var begin int64
	second, err := newRebuilder(client, table).Run(t.Context(), func(p counts.RebuildProgress) {
		if begin == 0 {
			begin = p.Items
		}
	})
	// The products under way when the first was interrupted are done, but missing from both
	// results.
	done := first.Comments + second.Comments
	if err != nil || !second.Resumed || done > comments || done < comments-call.DefaultScanCalls || begin <= seen {
		t.Errorf("first %+v, to item %d, then %+v, from item %d, %v", first, seen, second, begin, err)
	}
	verify(t, client, table)
	if third := rebuild(t, client, table); third.Resumed || third.Products != comments {
		t.Errorf("one after the end does %+v", third)
	}
}

// Of two rebuilds at the same time, one does the work. The other's error names the first, whatever
// its own options.
func TestOneRebuildAtATime(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table := smallTable(t, client, commenttest.Rand(t), historicProducts...)
	var second error
	var asked atomic.Bool
	first := newRebuilder(client, table)
	first.Who, first.Engine = "the first", "127.0.0.1:1001"
	_, err := first.Run(t.Context(), func(counts.RebuildProgress) {
		if asked.CompareAndSwap(false, true) {
			other := newRebuilder(client, table)
			other.Engine = first.Engine
			_, second = other.Run(t.Context(), func(counts.RebuildProgress) {})
		}
	})
	if err != nil || comment.KindOf(second) != comment.Conflict || !strings.Contains(second.Error(), "by the first") {
		t.Errorf("the first ends with %v, the second with %v", err, second)
	}
	checkRebuilt(t, client, table)
}

// A rebuild that was silent for too long, and was taken over, stops.
func TestRebuildTakenOver(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := vandal{t: t, client: client, table: smallTable(t, client, commenttest.Rand(t), historicProducts...)}
	var once atomic.Bool
	_, err := newRebuilder(client, v.table).Run(t.Context(), func(counts.RebuildProgress) {
		if once.CompareAndSwap(false, true) {
			v.update("STATISTICS", "REBUILD", "SET ow = :a", text("another"))
		}
	})
	if comment.KindOf(err) != comment.Conflict {
		t.Errorf("it ends with %v", err)
	}
}
