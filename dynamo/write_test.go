package dynamo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/usage"
)

// An idempotency key is valid for a day, even for servers whose clocks are up to an hour ahead.
// Then it is no longer valid, even if its item still exists.
func TestKeysExpire(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := call.NewLocalClient(endpoint), dynamotest.TableName(t)
		if err := CreateTable(t.Context(), client, table); err != nil {
			t.Fatal(err)
		}
		r, start := commenttest.Rand(t), time.Now()
		first := commenttest.Random(r, "p")
		first.Version, first.UpdatedAt = 1, nil
		for _, row := range []struct {
			after time.Duration
			same  bool
		}{
			{0, true}, {KeyLifetime, true}, {KeyLifetime + clockSkew - time.Second, true}, {-clockSkew, true},
			{KeyLifetime + clockSkew + 2*time.Second, false},
		} {
			store := NewStore(client, table, Options{})
			store.now = func() time.Time { return start.Add(row.after) }
			c := first
			c.ID = comment.IDOf(comment.PositionAt(start.Add(row.after), [10]byte{byte(r.Uint32())}))
			got, err := store.Add(t.Context(), c, "key")
			if row.after == 0 {
				first = got
			}
			if err != nil || (got.ID == first.ID) != row.same {
				t.Errorf("after %s: %s, %v; the first was %s", row.after, got.ID, err, first.ID)
			}
		}
	})
}

// The account of an operation has the comments that it writes, so that its duration is compared with
// that of others that write.
func TestWritesAreAccountedFor(t *testing.T) {
	client, table := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	if err := CreateTable(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	store, account := NewStore(client, table, Options{}), usage.NewPool(1).Open(1)
	ctx := usage.With(t.Context(), account)
	c := commenttest.Random(commenttest.Rand(t), "p")
	c.Version, c.UpdatedAt = 1, nil
	added, err := store.Add(ctx, c, "")
	if err != nil {
		t.Fatal(err)
	}
	changed := added
	changed.Version, changed.Text = 2, "changed"
	if err := store.Replace(ctx, added, changed); err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(ctx, changed); err != nil {
		t.Fatal(err)
	}
	if got := account.Writes(); got != 3 {
		t.Errorf("%d writes, want those of adding, replacing and deleting", got)
	}
}

// The item of a key holds none of the comment's words, and not its author.
func TestKeysHoldNoWords(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "p")
	title := "a headline"
	c.Title = &title
	for name, value := range keyItemOf(c, hashOf("the key"), time.Now()) {
		text, _ := value.(*types.AttributeValueMemberS)
		if text == nil {
			continue
		}
		for _, word := range []string{c.Text, title, c.Author.Name, "the key"} {
			if strings.Contains(text.Value, word) {
				t.Errorf("attribute %s holds %q", name, word)
			}
		}
	}
}

// failing is a table whose calls end as the script says. The last line of the script applies to all
// further calls.
type failing struct {
	client
	script []func(context.Context) error
	calls  int
}

func (f *failing) PutItem(ctx context.Context, _ *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	step := f.script[min(f.calls, len(f.script)-1)]
	f.calls++
	return &dynamodb.PutItemOutput{}, step(ctx)
}

func fails(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A failed write reports whether its outcome is unknown. The outcome is known only if no try can
// have had an effect.
func TestWhatAWriteSaysInTheEnd(t *testing.T) {
	throttled := fails(&types.ProvisionedThroughputExceededException{})
	broken := fails(&smithy.GenericAPIError{Code: "InternalServerError", Fault: smithy.FaultServer})
	invalid := fails(&smithy.GenericAPIError{Code: "ValidationException", Fault: smithy.FaultClient})
	missing := fails(&types.ResourceNotFoundException{})
	for _, row := range []struct {
		why     string
		script  []func(context.Context) error
		kind    comment.Kind
		unknown bool
		calls   int
	}{
		{"busy to the end", []func(context.Context) error{throttled}, comment.Throttled, false, 5},
		{"broken to the end", []func(context.Context) error{broken}, comment.Unavailable, true, 5},
		{"broken, and then busy to the end", []func(context.Context) error{broken, throttled}, comment.Unavailable, true, 5},
		{"busy, and then broken", []func(context.Context) error{throttled, throttled, broken}, comment.Unavailable, true, 5},
		{"refused at once", []func(context.Context) error{invalid}, comment.Internal, false, 1},
		{"no table", []func(context.Context) error{missing}, comment.Unavailable, false, 1},
		{"broken, and then refused", []func(context.Context) error{broken, invalid}, comment.Unavailable, true, 2},
		{"no answer at all", []func(context.Context) error{hangs}, comment.Timeout, true, 4},
		{"busy, and then no answer", []func(context.Context) error{throttled, hangs}, comment.Timeout, true, 5},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				table := &failing{script: row.script}
				_, err := NewStore(table, "t", Options{}).Add(ctx, commenttest.Random(commenttest.Rand(t), "p"), "")
				said := strings.Contains(comment.MessageOf(err), "is unknown")
				if comment.KindOf(err) != row.kind || said != row.unknown || table.calls != row.calls {
					t.Errorf("%v (kind %d) after %d calls; want kind %d after %d, unknown: %v", err, comment.KindOf(err), table.calls, row.kind, row.calls, row.unknown)
				}
			})
		})
	}
}

// A canceled request ends the tries of a write, during a try or between two.
func TestWriteIsCalledOff(t *testing.T) {
	for _, inCall := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			table := &failing{script: []func(context.Context) error{func(ctx context.Context) error {
				cancel()
				if inCall {
					return hangs(ctx)
				}
				return &types.ProvisionedThroughputExceededException{}
			}}}
			_, err := NewStore(table, "t", Options{}).Add(ctx, commenttest.Random(commenttest.Rand(t), "p"), "")
			if table.calls != 1 || err == nil || inCall != errors.Is(err, context.Canceled) {
				t.Errorf("in a call: %v: %v after %d calls", inCall, err, table.calls)
			}
		})
	}
}

// An idempotency key is in no index.
func TestKeysAreInNoIndex(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "42")
	if got := dynamotest.IndexAttributes(layout.Definition("t"), keyItemOf(c, hashOf("key"), c.CreatedAt())); len(got) > 0 {
		t.Errorf("it has %v", got)
	}
}
