package counts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// disturb changes the statistics of a product as counting would, unless the product is held.
func (v vandal) disturb(product, expression string, values ...types.AttributeValue) (held bool) {
	v.t.Helper()
	err := v.updateIf("attribute_exists(PK) AND attribute_not_exists(h)", "P#"+product, "S", expression, values...)
	if held = errors.As(err, new(*types.ConditionalCheckFailedException)); !held {
		must.Do(v.t, err)
	}
	return held
}

// A product that is counted during every look is held for a moment, and is right after it.
func TestRebuildHoldsWhatIsNeverCalm(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client := call.NewLocalClient(endpoint)
		v, _ := damaged(t, client)
		v.grid("de=0,0,0,0,1 en=0,0,0,7,2")
		went, stood := 0, 0 // how often others counted, and how often a hold stopped them
		busy := faulttest.Before(client, "Query", func() {
			for _, product := range []string{"p", "bystander"} {
				if v.disturb(product, "SET n = n + :a", layout.Number(1)) {
					stood++
				} else {
					went++
				}
			}
		})
		if result := rebuild(t, busy, v.table); result.Repaired != 1 || went < 2 || stood < 3 {
			t.Errorf("%+v; others counted %d times and waited %d times", result, went, stood)
		}
		verify(t, client, v.table)
		checkCounted(t, client, v.table, []string{"p", "bystander"}, storedModel(t, client, v.table))
		for _, product := range []string{"p", "bystander"} {
			if _, held := v.get("P#"+product, "S")["h"]; held {
				t.Errorf("%s is still held", product)
			}
		}
		found, err := counts.HastenVerifier(counts.NewVerifier(busy, v.table, counts.VerifyOptions{Calls: 2})).Run(t.Context(), func(int) {})
		if err != nil || len(found.Restless) != 2 || len(found.Drifts) > 0 {
			t.Errorf("verifying, which holds nothing: %+v, %v", found, err)
		}
	})
}

// A product is held too if nothing changes during any look, and yet no two looks find the same.
func TestRebuildHoldsWhatIsAnotherEachTime(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v, _ := damaged(t, client)
	looks, held := 0, false
	shifting := faulttest.Before(client, "BatchGetItem", func() {
		if looks++; !held {
			held = v.disturb("p", "SET n = n + :a, g = :b", layout.Number(1), text(fmt.Sprintf("de=0,0,0,0,%d", looks)))
		}
	})
	result, err := counts.Hasten(counts.NewRebuilder(shifting, v.table, counts.RebuildOptions{Calls: 1})).Run(t.Context(), func(counts.RebuildProgress) {})
	if err != nil || result.Repaired != 1 || !held {
		t.Errorf("%+v, %v; held %v", result, err, held)
	}
	verify(t, client, v.table)
}

// The hold of a killed rebuild never blocks the next rebuild, and blocks counters only until it
// expires.
func TestHoldLeftBehind(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, row := range []struct {
		why   string
		until time.Time
		heal  func(v vandal, added comment.Comment)
	}{
		{"a rebuild while it lasts", time.Now().Add(time.Hour), func(v vandal, _ comment.Comment) { rebuild(t, client, v.table) }},
		{"counting after it", time.Now().Add(-time.Second), func(v vandal, added comment.Comment) {
			handle(t, counts.NewCounter(client, v.table, counts.CounterOptions{}), stream.Record{Position: "1", New: layout.Encode(added)})
		}},
	} {
		v, _ := damaged(t, client)
		v.update("P#p", "S", "SET h = :a", text(fmt.Sprintf("%d/someone", row.until.UnixMilli())))
		added := commenttest.Random(commenttest.Rand(t), "p")
		load(t, client, v.table, []comment.Comment{added})
		row.heal(v, added)
		verify(t, client, v.table)
		if _, held := v.get("P#p", "S")["h"]; held {
			t.Errorf("%s: it is still held", row.why)
		}
	}
}

// looking is a client after whose first look at a comment and its marker something else happens.
type looking struct {
	*dynamodb.Client
	table string
	then  func()
}

func (l *looking) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := l.Client.BatchGetItem(ctx, in, o...)
	isComment := func(key layout.Item) bool { return layout.NewReader(key).Text("SK") == layout.CommentSK }
	if then := l.then; then != nil && slices.ContainsFunc(in.RequestItems[l.table].Keys, isComment) {
		l.then = nil
		then()
	}
	return out, err
}

// While a product is held, others do not count it, even if they read it before the hold.
func TestHeldProductIsLeftAlone(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, readBefore := range []bool{false, true} {
		v, _ := damaged(t, client)
		hold := func() {
			v.update("P#p", "S", "SET h = :a", text(fmt.Sprintf("%d/someone", time.Now().Add(time.Hour).UnixMilli())))
		}
		counted := false
		other := faulttest.Before(client, "TransactWriteItems", sync.OnceFunc(func() {
			if counted = true; !readBefore {
				t.Error("a product that is held is counted")
				return
			}
			hold()
		}))
		if !readBefore {
			hold()
		}
		counter := counts.NewCounter(other, v.table, counts.CounterOptions{Patience: time.Millisecond})
		record := stream.Record{Position: "1", New: layout.Encode(commenttest.Random(commenttest.Rand(t), "p"))}
		tried := false
		for n := 0; n < 100 && !tried; n++ { // its patience may end before it begins
			var failed stream.RecordErrors
			if err := counter.Handle(t.Context(), []stream.Record{record}); !errors.As(err, &failed) || comment.KindOf(failed[0]) != comment.Throttled {
				t.Fatalf("read before: %v: %v", readBefore, err)
			}
			tried = counted || strings.Contains(failed[0].Error(), "counted anew")
		}
		if _, held := v.get("P#p", "S")["h"]; !held || !tried {
			t.Errorf("read before: %v: the hold is there: %v, and told: %v", readBefore, held, tried)
		}
	}
}

// A comment may change, and the change may be counted, after a rebuild looked at the comment and
// before it corrects the marker. What it saw is then not counted.
func TestCommentChangesAfterALook(t *testing.T) {
	client, table := newTableAt(t, dynamotest.Dynoxide(t))
	before := commenttest.Random(commenttest.Rand(t), "p")
	load(t, client, table, []comment.Comment{before})
	after := before
	after.Version, after.Rating = before.Version+1, before.Rating%comment.MaxRating+1
	changing := &looking{Client: client, table: table, then: func() {
		must.Do(t, dynamo.NewStore(client, table, dynamo.Options{}).Replace(t.Context(), before, after))
		record := stream.Record{Position: "1", Old: layout.Encode(before), New: layout.Encode(after)}
		handle(t, counts.NewCounter(client, table, counts.CounterOptions{}), record)
	}}
	must.Get(counts.Hasten(counts.NewRebuilder(changing, table, counts.RebuildOptions{Calls: 2})).Run(t.Context(), func(counts.RebuildProgress) {}))(t)
	if changing.then != nil {
		t.Error("not looked")
	}
	checkCounted(t, client, table, []string{"p"}, commenttest.NewModel(after))
	verify(t, client, table)
}

// A lost item of statistics comes back with a low number of changes, which a process may have read
// before. The marker then keeps that process from counting.
func TestNumberOfChangesComesBack(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, known := range []bool{false, true} {
		v := newVandal(t, client)
		c := commenttest.Many(commenttest.Rand(t), "p", 3)
		load(t, client, v.table, c)
		other := counts.NewCounter(client, v.table, counts.CounterOptions{})
		was := c[1]
		was.Rating = was.Rating%comment.MaxRating + 1
		first := []stream.Record{{Position: "1", New: layout.Encode(c[0])}}
		if known {
			first = append(first, stream.Record{Position: "1", New: layout.Encode(was)})
		}
		handle(t, other, first...)
		record := stream.Record{Position: "2", New: layout.Encode(c[1])}
		late := counts.NewCounter(faulttest.Before(client, "TransactWriteItems", sync.OnceFunc(func() {
			handle(t, other, record, stream.Record{Position: "1", New: layout.Encode(c[2])})
			v.delete("P#p", "S")
			rebuild(t, client, v.table)
		})), v.table, counts.CounterOptions{})
		handle(t, late, record)
		verify(t, client, v.table)
		if t.Failed() {
			t.Fatalf("known before: %v", known)
		}
	}
}

// A record from before a look is ignored, even if no record was applied since.
func TestOldRecordsAfterALook(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := newVandal(t, client)
	c := commenttest.Random(commenttest.Rand(t), "p")
	load(t, client, v.table, []comment.Comment{c})
	counter := counts.NewCounter(client, v.table, counts.CounterOptions{})
	added, deleted := stream.Record{Position: "1", New: layout.Encode(c)}, stream.Record{Position: "2", Old: layout.Encode(c)}
	rebuild(t, client, v.table)
	handle(t, counter, added)
	v.delete("C#"+c.ID.Position().String(), "C")
	rebuild(t, client, v.table)
	handle(t, counter, deleted)
	handle(t, counter, added) // by a reader that fell behind
	verify(t, client, v.table)
}
