package call

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/usage"
)

// Bulk work goes on through temporary errors for as long as it makes progress, and gives up in the
// end.
func TestRetry(t *testing.T) {
	refused := errors.New("refused")
	for name, row := range map[string]struct {
		try   func(n int) (progress bool, err error)
		want  error
		calls int
	}{
		"succeeds":               {func(int) (bool, error) { return false, nil }, nil, 1},
		"fails for good":         {func(int) (bool, error) { return true, refused }, refused, 1},
		"fails for a while":      {func(n int) (bool, error) { return false, failsUntil(n, retryTries) }, nil, retryTries},
		"fails for long":         {func(int) (bool, error) { return false, ErrBusy }, ErrBusy, retryTries},
		"makes progress":         {func(n int) (bool, error) { return true, failsUntil(n, 40) }, nil, 40},
		"makes progress at last": {func(n int) (bool, error) { return n == retryTries-1, failsUntil(n, 2*retryTries-2) }, nil, 2*retryTries - 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls, began := 0, time.Now()
			err := Retry(t.Context(), func() (bool, error) { calls++; return row.try(calls) })
			if err != row.want || calls != row.calls {
				t.Errorf("%s: %v after %d calls, want %v after %d", name, err, calls, row.want, row.calls)
			}
			if waited := time.Since(began); waited > time.Duration(calls)*retryLongestWait || calls == 1 && waited > 0 {
				t.Errorf("%s: it waits %v", name, waited)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		calls := 0
		if _, err := Retried(ctx, func() (int, error) { calls++; return 0, ErrBusy }); err != ErrBusy || calls != retryTries {
			t.Errorf("a fetch that fails for long: %v after %d calls", err, calls)
		}
	})
}

// failsUntil returns ErrBusy before call last, and nil from it on.
func failsUntil(n, last int) error {
	if n < last {
		return ErrBusy
	}
	return nil
}

// A write is retried until its outcome is known. If it stays unknown, the error says so.
func TestRetryWrite(t *testing.T) {
	lost, throttled := context.DeadlineExceeded, &types.ProvisionedThroughputExceededException{}
	settled := comment.Errorf(comment.Conflict, "somebody else was first")
	for name, row := range map[string]struct {
		errs  []error // of each try; later tries succeed
		again []bool  // argument of each try
		kind  comment.Kind
		cause error
	}{
		"succeeds":              {nil, []bool{false}, 0, nil},
		"loses an answer":       {[]error{lost}, []bool{false, true}, 0, nil},
		"is throttled":          {[]error{throttled, throttled}, []bool{false, false, false}, 0, nil},
		"is settled":            {[]error{lost, settled}, []bool{false, true}, comment.Conflict, settled},
		"is overtaken":          {[]error{ErrOvertaken}, []bool{false}, comment.KindOf(ErrOvertaken), ErrOvertaken},
		"is throttled for long": {slices.Repeat([]error{throttled}, 9), make([]bool, writeTries), comment.KindOf(throttled), throttled},
		"loses all answers":     {slices.Repeat([]error{lost}, 9), []bool{false, true, true, true, true}, comment.Unavailable, lost},
	} {
		synctest.Test(t, func(t *testing.T) {
			var again []bool
			err := RetryWrite(t.Context(), func(ctx context.Context, told bool) error {
				if deadline, _ := ctx.Deadline(); time.Until(deadline) != writeTimeout {
					t.Errorf("%s: a try has %v", name, time.Until(deadline))
				}
				if again = append(again, told); len(again) <= len(row.errs) {
					return row.errs[len(again)-1]
				}
				return nil
			})
			if !errors.Is(err, row.cause) || err != nil && comment.KindOf(err) != row.kind || !slices.Equal(again, row.again) {
				t.Errorf("%s: %v after tries with %v; want kind %v of %v after %v", name, err, again, row.kind, row.cause, row.again)
			}
		})
	}
}

// busyTable leaves the first key of each call unprocessed, for the first calls.
type busyTable struct{ left, calls int }

func (b *busyTable) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out := &dynamodb.BatchGetItemOutput{
		Responses: map[string][]map[string]types.AttributeValue{}, UnprocessedKeys: map[string]types.KeysAndAttributes{},
		ConsumedCapacity: []types.ConsumedCapacity{{CapacityUnits: aws.Float64(2)}},
	}
	b.calls++
	for table, want := range in.RequestItems {
		if b.left > 0 {
			b.left--
			out.UnprocessedKeys[table] = types.KeysAndAttributes{Keys: want.Keys[:1]}
			want.Keys = want.Keys[1:]
		}
		out.Responses[table] = want.Keys
	}
	return out, nil
}

// Keys that DynamoDB leaves unprocessed are requested again, a few times, with growing waits.
func TestGetItemsAsksForWhatIsLeft(t *testing.T) {
	keys := []layout.Item{layout.Key("a", "1"), layout.Key("a", "2"), layout.Key("a", "3")}
	for _, row := range []struct{ busy, calls, left int }{{0, 1, 0}, {1, 2, 0}, {getTries - 1, getTries, 0}, {getTries, getTries, 1}} {
		synctest.Test(t, func(t *testing.T) {
			client, account, began := &busyTable{left: row.busy}, usage.NewPool(1).Open(1), time.Now()
			got, err := GetItems(usage.With(t.Context(), account), client, "t", types.KeysAndAttributes{Keys: keys})
			if err != nil || len(got.Items) != len(keys)-row.left || len(got.Left) != row.left || got.Calls != row.calls || client.calls != row.calls {
				t.Errorf("a table that is busy %d times: %+v, %v after %d calls; want %+v", row.busy, got, err, client.calls, row)
			}
			if waited := time.Since(began); waited > getFirstWait<<row.calls {
				t.Errorf("a table that is busy %d times: it waits %v", row.busy, waited)
			}
			if reads := account.Reads(); reads.Calls != row.calls || reads.Units != 2*float64(row.calls) {
				t.Errorf("a table that is busy %d times: %+v is charged for %d calls", row.busy, reads, row.calls)
			}
		})
	}
}

// The calls before a failure are charged, too.
func TestGetItemsChargesWhatFails(t *testing.T) {
	account := usage.NewPool(1).Open(1)
	ctx, cancel := context.WithCancel(usage.With(t.Context(), account))
	cancel() // which the table does not notice, but the wait
	keys := types.KeysAndAttributes{Keys: []layout.Item{layout.Key("a", "1")}}
	if _, err := GetItems(ctx, &busyTable{left: 1}, "t", keys); !errors.Is(err, context.Canceled) || account.Units() != 2 {
		t.Errorf("%v units are charged: %v", account.Units(), err)
	}
}

// The SDK waits for a random time, up to a limit that doubles but never exceeds maxBackoff.
func TestRetryerWaits(t *testing.T) {
	for attempt := range 100 {
		for range 20 {
			delay, err := retryer().RetryDelay(attempt, ErrBusy)
			if longest := min(firstBackoff<<min(attempt, 10), maxBackoff); err != nil || delay < 0 || delay >= longest {
				t.Fatalf("before attempt %d it waits %v, %v; want less than %v", attempt, delay, err, longest)
			}
		}
	}
}

// All calls of a client, and of its copies, take retries from one budget. Each success returns a
// token to it.
func TestRetriesShareABudget(t *testing.T) {
	withPeer(t, func(t *testing.T, p *peer) {
		throttled := true
		p.answer = func(r *received) bool {
			if throttled {
				return fails(400, "ThrottlingException")(p, r)
			}
			return p.ok(r, "{}")
		}
		client := p.client()
		scan := func() {
			_, _ = For(client, ForRebuild).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(testTable)})
		}
		query := func() { ask(t.Context(), client, "Query") }
		retried := func() (calls int) { // until the budget is used up
			for p.requests(query) == maxAttempts {
				calls++
			}
			return calls
		}
		if n := p.requests(scan); n != maxAttempts {
			t.Errorf("%d requests before the budget is used up", n)
		}
		if n := retried(); n < 48 || n > 50 { // 500 tokens, 5 for each retry
			t.Errorf("%d calls use up the budget", n)
		}
		if n := p.requests(scan); n != 1 {
			t.Errorf("%d requests after the budget was used up by others, want 1", n)
		}
		throttled = false
		for range 50 {
			query()
		}
		throttled = true
		if n := retried(); n != 5 { // each takes 10 tokens
			t.Errorf("%d calls are retried after 50 successes, want 5", n)
		}
	})
}

// requests returns the number of requests that a call makes.
func (p *peer) requests(call func()) int {
	before, _, _ := p.seen()
	call()
	after, _, _ := p.seen()
	return after - before
}
