package leases_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// damages returns damaged values of a number or a text.
func damages() []types.AttributeValue {
	return []types.AttributeValue{nil, layout.Text("x"), layout.Text(""), layout.Flag(true), &types.AttributeValueMemberN{Value: "1.5"}}
}

// spoil sets an attribute of an item, or removes it for nil.
func spoil(t *testing.T, client *dynamodb.Client, table string, key layout.Item, attr string, value types.AttributeValue) {
	t.Helper()
	output, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
	if err != nil || len(output.Item) == 0 {
		t.Fatal(err)
	}
	if output.Item[attr] = value; value == nil {
		delete(output.Item, attr)
	}
	must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: output.Item}))(t)
}

// A lease that was damaged by hand can be taken, once, in the form in which it is read. It
// continues from its checkpoint. Otherwise no process would read the shard.
func TestDamagedLease(t *testing.T) {
	client, table := newTable(t, dynamotest.Dynoxide(t))
	l := leases.NewLeases(client, table)
	for _, attr := range []string{"o", "n"} {
		for _, value := range damages() {
			shard := time.Now().String()
			begun := stream.Lease{Shard: shard, Owner: "me", Counter: 9, Checkpoint: "17"}
			must.Do(t, l.Swap(t.Context(), leaseLabel, stream.Lease{}, begun))
			spoil(t, client, table, layout.Key("STREAM#"+leaseLabel, shard), attr, value)
			old := leaseOf(t, l, shard)
			if attr == "n" && old.Counter <= begun.Counter {
				t.Errorf("with %v, write %d of it would count as proven by heartbeats that were sent before", value, old.Counter+1)
			}
			mine := old
			mine.Owner, mine.Counter = "you", old.Counter+1
			if err := l.Swap(t.Context(), leaseLabel, old, mine); err != nil {
				t.Errorf("%s as %v: %v", attr, value, err)
			}
			theirs := mine
			theirs.Owner = "another"
			if err := l.Swap(t.Context(), leaseLabel, old, theirs); comment.KindOf(err) != comment.Conflict {
				t.Errorf("%s as %v: taken twice: %v", attr, value, err)
			}
			if now := leaseOf(t, l, shard); now != mine || now.Checkpoint != "17" {
				t.Errorf("%s as %v: it is %+v", attr, value, now)
			}
		}
	}
}

func leaseOf(t *testing.T, l *leases.Leases, shard string) stream.Lease {
	t.Helper()
	all := must.Get(l.List(t.Context(), leaseLabel))(t)
	for _, lease := range all {
		if lease.Shard == shard {
			return lease
		}
	}
	t.Fatalf("no lease of %s", shard)
	return stream.Lease{}
}

// Work whose item was damaged by hand is taken over by one process. Otherwise all would wait for it
// forever.
func TestDamagedWork(t *testing.T) {
	client, table := newTable(t, dynamotest.Dynoxide(t))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, attr := range []string{"ow", "bt"} {
		for _, value := range damages() {
			key := layout.Key("WORK", time.Now().String())
			work := func() *leases.Work {
				return leases.NewWork(leases.WorkOptions{
					Client: client, Table: table, Key: key, Name: "a test", Who: "me", Heartbeat: time.Millisecond,
					Progress: func() layout.Item { return layout.Item{"step": layout.Number(3)} },
				})
			}
			killed := work()
			must.Get(killed.Acquire(ctx))(t)
			spoil(t, client, table, key, attr, value)
			next := work()
			was, err := next.Acquire(ctx)
			if err != nil || layout.NewReader(was).Number("step") != 3 {
				t.Errorf("%s as %v: it was %v: %v", attr, value, was, err)
			}
			if attr == "bt" { // while the work is done, too
				spoil(t, client, table, key, attr, value)
			}
			if err := next.Save(ctx); err != nil {
				t.Errorf("%s as %v: %v", attr, value, err)
			}
			if err := killed.Save(ctx); comment.KindOf(err) != comment.Conflict {
				t.Errorf("%s as %v: the process that was thought to be killed goes on: %v", attr, value, err)
			}
		}
	}
}

// Progress that was saved before takes effect once more: the progress since then stays.
func TestProgressThatArrivesLate(t *testing.T) {
	client, table := newTable(t, dynamotest.Dynoxide(t))
	again := []func(){}
	repeated := repeating{client, func(in *dynamodb.PutItemInput) {
		again = append(again, func() { _, _ = client.PutItem(t.Context(), in, call.NoRetries) })
	}}
	step := int64(0)
	work := leases.NewWork(leases.WorkOptions{
		Client: repeated, Table: table, Key: layout.Key("WORK", "w"), Name: "a test", Who: "me", Heartbeat: time.Millisecond,
		Progress: func() layout.Item { return layout.Item{"step": layout.Number(step)} },
	})
	must.Get(work.Acquire(t.Context()))(t)
	for step = range 3 {
		must.Do(t, work.Save(t.Context()))
		for _, put := range again {
			put()
			if now := layout.NewReader(must.Get(work.Read(t.Context()))(t)).Number("step"); now != step {
				t.Errorf("after step %d, the progress is %d", step, now)
			}
		}
	}
}

// repeating is a client whose puts are noted.
type repeating struct {
	*dynamodb.Client
	note func(*dynamodb.PutItemInput)
}

func (r repeating) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	r.note(in)
	return r.Client.PutItem(ctx, in, options...)
}
