package call

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/faulttest"
)

// The clock differs at least by the reported difference. The table reads its clock at some time
// between request and answer, and the header omits fractions of a second.
func TestClockAhead(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		why              string
		sent, came, want time.Duration // since the time in the header
	}{
		{"the same second", 100 * ms, 110 * ms, 0},
		{"the end of the second", 990 * ms, 1010 * ms, 0},
		{"ahead", 15 * s, 15*s + 10*ms, 14 * s},
		{"ahead, and a slow answer", 15 * s, 18 * s, 14 * s},
		{"behind", -14 * s, -14*s + 10*ms, -14*s + 10*ms},
		{"behind, and a slow answer", -14 * s, -10 * s, -10 * s},
		{"perhaps behind, perhaps ahead", -2 * s, 4 * s, 0},
	} {
		if got := clockAhead(noon, noon.Add(row.sent), noon.Add(row.came)); got != row.want {
			t.Errorf("%s: %s, want %s", row.why, got, row.want)
		}
	}
}

// dated answers every call with a Date header that is off.
type dated struct {
	off   time.Duration
	other string // a Date in place of the time
}

func (d *dated) Do(request *http.Request) (*http.Response, error) {
	answer := faulttest.Answer(request, http.StatusOK, "{}")
	answer.Header.Set("Date", cmp.Or(d.other, time.Now().Add(d.off).UTC().Format(http.TimeFormat)))
	return answer, nil
}

// The observer hears once that the clock is off, and once that it is right again. One odd answer or
// a small difference is not reported.
func TestClockIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(300 * time.Millisecond) // not at the start of a second
		var said []string
		clock := NewClock(func(ahead time.Duration, apart bool) {
			said = append(said, fmt.Sprint(ahead.Round(time.Second), " ", apart))
		})
		table := &dated{}
		client := clock.Of(Over(NewLocalClient("http://127.0.0.1:1"), table))
		ask := func(off time.Duration, calls int) {
			table.off = off
			for range calls {
				_, _ = client.GetItem(context.Background(), &dynamodb.GetItemInput{TableName: aws.String("t"), Key: layout.Item{"PK": layout.Text("p")}}, NoRetries)
				time.Sleep(200 * time.Millisecond)
			}
		}
		ask(0, 20)
		ask(time.Minute, 2) // within one second
		ask(0, 5)
		ask(-1500*time.Millisecond, 20)
		if len(said) > 0 {
			t.Errorf("without reason: %s", said)
		}
		ask(14*time.Second, 40)
		if ahead := clock.Ahead().Round(time.Second); ahead != -14*time.Second {
			t.Errorf("ahead by %s", ahead)
		}
		ask(-time.Minute, 40) // it is still off
		ask(0, 40)
		table.other = "yesterday"
		ask(0, 5)
		if got := strings.Join(said, ", "); got != "-14s true, 0s false" {
			t.Errorf("told %s", got)
		}
	})
}

// BenchmarkClock measures the cost of an answer whose date was seen before.
func BenchmarkClock(b *testing.B) {
	clock := NewClock(func(time.Duration, bool) {})
	header := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}
	for b.Loop() {
		sent := time.Now()
		clock.see(header, sent)
	}
}
