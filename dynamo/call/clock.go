package call

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// clockTolerance is how much clocks may differ: docs/design/watermarks.md.
const clockTolerance = 2 * time.Second

const (
	dateStep = time.Second // the resolution of the header Date
	// clockSights is how many answers in a row must agree before a Clock reports a change. A single
	// odd machine behind the table's address is ignored.
	clockSights = 3
)

// Clock compares the clock of this machine with that of the table, by the header Date of answers.
// It compares one answer a second; for any other it only reads the time and the header. It is safe
// for concurrent use.
type Clock struct {
	onChange func(ahead time.Duration, apart bool)
	date     atomic.Pointer[string] // of the latest answer

	mu    sync.Mutex
	ahead time.Duration
	apart bool
	odd   int // answers in a row that contradict apart
}

// NewClock makes a Clock. It calls onChange when the clocks differ by more than clockTolerance, and
// when they agree again within half of it. ahead is by how much this machine's clock is ahead of
// the table's; negative if it is behind.
func NewClock(onChange func(ahead time.Duration, apart bool)) *Clock {
	return &Clock{onChange: onChange}
}

// Ahead returns by how much this machine's clock was ahead at the last comparison; negative if it
// was behind. It is 0 if whole seconds, the resolution of the header, show no difference.
func (c *Clock) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ahead
}

// Of returns a copy of a client, with whose answers the clock is compared. Call it before the
// client is observed or hedged.
func (c *Clock) Of(client *dynamodb.Client) *dynamodb.Client {
	return Over(client, &clockedHTTP{client.Options().HTTPClient, c})
}

// clockedHTTP is an HTTP client that passes the headers of answers to a Clock.
type clockedHTTP struct {
	under dynamodb.HTTPClient
	clock *Clock
}

// Do implements [dynamodb.HTTPClient].
func (c *clockedHTTP) Do(request *http.Request) (*http.Response, error) {
	sent := time.Now()
	response, err := c.under.Do(request)
	if err == nil {
		c.clock.see(response.Header, sent)
	}
	return response, err
}

// see compares the clock with an answer, unless the latest one had the same date.
func (c *Clock) see(header http.Header, sent time.Time) {
	dates := header["Date"]
	if len(dates) != 1 {
		return
	}
	if last := c.date.Load(); last != nil && *last == dates[0] {
		return
	}
	c.date.Store(new(dates[0]))
	said, err := http.ParseTime(dates[0])
	if err != nil {
		return
	}
	ahead := clockAhead(said, sent, time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
	if odd := ahead.Abs() > clockTolerance && !c.apart || ahead.Abs() <= clockTolerance/2 && c.apart; !odd {
		c.odd = 0
		return
	}
	if c.odd++; c.odd == clockSights {
		c.odd, c.apart = 0, !c.apart
		c.onChange(ahead, c.apart)
	}
}

// clockAhead returns by how much this machine's clock is ahead at least. said is the table's time,
// sometime between sent and came by this machine's clock. A slow answer makes the difference
// smaller, never larger.
func clockAhead(said, sent, came time.Time) time.Duration {
	if behind := said.Sub(came); behind > 0 {
		return -behind
	}
	return max(0, sent.Sub(said.Add(dateStep)))
}
