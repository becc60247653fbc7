package command_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// dates sets the Date header of a table's answers, as if the table's clock were off.
type dates struct {
	mu   sync.Mutex
	off  time.Duration
	said map[string]bool // since the last set
}

func (d *dates) set(off time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off, d.said = off, map[string]bool{}
}

// different returns how many different dates the answers had since the last set.
func (d *dates) different() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.said)
}

func (d *dates) change(answer *http.Response) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	date := time.Now().Add(d.off).UTC().Format(http.TimeFormat)
	answer.Header.Set("Date", date)
	d.said[date] = true
	return nil
}

// A server whose clock is off logs that once, judging by the dates of the table's answers, and logs
// once when it is right again. Its metrics show the offset.
func TestClockOfAServer(t *testing.T) {
	t.Parallel()
	a, _ := uncounted(t)
	table := must.Get(url.Parse(a.session.Address))(t)
	proxy, clock := httputil.NewSingleHostReverseProxy(table), &dates{}
	clock.set(time.Minute)
	proxy.ModifyResponse = clock.change
	between := httptest.NewServer(proxy)
	t.Cleanup(between.Close)
	admin := freeAddress(t)
	s := startServer(t, "--endpoint", between.URL, "--table", a.session.Table, "--admin-listen", admin)
	answered := func() bool { return clock.different() >= 6 } // some may still be under way
	must.Wait(t, "the table answers for some seconds", answered)
	if ahead := scrape(t, admin)["talkback_clock_offset_seconds"]; ahead > -55 || ahead < -61 {
		t.Errorf("ahead by %v s", ahead)
	}
	clock.set(0)
	must.Wait(t, "the table answers for some seconds more", answered)
	if ahead := scrape(t, admin)["talkback_clock_offset_seconds"]; ahead != 0 {
		t.Errorf("ahead by %v s", ahead)
	}
	said := s.stop()
	// The date of an answer is cut to the second, and the answer may take some.
	before, after, told := strings.Cut(said, "differs from the table's: set it, by NTP for example\" ahead=-")
	if !told || !strings.HasPrefix(after, "1m") && !strings.HasPrefix(after, "5") || !strings.Contains(after, "agrees with the table's again") || strings.Contains(before+after, "differs from the table's") {
		t.Errorf("the log: %s", said)
	}
}
