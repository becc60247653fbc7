package call

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// All calls of a client, and of its copies, take retries from one budget.
func TestRetriesShareABudget(t *testing.T) {
	withPeer(t, func(t *testing.T, p *peer) {
		p.answer = func(r *received) bool { return fails(400, "ThrottlingException")(p, r) }
		client := p.client()
		scan := func() {
			_, _ = For(client, ForRebuild).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(testTable)})
		}
		query := func() { ask(t.Context(), client, "Query") }
		if n := p.requests(scan); n != maxAttempts {
			t.Errorf("%d requests before the budget is used up", n)
		}
		calls := 0
		for p.requests(query) == maxAttempts {
			calls++
		}
		if calls < 48 || calls > 50 { // 500 tokens, 5 for each retry
			t.Errorf("%d calls use up the budget", calls)
		}
		if n := p.requests(scan); n != 1 {
			t.Errorf("%d requests after the budget was used up by others, want 1", n)
		}
	})
}

// requests returns the number of requests that a call makes.
func (p *peer) requests(call func()) int {
	before, _, _ := p.seen()
	call()
	after, _, _ := p.seen()
	return len(after) - len(before)
}

// Each success returns a token to the retry budget.
func TestSuccessesFillTheBudget(t *testing.T) {
	withPeer(t, func(t *testing.T, p *peer) {
		throttled := true
		p.answer = func(r *received) bool {
			if throttled {
				return fails(400, "ThrottlingException")(p, r)
			}
			return p.ok(r, "{}")
		}
		client := p.client()
		query := func() { ask(t.Context(), client, "Query") }
		retried := func() (calls int) {
			for p.requests(query) == maxAttempts {
				calls++
			}
			return calls
		}
		retried()
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
