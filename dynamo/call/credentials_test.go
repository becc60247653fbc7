package call

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/talkback/talkback/comment"
)

// role is a role whose credentials last an hour. It numbers them.
type role struct {
	fetched atomic.Int64
	fails   atomic.Bool
}

// Retrieve implements [aws.CredentialsProvider].
func (r *role) Retrieve(ctx context.Context) (aws.Credentials, error) {
	n := r.fetched.Add(1)
	time.Sleep(10 * time.Millisecond) // so that several callers meet
	if r.fails.Load() {
		return aws.Credentials{}, errors.New("no role")
	}
	c, err := keys(fmt.Sprint("role-", n)).Retrieve(ctx)
	c.CanExpire, c.Expires = true, time.Now().Add(time.Hour)
	return c, err
}

// Credentials are fetched once for all calls, and again when they expire.
func TestCredentialsAreRefreshed(t *testing.T) {
	for _, way := range ways {
		withPeer(t, func(t *testing.T, p *peer) {
			p.answer = func(r *received) bool { return p.ok(r, oneItem(r)) }
			options, role := p.options(), &role{}
			options.Credentials = aws.NewCredentialsCache(role)
			client := way.open(options)
			for hour := range 3 {
				var group sync.WaitGroup
				for i := range 12 {
					group.Go(func() {
						if got := ask(t.Context(), client, operations[i%3]); got.Failed {
							t.Errorf("%s: %s (%v)", way.name, got, got.err)
						}
					})
				}
				group.Wait()
				if n := role.fetched.Load(); n != int64(hour+1) {
					t.Errorf("%s: credentials were fetched %d times in %d hours", way.name, n, hour+1)
				}
				time.Sleep(time.Hour)
			}
			calls, _, _ := p.seen()
			for i, r := range calls {
				if key := fmt.Sprintf("=role-%d/", i/12+1); !strings.Contains(r.Header.Get("Authorization"), key) {
					t.Errorf("%s: request %d is not signed by %s", way.name, i, key)
				}
			}
		})
	}
}

// A retry is signed with the credentials of its own time.
func TestRetriesHaveFreshCredentials(t *testing.T) {
	for _, way := range ways {
		withPeer(t, func(t *testing.T, p *peer) {
			p.answer = func(r *received) bool {
				if r.number == 1 {
					time.Sleep(4 * time.Second)
					return p.says(r, 500, "{}")
				}
				return p.ok(r, oneItem(r))
			}
			options, fetched := p.options(), 0
			options.Credentials = aws.NewCredentialsCache(aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
				fetched++
				c, err := keys(fmt.Sprint("short-", fetched)).Retrieve(ctx)
				c.CanExpire, c.Expires = true, time.Now().Add(3*time.Second)
				return c, err
			}))
			got := ask(t.Context(), way.open(options), "Query")
			calls, _, _ := p.seen()
			if got.Failed || len(calls) != 2 || !strings.Contains(calls[1].Header.Get("Authorization"), "=short-2/") {
				t.Errorf("%s: %s (%v), %d requests", way.name, got, got.err, len(calls))
			}
		})
	}
}

// Without credentials no request is made, and the error does not say more than that.
func TestNoCredentials(t *testing.T) {
	for _, way := range ways {
		for _, operation := range operations {
			withPeer(t, func(t *testing.T, p *peer) {
				options, role := p.options(), &role{}
				role.fails.Store(true)
				options.Credentials = aws.NewCredentialsCache(role)
				got := ask(t.Context(), way.open(options), operation)
				calls, _, _ := p.seen()
				if got.Kind != comment.Internal || len(calls) > 0 || len(got.secrets()) > 0 || !strings.Contains(got.err.Error(), "no role") {
					t.Errorf("%s by %s: %s (%v)", operation, way.name, got, got.err)
				}
			})
		}
	}
}

// skewed is a table whose clock is ahead, and that refuses what was signed at another time.
func (p *peer) skewed(r *received, code string) bool {
	signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if off := signed.Sub(time.Now().Add(p.clock)); err != nil || off.Abs() > 5*time.Minute {
		return p.says(r, 400, `{"__type":"com.amazon.coral.service#`+code+`","message":"Signature expired"}`)
	}
	return p.ok(r, oneItem(r))
}

// A client corrects its clock by that of the table, and keeps the correction until the clocks agree
// again.
func TestClocksAreCorrected(t *testing.T) {
	for _, way := range ways {
		withPeer(t, func(t *testing.T, p *peer) {
			p.answer = func(r *received) bool { return p.skewed(r, "InvalidSignatureException") }
			client := way.open(p.options())
			for _, row := range []struct {
				clock    time.Duration
				requests int
				why      string
			}{
				{0, 1, "the clocks agree"},
				{20 * time.Minute, 2, "the table is ahead: refused once"},
				{20 * time.Minute, 1, "the client knows"},
				{20 * time.Minute, 1, "and goes on knowing, by an answer with the same date"},
				{-time.Hour, 2, "the table is behind"},
				{-time.Hour - 2*time.Minute, 1, "drifting a little is allowed"},
				{-time.Hour - 7*time.Minute, 1, "and followed"},
				{0, 2, "the clocks agree again"},
				{0, 1, "the client knows"},
				{2 * time.Minute, 1, "drifting a little is allowed"},
				{6 * time.Minute, 1, "and followed"},
			} {
				p.clock = row.clock
				before, _, _ := p.seen()
				got := ask(t.Context(), client, "Query")
				after, _, _ := p.seen()
				if n := len(after) - len(before); got.Failed || n != row.requests {
					t.Errorf("%s, %v ahead: %s (%v), %d requests, want %d: %s", way.name, row.clock, got, got.err, n, row.requests, row.why)
				}
			}
			if len(p.dialed) != 1 {
				t.Errorf("%s: calls in a row took %d connections", way.name, len(p.dialed))
			}
		})
	}
}

// A client notices that the clock of the table was set back, even to the second of the last answer.
func TestClockIsSetBack(t *testing.T) {
	for _, way := range ways {
		withPeer(t, func(t *testing.T, p *peer) {
			p.answer = func(r *received) bool { return p.skewed(r, "InvalidSignatureException") }
			client := way.open(p.options())
			for i, want := range []int{1, 2, 1} {
				if i == 1 {
					time.Sleep(time.Hour)
					p.clock = -time.Hour
				}
				before, _, _ := p.seen()
				got := ask(t.Context(), client, "Query")
				if after, _, _ := p.seen(); got.Failed || len(after)-len(before) != want {
					t.Errorf("%s, call %d: %s (%v), %d requests, want %d", way.name, i, got, got.err, len(after)-len(before), want)
				}
			}
		})
	}
}

// Which refusals a clock explains.
func TestWhatClocksExplain(t *testing.T) {
	const again, once = "3 requests", "1 requests"
	for _, row := range []struct {
		code   string
		clock  time.Duration
		fields []string
		want   string
		why    string
	}{
		{"InvalidSignatureException", 4*time.Minute + 2*time.Second, nil, again, "the clocks differ by more than four minutes"},
		{"InvalidSignatureException", -4*time.Minute - 2*time.Second, nil, again, "in the other direction"},
		{"InvalidSignatureException", 3*time.Minute + 58*time.Second, nil, once, "the clocks nearly agree: the secret is wrong"},
		{"InvalidSignatureException", time.Hour, []string{"Age: 5"}, once, "the answer is of a cache"},
		{"AccessDeniedException", time.Hour, nil, again, "a code of several meanings"},
		{"SignatureDoesNotMatch", time.Hour, nil, again, "another code"},
		{"RequestTimeTooSkewed", time.Hour, nil, again, "another code"},
		{"AuthFailure", time.Hour, nil, again, "another code"},
		{"ValidationException", time.Hour, nil, once, "nothing to do with clocks"},
	} {
		clockMoves := func(p *peer, r *received) bool {
			p.clock = row.clock * time.Duration(1-2*(r.number-1)) // so that no correction helps
			return fails(400, row.code)(p, r)
		}
		if row.fields != nil {
			clockMoves = func(p *peer, r *received) bool {
				p.clock = row.clock
				return always(400, `{"__type":"`+row.code+`"}`, row.fields...)(p, r)
			}
		}
		scenario{name: row.code + " " + row.clock.String(), answer: clockMoves, want: "Internal, " + row.code + ", " + row.want, why: row.why}.check(t)
	}
}
