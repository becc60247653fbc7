package dynamo_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// tail is a client that follows the new comments of a product.
type tail struct {
	settled bool
	cursor  *comment.Place
	seen    []comment.ID
}

// read reads all pages to the end.
func (f *tail) read(t *testing.T, store *dynamo.Store) {
	t.Helper()
	for more := true; more; {
		page, err := store.Comments(t.Context(), comment.Query{
			Product: "42", Order: comment.OldestFirst, Filter: comment.Filter{Ratings: []int{1, 5}},
			Slice: comment.Slice{Size: 3, After: f.cursor}, SettledOnly: f.settled,
		})
		must.Do(t, err)
		for _, c := range page.Comments {
			f.cursor, f.seen = comment.At(c.ID.Position()), append(f.seen, c.ID)
		}
		more = page.HasNext
	}
}

// tailed is a table with several servers. Clocks of writers are up to behind back, and calls on
// their networks fail for seconds.
type tailed struct {
	t       *testing.T
	random  *rand.Rand
	client  *dynamodb.Client
	table   string
	now     time.Time
	behind  time.Duration
	written []comment.ID
}

// add writes a comment from a server whose clock is up to a second ahead, or behind. The first
// failing tries end in a fault. Each takes three seconds, during which meanwhile runs.
func (w *tailed) add(failing int, meanwhile func()) {
	client, network := faulttest.Under(w.client, func(call int) faulttest.Fault {
		if call > failing {
			return faulttest.None
		}
		ends := w.now.Add(3 * time.Second)
		meanwhile()
		w.now = ends
		kinds := []faulttest.Fault{faulttest.Throttled, faulttest.Refused, faulttest.AnswerLost, faulttest.Late}
		if call < failing {
			kinds = kinds[:2] // the others would write before the comments that overtake this one
		}
		return kinds[w.random.IntN(len(kinds))]
	})
	c := commenttest.Random(w.random, "42")
	c.Rating = []int{1, 5}[w.random.IntN(2)]
	var distinct [10]byte
	distinct[0], distinct[1] = byte(w.random.IntN(256)), byte(w.random.IntN(256))
	skew := time.Second - time.Duration(w.random.Int64N(int64(w.behind+time.Second)))
	c.ID = comment.IDOf(comment.PositionAt(w.now.Add(skew), distinct))
	must.Get(dynamo.NewStore(client, w.table, dynamo.Options{}).Add(w.t.Context(), c, ""))(w.t)
	must.Do(w.t, network.Flush())
	w.written = append(w.written, c.ID)
	w.now = w.now.Add(time.Duration(w.random.IntN(2000)) * time.Millisecond)
}

// A client that tails settled comments sees each new one once and in order, though some writes are
// retried for seconds while others overtake them, and clocks of writers are up to 14 seconds
// behind. A client that tails all comments misses some.
func TestTailSeesWhatIsWrittenLate(t *testing.T) {
	for _, behind := range []time.Duration{time.Second, 14 * time.Second} {
		t.Run(behind.String(), func(t *testing.T) { tailBesideLateWrites(t, behind) })
	}
}

func tailBesideLateWrites(t *testing.T, behind time.Duration) {
	w := &tailed{t: t, behind: behind, random: commenttest.Rand(t), client: call.NewLocalClient(dynamotest.Dynoxide(t)), table: dynamotest.TableName(t), now: time.Now()}
	must.Do(t, dynamo.CreateTable(t.Context(), w.client, w.table))
	store := dynamo.ByClock(dynamo.NewStore(w.client, w.table, dynamo.Options{}), func() time.Time { return w.now })
	settled, all := &tail{settled: true}, &tail{}
	look := func() { settled.read(t, store); all.read(t, store) }
	for _, failing := range []int{4, w.random.IntN(5), w.random.IntN(5), 3} {
		w.add(failing, func() {
			w.add(0, nil)
			look()
		})
		w.now = w.now.Add(time.Duration(w.random.IntN(20)) * time.Second)
		look()
	}
	w.now = w.now.Add(comment.SettleTime + 2*time.Second)
	look()
	slices.Sort(w.written)
	if !slices.Equal(settled.seen, w.written) {
		t.Errorf("%d of %d comments: seen %v, written %v", len(settled.seen), len(w.written), settled.seen, w.written)
	}
	if len(all.seen) == len(w.written) {
		t.Error("no write came late, so the test shows nothing")
	}
}

// hanging is a client whose writes get no answer.
type hanging struct{ *dynamodb.Client }

func (hanging) PutItem(ctx context.Context, _ *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hanging) TransactWriteItems(ctx context.Context, _ *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A write gives up before its comment settles, early enough to allow for clock differences and the
// lag of indexes.
func TestWritesEndBeforeCommentsSettle(t *testing.T) {
	for _, key := range []string{"", "a key"} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := dynamo.NewStore(hanging{}, "comments", dynamo.Options{}).Add(t.Context(), commenttest.Random(commenttest.Rand(t), "42"), key)
			if took := time.Since(began); err == nil || took > comment.SettleTime-2*time.Second-10*time.Second {
				t.Errorf("given up after %v: %v", took, err)
			}
		})
	}
}
