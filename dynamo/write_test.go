package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/usage"
)

// An idempotency key is valid for a day, even for servers whose clocks are up to an hour ahead.
// After that it is not, even if its item still exists.
func TestKeysExpire(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := NewTable(t, endpoint)
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

// The account of an operation counts the comments that it writes, so that its duration is compared
// with other writes.
func TestWritesAreAccountedFor(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	store, account := NewStore(client, table, Options{}), usage.NewPool(1).Open(1)
	ctx := usage.With(t.Context(), account)
	c := commenttest.Random(commenttest.Rand(t), "p")
	c.Version, c.UpdatedAt = 1, nil
	added := must.Get(store.Add(ctx, c, ""))(t)
	changed := added
	changed.Version, changed.Text = 2, "changed"
	must.Do(t, store.Replace(ctx, added, changed))
	must.Do(t, store.Delete(ctx, changed))
	if got := account.Writes(); got != 3 {
		t.Errorf("%d writes, want those of adding, replacing and deleting", got)
	}
}

// The item of a key is in no index. It holds neither words of the comment nor its author.
func TestKeysHoldNoWords(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "p")
	c.Title = new("a headline")
	checkHidden(t, keyItemOf(c, layout.HashOf("the key"), time.Now()), c.Text, *c.Title, c.Author.Name, "the key")
}

// checkHidden fails if an item is in an index, or holds one of the words.
func checkHidden(t *testing.T, it layout.Item, words ...string) {
	t.Helper()
	if got := dynamotest.IndexAttributes(layout.Definition("t"), it); len(got) > 0 {
		t.Errorf("it has %v", got)
	}
	for name, value := range it {
		for _, word := range words {
			if strings.Contains(attrText(value), word) {
				t.Errorf("attribute %s holds %q", name, word)
			}
		}
	}
}

// failing is a table whose calls end as its script says. The last entry of the script applies to
// all further calls.
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
	for _, row := range []struct {
		why     string
		script  []func(context.Context) error
		kind    comment.Kind
		unknown bool
		calls   int
	}{
		{"busy to the end", []func(context.Context) error{throttled}, comment.Throttled, false, 5},
		{"broken, and then busy to the end", []func(context.Context) error{broken, throttled}, comment.Unavailable, true, 5},
		{"busy, and then broken", []func(context.Context) error{throttled, throttled, broken}, comment.Unavailable, true, 5},
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

// A canceled request ends a write, during a try or between two.
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

// added returns a new comment of a store, neither verified nor replied to.
func added(t *testing.T, store *Store, r *rand.Rand) comment.Comment {
	t.Helper()
	c := commenttest.Random(r, "p")
	c.Version, c.UpdatedAt, c.Reply, c.Verified = 1, nil, nil, false
	return must.Get(store.Add(t.Context(), c, ""))(t)
}

// edits writes a text with versions in place of the one read: that of a comment, or of its reply.
var edits = map[string]func(ctx context.Context, store *Store, c comment.Comment, text string) error{
	"a comment": func(ctx context.Context, store *Store, c comment.Comment, text string) error {
		after := c
		after.Text, after.Version, after.UpdatedAt = text, c.Version+1, new(someTime)
		return store.Replace(ctx, c, after)
	},
	"a reply": func(ctx context.Context, store *Store, c comment.Comment, text string) error {
		reply := &comment.Reply{Text: text, Name: "Shop", CreatedAt: someTime, Version: 1}
		if c.Reply != nil {
			reply.Version, reply.UpdatedAt = c.Reply.Version+1, new(someTime)
		}
		return store.SetReply(ctx, c, reply)
	},
}

var someTime = time.UnixMilli(1_700_000_000_000).UTC()

// A reply is written under conditions: it does not revive a deleted comment, and neither replaces
// nor removes a reply that its writer has not read.
func TestReplyIsWrittenInPlaceOfTheOneRead(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := NewTable(t, endpoint)
		store, at := NewStore(client, table, Options{}), someTime
		first := &comment.Reply{Text: "first", Name: "Shop", CreatedAt: at, Version: 1}
		second := &comment.Reply{Text: "second", Name: "Shop", CreatedAt: at, UpdatedAt: &at, Version: 2}
		anew := &comment.Reply{Text: "anew", Name: "Shop", CreatedAt: at.Add(time.Second), Version: 4}
		c := added(t, store, commenttest.Rand(t))
		for _, row := range []struct {
			why         string
			read, write *comment.Reply
			deletion    int          // deletion that the writer has read
			refused     comment.Kind // of the error, none for success
			there       *comment.Reply
		}{
			{"an edit of a reply that is not there", first, second, 0, comment.Conflict, nil},
			{"a first reply", nil, first, 0, 0, first},
			{"a first reply where one is", nil, anew, 0, comment.Conflict, first},
			{"an edit", first, second, 0, 0, second},
			{"an edit of an older version", first, second, 0, comment.Conflict, second},
			{"a deletion of an older version", first, nil, 0, comment.Conflict, second},
			{"a deletion", second, nil, 0, 0, nil},
			{"a deletion of what is gone", second, nil, 0, 0, nil},
			{"a first reply that arrives after the deletion", nil, first, 0, comment.Unavailable, nil},
			{"an edit that arrives after the deletion", first, second, 0, comment.Unavailable, nil},
			{"a reply after an earlier deletion", nil, anew, 2, comment.Conflict, nil},
			{"a reply after the deletion", nil, anew, 3, 0, anew},
			{"an edit of the one before it, which may have come in between", first, second, 0, comment.Unavailable, anew},
			{"a reply after the deletion, late", nil, anew, 3, comment.Conflict, anew},
		} {
			c.Reply, c.ReplyDeletion = row.read, row.deletion
			err := store.SetReply(t.Context(), c, row.write)
			if (err == nil) != (row.refused == 0) || err != nil && comment.KindOf(err) != row.refused {
				t.Errorf("%s: %v", row.why, err)
			}
			now, err := store.Comment(t.Context(), c.ID)
			if err != nil || !cmp.Equal(row.there, now.Reply) {
				t.Errorf("%s: %v, %v is there, want %v", row.why, err, now.Reply, row.there)
			}
		}
		c.Reply, c.ReplyDeletion = anew, 0
		must.Do(t, store.Delete(t.Context(), c))
		for _, read := range []*comment.Reply{nil, anew} {
			c.Reply = read
			if err := store.SetReply(t.Context(), c, first); comment.KindOf(err) != comment.NotFound {
				t.Errorf("a reply to a deleted comment: %v", err)
			}
		}
	})
}

// DynamoDB may perform a call twice. If another change comes in between, it refuses the second one,
// but the first had its effect. If nothing came in between, a writer whose answer is lost still
// learns that the text was written.
func TestPerformedTwiceAroundAnotherChange(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	r, healthy := commenttest.Rand(t), NewStore(client, table, Options{})
	for what, edit := range edits {
		c := added(t, healthy, r)
		performed := 0
		busy := faulttest.Before(client, "UpdateItem", func() {
			if performed++; performed == 2 {
				must.Do(t, edit(t.Context(), healthy, must.Get(healthy.Comment(t.Context(), c.ID))(t), "another"))
			}
		})
		faulty, _ := faulttest.Under(busy, faulttest.Nth(1, faulttest.Twice))
		if err := edit(t.Context(), NewStore(faulty, table, Options{}), c, "ours"); comment.KindOf(err) != comment.Unavailable {
			t.Errorf("%s, and another: %v, want that the outcome is unknown", what, err)
		}
		lossy, _ := faulttest.Under(client, faulttest.Nth(1, faulttest.AnswerLost))
		if err := edit(t.Context(), NewStore(lossy, table, Options{}), must.Get(healthy.Comment(t.Context(), c.ID))(t), "ours"); err != nil {
			t.Errorf("%s, whose answer is lost: %v", what, err)
		}
	}
}

// A vote whose answer is lost, or that is performed twice, is known to be cast.
func TestVoteWhoseAnswerIsLost(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	c := added(t, NewStore(client, table, Options{}), commenttest.Rand(t))
	var before comment.CastVote
	for _, vote := range []comment.Vote{comment.Helpful, comment.NotHelpful} {
		for _, fault := range []faulttest.Fault{faulttest.AnswerLost, faulttest.Twice} {
			faulty, _ := faulttest.Under(client, faulttest.Nth(1, fault))
			after := comment.CastVote{By: "ben", Vote: vote, At: before.At.Add(time.Second)}
			if before.At.IsZero() {
				after.At = time.Now()
			}
			if err := NewStore(faulty, table, Options{}).SetVote(t.Context(), c.ID, before, after); err != nil {
				t.Errorf("%s, %s: %v", vote, fault, err)
			}
			before = after
		}
	}
}

// Whether a purchase is verified changes without a new version. A request that arrives only after
// later changes does not set it again, and one that was overtaken after its answer was lost does
// not claim to be refused.
func TestVerifiedPurchaseThatArrivesLate(t *testing.T) {
	client, table := NewTable(t, dynamotest.Dynoxide(t))
	r, healthy := commenttest.Rand(t), NewStore(client, table, Options{})
	verify := func(store *Store, id comment.ID, verified bool) error {
		before := must.Get(healthy.Comment(t.Context(), id))(t)
		after := before
		after.Verified = verified
		return store.Replace(t.Context(), before, after)
	}
	for _, row := range []struct {
		why    string
		faults func(call int) faulttest.Fault
		ahead  int // the try ahead of which another caller takes the same change back; 0 for none
		kind   comment.Kind
		now    bool
	}{
		{"all tries arrive late", faulttest.From(1, faulttest.Late), 0, comment.Unavailable, false},
		{"the answer is lost", faulttest.Nth(1, faulttest.AnswerLost), 0, 0, true},
		{"performed twice", faulttest.Nth(1, faulttest.Twice), 0, 0, true},
		{"the answer is lost, and it is taken back", faulttest.Nth(1, faulttest.AnswerLost), 2, comment.Unavailable, false},
	} {
		c := added(t, healthy, r)
		try := 0
		busy := faulttest.Before(client, "UpdateItem", func() {
			if try++; try == row.ahead {
				must.Do(t, verify(healthy, c.ID, false))
			}
		})
		faulty, network := faulttest.Under(busy, row.faults)
		err := verify(NewStore(faulty, table, Options{}), c.ID, true)
		if (err == nil) != (row.kind == 0) || err != nil && comment.KindOf(err) != row.kind {
			t.Errorf("%s: %v", row.why, err)
		}
		if !row.now && row.ahead == 0 { // the client sends it again, and then takes it back
			must.Do(t, verify(healthy, c.ID, true))
			must.Do(t, verify(healthy, c.ID, false))
		}
		must.Do(t, network.Flush())
		if now := must.Get(healthy.Comment(t.Context(), c.ID))(t); now.Verified != row.now || now.Version != 1 {
			t.Errorf("%s: it is verified: %v, with version %d", row.why, now.Verified, now.Version)
		}
	}
}
