package call

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/dynamo/layout"
)

// Retries of all calls of a client take from one budget, in whatever way the calls are made.
func TestRetriesShareABudget(t *testing.T) {
	scan := func(client *dynamodb.Client) error {
		_, err := client.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String(testTable)})
		return err
	}
	for _, way := range ways {
		for _, scansFirst := range []bool{false, true} {
			withPeer(t, func(t *testing.T, p *peer) {
				p.answer = func(r *received) bool { return fails(400, "ThrottlingException")(p, r) }
				options := p.options()
				client, sdk := way.open(options), dynamodb.New(options)
				exhaust, other := func() { ask(t.Context(), client, "Query") }, func() { _ = scan(sdk) }
				if scansFirst {
					exhaust, other = other, exhaust
				}
				made := func(call func()) int {
					before, _, _ := p.seen()
					call()
					after, _, _ := p.seen()
					return len(after) - len(before)
				}
				if n := made(other); n != maxAttempts {
					t.Errorf("%s: %d requests before the budget is used up", way.name, n)
				}
				calls := 0
				for made(exhaust) == maxAttempts {
					calls++
				}
				if calls < 48 || calls > 50 { // 500 tokens, 5 for each retry
					t.Errorf("%s: %d calls use up the budget", way.name, calls)
				}
				if n := made(other); n != 1 {
					t.Errorf("%s: %d requests after the budget was used up by others, want 1", way.name, n)
				}
			})
		}
	}
}

// Each success gives a token back to the budget of retries, in whatever way the call was made.
func TestSuccessesFillTheBudget(t *testing.T) {
	for _, way := range ways {
		withPeer(t, func(t *testing.T, p *peer) {
			throttled := true
			p.answer = func(r *received) bool {
				if throttled {
					return fails(400, "ThrottlingException")(p, r)
				}
				return p.ok(r, "{}")
			}
			client := way.open(p.options())
			retried := func() (calls int) {
				for {
					before, _, _ := p.seen()
					ask(t.Context(), client, "Query")
					if after, _, _ := p.seen(); len(after)-len(before) < maxAttempts {
						return calls
					}
					calls++
				}
			}
			retried()
			throttled = false
			for range 50 {
				ask(t.Context(), client, "Query")
			}
			throttled = true
			if n := retried(); n != 5 { // each takes 10 tokens
				t.Errorf("%s: %d calls are retried after 50 successes, want 5", way.name, n)
			}
		})
	}
}

// leave is a retryer that counts how often an attempt asks for leave.
type leave struct {
	*retry.Standard
	asked int
}

// GetAttemptToken implements [aws.RetryerV2].
func (l *leave) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	l.asked++
	return l.Standard.GetAttemptToken(ctx)
}

// Each attempt asks the retryer for leave once.
func TestAttemptsAskForLeave(t *testing.T) {
	for _, way := range ways {
		for _, status := range []int{200, 500} {
			withPeer(t, func(t *testing.T, p *peer) {
				p.answer = func(r *received) bool { return p.says(r, status, "{}") }
				options, retryer := p.options(), &leave{Standard: retry.NewStandard()}
				options.Retryer = retryer
				client := way.open(options)
				ask(t.Context(), client, "Query") // the first lean call is prepared by the SDK, with an attempt
				before, _, _ := p.seen()
				retryer.asked = 0
				ask(t.Context(), client, "Query")
				after, _, _ := p.seen()
				if made := len(after) - len(before); retryer.asked != made || made == 0 {
					t.Errorf("%s, %d: %d attempts ask for leave %d times", way.name, status, made, retryer.asked)
				}
			})
		}
	}
}

// Many calls at once get their own answers, and keep them: an answer shares no memory with those
// that come after it.
func TestAnswersAreTheirOwn(t *testing.T) {
	for _, way := range ways {
		withPeer(t, func(t *testing.T, p *peer) {
			p.answer = func(r *received) bool { return p.ok(r, answerOf("Query", itemsFor(r)...)) }
			client := way.open(p.options())
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					var kept []outcome
					for range 10 {
						var o outcome
						if err := o.query(client.Query(t.Context(), queryOf(nameOf(i)))); err != nil {
							t.Error(err)
						}
						kept = append(kept, o)
					}
					for _, o := range kept {
						checkOwn(t, way.name, nameOf(i), o)
					}
				})
			}
			group.Wait()
		})
	}
}

func nameOf(i int) string { return fmt.Sprintf("product-%02d", i) }

// itemsFor are items that name the product of a query, some with an escape.
func itemsFor(r *received) (items []string) {
	var input struct {
		ExpressionAttributeValues map[string]struct{ S string }
	}
	_ = json.Unmarshal(r.body, &input) // an answer without a name fails the test
	for i := range 20 {
		items = append(items, fmt.Sprintf(`{"PK":{"S":"%s"},"text":{"S":"%[1]s\n%d"},"B":{"B":"%s"}}`,
			input.ExpressionAttributeValues[":p"].S, i, base64.StdEncoding.EncodeToString([]byte(input.ExpressionAttributeValues[":p"].S))))
	}
	return items
}

func checkOwn(t *testing.T, way, name string, o outcome) {
	t.Helper()
	for i, it := range o.Items {
		want := layout.Item{"PK": layout.Text(name), "text": layout.Text(fmt.Sprintf("%s\n%d", name, i)), "B": &types.AttributeValueMemberB{Value: []byte(name)}}
		if diff := cmp.Diff(want, it, comparing...); diff != "" {
			t.Errorf("%s: item %d of %s:\n%s", way, i, name, diff)
		}
	}
	if len(o.Items) != 20 {
		t.Errorf("%s: %d items of %s", way, len(o.Items), name)
	}
}
