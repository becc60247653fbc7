package dynamo_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

func TestLoad(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := dynamo.NewTable(t, endpoint)
		comments := commenttest.Many(rand.New(rand.NewPCG(1, 1)), "p", 260)
		checkLoad(t, dynamo.NewLoader(client, table, 0), comments[:130], dynamo.LoadCounts{Written: 130})
		setText(t, client, table, comments[7].ID, "edited")

		loader := dynamo.NewLoader(client, table, 0)
		all := slices.Concat(comments, comments[:3], comments[250:])
		checkLoad(t, loader, all, dynamo.LoadCounts{Written: 130, Existing: 130, Repeated: 13})
		checkLoad(t, loader, comments[258:], dynamo.LoadCounts{Repeated: 2})

		comments[7].Text = "edited"
		store := dynamo.NewStore(client, table, dynamo.Options{})
		for part := range slices.Chunk(comments, call.MaxKeysPerGet) {
			ids := make([]comment.ID, len(part))
			want := map[comment.ID]comment.Comment{}
			for i, c := range part {
				ids[i], want[c.ID] = c.ID, c
			}
			found, _, err := store.CommentsByID(t.Context(), ids, false)
			if diff := gocmp.Diff(want, found); err != nil || diff != "" {
				t.Errorf("the table does not have the loaded comments: %v %s", err, diff)
			}
		}
	})
}

// A load with Update replaces comments that still are as an earlier import wrote them, and leaves
// those that were changed here.
func TestLoadUpdates(t *testing.T) {
	client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
	store := dynamo.NewStore(client, table, dynamo.Options{})
	rows := []struct {
		why   string
		here  func(c comment.Comment) error // changes the comment between the loads
		want  dynamo.LoadCounts
		again dynamo.LoadCounts // counts of a second load of the same file
	}{
		{"nothing happened: the file counts", nil, dynamo.LoadCounts{Updated: 1}, dynamo.LoadCounts{Existing: 1}},
		{"a vote is no change, and stays", func(c comment.Comment) error {
			return store.SetVote(t.Context(), c.ID, comment.CastVote{}, comment.CastVote{By: "ben", Vote: comment.Helpful, At: time.Now()})
		}, dynamo.LoadCounts{Updated: 1}, dynamo.LoadCounts{Existing: 1}},
		{"the author edited it", func(c comment.Comment) error {
			after := c
			after.Text, after.Version = "Better than I thought.", 2
			return store.Replace(t.Context(), c, after)
		}, dynamo.LoadCounts{Changed: 1}, dynamo.LoadCounts{Changed: 1}},
		{"the shop verified the purchase, which keeps the version", func(c comment.Comment) error {
			after := c
			after.Verified = !c.Verified
			return store.Replace(t.Context(), c, after)
		}, dynamo.LoadCounts{Changed: 1}, dynamo.LoadCounts{Changed: 1}},
		{"the shop replied", func(c comment.Comment) error {
			return store.SetReply(t.Context(), c, &comment.Reply{Text: "Thank you.", Name: "Shop", CreatedAt: c.CreatedAt(), Version: 1})
		}, dynamo.LoadCounts{Changed: 1}, dynamo.LoadCounts{Changed: 1}},
		{"the author deleted it", func(c comment.Comment) error { return store.Delete(t.Context(), c) },
			dynamo.LoadCounts{Deleted: 1}, dynamo.LoadCounts{Deleted: 1}},
	}
	comments := commenttest.Many(commenttest.Rand(t), "cup", len(rows))
	for i := range comments {
		c := &comments[i]
		c.Version, c.UpdatedAt, c.Reply, c.ReplyDeletion, c.Text, c.Language = 1, nil, nil, 0, "Good.", "en"
	}
	loader := dynamo.NewLoader(client, table, 0)
	loader.Import = 7
	checkLoad(t, loader, comments, dynamo.LoadCounts{Written: len(rows)})
	for i, row := range rows {
		c := comments[i]
		if row.here != nil {
			must.Do(t, row.here(c))
		}
		for _, want := range []dynamo.LoadCounts{row.want, row.again} {
			loader := dynamo.NewLoader(client, table, 0)
			loader.Update = func(before, loaded comment.Comment) comment.Comment {
				before.Text, before.Language = loaded.Text, loaded.Language
				return before
			}
			loaded := c
			loaded.Text, loaded.Language = "Bon.", "fr"
			if got, err := loader.Load(t.Context(), []comment.Comment{loaded}); err != nil || got != want {
				t.Errorf("%s: %+v, %v; want %+v", row.why, got, err, want)
			}
		}
		now, err := store.Comment(t.Context(), c.ID)
		if updated := err == nil && now.Language == "fr" && now.Text == "Bon." && now.Version == 2; updated != (row.want.Updated == 1) {
			t.Errorf("%s: it is %s, %q, version %d, %v", row.why, now.Language, now.Text, now.Version, err)
		}
	}
	french := comment.Query{Product: "cup", Filter: comment.Filter{Languages: []comment.Language{"fr"}}, Slice: comment.Slice{Size: 10}}
	if page, err := store.Comments(t.Context(), french); err != nil || len(page.Comments) != 2 {
		t.Errorf("the list of the new language has %d comments, not 2: %v", len(page.Comments), err)
	}
}

func checkLoad(t *testing.T, loader *dynamo.Loader, comments []comment.Comment, want dynamo.LoadCounts) {
	t.Helper()
	got, err := loader.Load(t.Context(), comments)
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

// setText edits a comment as another client would.
func setText(t *testing.T, client *dynamodb.Client, table string, id comment.ID, text string) {
	t.Helper()
	must.Get(client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &table, Key: layout.CommentKey(id), UpdateExpression: aws.String("SET t = :t"),
		ExpressionAttributeValues: layout.Item{":t": layout.Text(text)},
	}))(t)
}

// faultyTable is a table in memory whose calls fail at times. A simulated client edits each comment
// as soon as it was written.
type faultyTable struct {
	*dynamodb.Client // nil: a load without updates makes no other calls

	t      *testing.T
	faults func() fault // called for every call

	mu     sync.Mutex
	items  map[string]bool // by partition key
	calls  int
	writes int // calls of PutItem
}

// fault is the way in which a call fails.
type fault int

const (
	nothing   fault = iota
	leaveOut        // half of the batch is unprocessed
	throttle        // the whole call is throttled
	failFirst       // the call fails without an effect
	failAfter       // the call succeeds, and its answer is lost
	missing         // there is no such table
	invalid         // the call is refused as invalid
)

func newFaultyTable(t *testing.T, faults func() fault) *faultyTable {
	return &faultyTable{t: t, faults: faults, items: map[string]bool{}}
}

// after returns faults for n calls without one, and then always the given fault.
func after(n int, then fault) func() fault {
	return func() fault {
		if n--; n >= 0 {
			return nothing
		}
		return then
	}
}

func (f *faultyTable) err(now fault) error {
	switch now {
	case throttle:
		return &types.ProvisionedThroughputExceededException{}
	case failFirst, failAfter:
		return &smithy.GenericAPIError{Code: "InternalServerError", Fault: smithy.FaultServer}
	case missing:
		return &types.ResourceNotFoundException{}
	case invalid:
		return &smithy.GenericAPIError{Code: "ValidationException", Fault: smithy.FaultClient}
	}
	return nil
}

func (f *faultyTable) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	now := f.faults()
	if err := f.err(now); err != nil || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	want := in.RequestItems["t"]
	if !aws.ToBool(want.ConsistentRead) || aws.ToString(want.ProjectionExpression) != "PK,e,w,m" || len(want.Keys) > 100 {
		f.t.Errorf("%d keys are asked for, consistently: %v, with projection %v", len(want.Keys), want.ConsistentRead, want.ProjectionExpression)
	}
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}
	if now == leaveOut {
		half := len(want.Keys) / 2
		out.UnprocessedKeys = map[string]types.KeysAndAttributes{"t": {Keys: want.Keys[half:]}}
		want.Keys = want.Keys[:half]
	}
	for _, key := range want.Keys {
		if f.items[partitionKey(key)] {
			out.Responses["t"] = append(out.Responses["t"], map[string]types.AttributeValue{"PK": key["PK"]})
		}
	}
	return out, nil
}

func (f *faultyTable) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.writes++
	f.checkOptions(options)
	now := f.faults()
	if now == leaveOut { // only batches can be left out
		now = throttle
	}
	if now == throttle || now == failFirst || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), f.err(now))
	}
	key := partitionKey(in.Item)
	if aws.ToString(in.ConditionExpression) != "attribute_not_exists(PK)" {
		f.t.Errorf("%s is written on condition %q", key, aws.ToString(in.ConditionExpression))
	}
	if f.items[key] {
		return nil, &types.ConditionalCheckFailedException{}
	}
	f.items[key] = true
	return &dynamodb.PutItemOutput{}, f.err(now)
}

// checkOptions checks that the SDK's own retries are off.
func (f *faultyTable) checkOptions(options []func(*dynamodb.Options)) {
	var o dynamodb.Options
	for _, option := range options {
		option(&o)
	}
	if o.Retryer == nil || o.Retryer.MaxAttempts() != 1 {
		f.t.Error("the SDK may repeat a write whose outcome is unknown")
	}
}

func partitionKey(item map[string]types.AttributeValue) string {
	return item["PK"].(*types.AttributeValueMemberS).Value
}

func (f *faultyTable) holds(comments []comment.Comment) int {
	n := 0
	for _, c := range comments {
		if f.items["C#"+c.ID.Position().String()] {
			n++
		}
	}
	return n
}

// In spite of faults a load writes all comments, overwrites none, and counts each once.
func TestLoadThroughFaults(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			// One in eight calls fails: a load gives up after twelve faults in a row, and the last
			// comment meets them alone.
			table := newFaultyTable(t, func() fault { return max(0, fault(r.IntN(32))-27) })
			comments := commenttest.Many(r, "p", 1+r.IntN(700))
			before := comments[:r.IntN(len(comments))]
			for _, c := range before {
				table.items["C#"+c.ID.Position().String()] = true
			}
			repeated := comments[:r.IntN(len(comments))]
			got, err := dynamo.NewLoader(table, "t", 1+r.IntN(8)).Load(t.Context(), slices.Concat(comments, repeated))
			want := dynamo.LoadCounts{Written: len(comments) - len(before), Existing: len(before), Repeated: len(repeated)}
			if err != nil || got != want || table.holds(comments) != len(comments) {
				t.Errorf("seed %d: got %+v, %v, %d of %d there; want %+v", seed, got, err, table.holds(comments), len(comments), want)
			}
		})
	}
}

// A canceled load reports how many comments it wrote. Loading the same comments again, with the
// same Loader or another, continues from there.
func TestLoadGoesOnAfterCancellation(t *testing.T) {
	for calls := range 20 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			count := 0
			table := newFaultyTable(t, func() fault {
				if count++; count > calls {
					cancel()
				}
				return nothing
			})
			comments := commenttest.Many(rand.New(rand.NewPCG(4, 4)), "p", 400)
			loader := dynamo.NewLoader(table, "t", 2)
			first, err := loader.Load(ctx, comments)
			if cut := comment.KindOf(err) == comment.Canceled; !cut && first.Written != len(comments) {
				t.Fatalf("after %d calls: %+v, %v", calls, first, err)
			}
			if first.Written > table.holds(comments) {
				t.Errorf("%d are reported as written, %d are in the table", first.Written, table.holds(comments))
			}
			there := table.holds(comments)
			table.faults = after(0, nothing)
			second, err := loader.Load(t.Context(), comments)
			done := second.Written + second.Existing + second.Repeated
			if err != nil || done != len(comments) || second.Written != len(comments)-there {
				t.Errorf("after %d calls, %+v and %d there: %+v, %v", calls, first, there, second, err)
			}
		})
	}
}

// A table that never recovers ends the load in bounded time, with an error that says what to do. A
// comment is not written while the read that looks for it fails, since it may exist.
func TestLoadGivesUp(t *testing.T) {
	for now, want := range map[fault]comment.Kind{
		leaveOut: comment.Throttled, throttle: comment.Throttled, failFirst: comment.Unavailable, failAfter: comment.Unavailable,
	} {
		for healthy := range 3 {
			synctest.Test(t, func(t *testing.T) {
				table := newFaultyTable(t, after(healthy, now))
				start := time.Now()
				comments := commenttest.Many(rand.New(rand.NewPCG(5, 5)), "p", 3)
				got, err := dynamo.NewLoader(table, "t", 1).Load(t.Context(), comments)
				took := time.Since(start)
				if comment.KindOf(err) != want || took > 2*time.Minute || table.calls > 100 || healthy == 0 && table.writes > 0 {
					t.Errorf("fault %d after %d calls: %+v, %v after %s, %d calls and %d writes; want kind %d", now, healthy, got, err, took, table.calls, table.writes, want)
				}
			})
		}
	}
}

// Errors that a retry cannot cure are not retried.
func TestLoadStopsAtOnce(t *testing.T) {
	for _, permanent := range []fault{missing, invalid} {
		table := newFaultyTable(t, after(0, permanent))
		comments := commenttest.Many(rand.New(rand.NewPCG(6, 6)), "p", 1)
		if got, err := dynamo.NewLoader(table, "t", 1).Load(t.Context(), comments); err == nil || table.calls != 1 || got != (dynamo.LoadCounts{}) {
			t.Errorf("fault %d: %+v, %v after %d calls; want an error after one", permanent, got, err, table.calls)
		}
	}
}

// A load reads a hundred comments at once, and writes each once.
func TestLoadMakesFewCalls(t *testing.T) {
	for comments, calls := range map[int]int{0: 0, 1: 1 + 1, 100: 1 + 100, 250: 3 + 250} {
		table := newFaultyTable(t, after(0, nothing))
		checkLoad(t, dynamo.NewLoader(table, "t", 1), commenttest.Many(rand.New(rand.NewPCG(7, 7)), "p", comments), dynamo.LoadCounts{Written: comments})
		if table.calls != calls {
			t.Errorf("%d calls for %d comments, want %d", table.calls, comments, calls)
		}
	}
}

// A write that takes effect late changes nothing, even if a retry wrote its comment and the comment
// was then deleted or edited.
func TestLateWriteOfALoad(t *testing.T) {
	for _, revive := range []bool{false, true} {
		client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
		store := dynamo.NewStore(client, table, dynamo.Options{})
		comments := commenttest.Many(rand.New(rand.NewPCG(9, 9)), "p", 2)
		if revive {
			checkLoad(t, dynamo.NewLoader(client, table, 1), comments, dynamo.LoadCounts{Written: 2})
			remove(t, store, comments...)
		}
		late := &lateClient{Client: client}
		loader := dynamo.NewLoader(late, table, 1)
		loader.Revive = revive
		checkLoad(t, loader, comments, dynamo.LoadCounts{Written: 2})
		edited := comments[1]
		edited.Text, edited.Version, edited.UpdatedAt = "edited", edited.Version+1, new(time.UnixMilli(1))
		must.Do(t, store.Replace(t.Context(), comments[1], edited))
		time.Sleep(2 * time.Millisecond) // tombstones differ by their time
		remove(t, store, comments[0])
		late.arrive(t.Context())
		if got, err := store.Comment(t.Context(), comments[0].ID); comment.KindOf(err) != comment.NotFound {
			t.Errorf("revive %v: what was deleted is back: %+v, %v", revive, got, err)
		}
		if got, err := store.Comment(t.Context(), comments[1].ID); err != nil || got.Text != "edited" {
			t.Errorf("revive %v: the edit is lost: %+v, %v", revive, got, err)
		}
	}
}

// A comment that is deleted after a write whose answer was lost stays deleted, even if the load
// revives comments.
func TestReviveAndDelete(t *testing.T) {
	for _, deletedBefore := range []bool{false, true} {
		client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
		store := dynamo.NewStore(client, table, dynamo.Options{})
		comments := commenttest.Many(rand.New(rand.NewPCG(9, 9)), "p", 1)
		if deletedBefore {
			checkLoad(t, dynamo.NewLoader(client, table, 1), comments, dynamo.LoadCounts{Written: 1})
			remove(t, store, comments...)
		}
		lossy, _ := faulttest.Under(client, faulttest.Nth(2, faulttest.AnswerLost))
		looks := 0
		loader := dynamo.NewLoader(faulttest.Before(lossy, "BatchGetItem", func() {
			if looks++; looks == 2 {
				time.Sleep(2 * time.Millisecond) // tombstones differ by their time
				remove(t, store, comments...)
			}
		}), table, 1)
		loader.Revive = true
		checkLoad(t, loader, comments, dynamo.LoadCounts{Deleted: 1})
		if got, err := store.Comment(t.Context(), comments[0].ID); comment.KindOf(err) != comment.NotFound {
			t.Errorf("deleted before: %v: what was deleted is back: %+v, %v", deletedBefore, got, err)
		}
	}
}

// A request to delete a comment that arrives only after the comment was revived leaves it there.
func TestDeleteThatArrivesLate(t *testing.T) {
	client, table := dynamo.NewTable(t, dynamotest.Dynoxide(t))
	comments := commenttest.Many(commenttest.Rand(t), "p", 1)
	checkLoad(t, dynamo.NewLoader(client, table, 1), comments, dynamo.LoadCounts{Written: 1})
	lossy, network := faulttest.Under(client, func(call int) faulttest.Fault {
		if call == 2 {
			return faulttest.AnswerLost
		}
		return faulttest.Late
	})
	if err := dynamo.NewStore(lossy, table, dynamo.Options{}).Delete(t.Context(), comments[0]); comment.KindOf(err) != comment.Unavailable {
		t.Fatal(err)
	}
	loader := dynamo.NewLoader(client, table, 1)
	loader.Revive = true
	checkLoad(t, loader, comments, dynamo.LoadCounts{Written: 1})
	must.Do(t, network.Flush())
	store := dynamo.NewStore(client, table, dynamo.Options{})
	if _, err := store.Comment(t.Context(), comments[0].ID); err != nil {
		t.Errorf("what was revived is gone: %v", err)
	}
	remove(t, store, comments...) // another request does delete it
}

func remove(t *testing.T, store *dynamo.Store, comments ...comment.Comment) {
	t.Helper()
	for _, c := range comments {
		must.Do(t, store.Delete(t.Context(), c))
	}
}

// lateClient delays the first two writes, like a network that loses the connection.
type lateClient struct {
	*dynamodb.Client
	mu   sync.Mutex
	held []*dynamodb.PutItemInput
}

func (l *lateClient) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) < 2 {
		l.held = append(l.held, in)
		return nil, &smithy.GenericAPIError{Code: "InternalServerError", Fault: smithy.FaultServer}
	}
	return l.Client.PutItem(ctx, in, options...)
}

// arrive makes the delayed writes. Their answers are lost.
func (l *lateClient) arrive(ctx context.Context) {
	for _, in := range l.held {
		_, _ = l.Client.PutItem(ctx, in, call.NoRetries)
	}
}
