package command_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/episode"
	"github.com/talkback/talkback/internal/nginxtest"
	"github.com/talkback/talkback/internal/workload"
)

// The bounds on what a server may hold more at the end than after the first round. A leak with each
// request, or with each that fails, is hundreds even in the short run.
const (
	moreHeap        = 16 << 20
	moreGoroutines  = 30
	moreDescriptors = 30

	// level is from when on a server has learnt all that it remembers of so few products, and
	// moreLevel what its heap may grow after that, on average.
	level     = 12 * time.Minute
	moreLevel = 1 << 20
)

// soak is two servers behind nginx, whose table is in trouble from time to time. One keeps running,
// and the test compares what it holds. The other is killed and restarted.
type soak struct {
	t       *testing.T
	random  *rand.Rand
	began   time.Time
	network *episode.Network
	load    *workload.Workload
	nginx   string
	table   []string // arguments that name the table, through the network

	stays, other *server
	admin        string // admin address of the server that keeps running
	address      string // of the other one
	first        *held
	heaps        []int          // from level on
	done         map[string]int // number of each action

	longest time.Duration // of an episode
}

// TestSoak uses the whole service while parts of the table are in trouble and servers are killed
// and restarted. No answer is wrong. In the end the test recounts every page, count, cursor and
// number, and a server holds no more than at first. `make soak` runs it for minutes.
func TestSoak(t *testing.T) {
	t.Parallel()
	length, err := time.ParseDuration(os.Getenv("TALKBACK_SOAK"))
	long := err == nil
	s := newSoak(t, long)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ran := make(chan error, 1)
	s.began = time.Now()
	go func() { ran <- s.load.Run(ctx) }()
	t.Logf("%8s  %-44s %9s %11s %11s %9s", "time", "what happened", "heap", "goroutines", "descriptors", "resident")
	for _, event := range []func(){s.trouble, s.restart, s.trouble, s.kill, s.trouble} {
		s.sample(event)
	}
	for time.Since(s.began) < length {
		s.sample([]func(){s.trouble, s.trouble, s.restart, s.kill}[s.random.IntN(4)])
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	s.network.Settle()
	s.recount()
}

// newSoak starts everything.
func newSoak(t *testing.T, long bool) *soak {
	t.Helper()
	direct := dynamotest.Dynoxide(t)
	engine := must.Get(url.Parse(direct))(t)
	s := &soak{t: t, random: commenttest.Rand(t), admin: freeAddress(t), address: freeAddress(t), done: map[string]int{}}
	s.network = episode.Over(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}})
	proxy := httptest.NewServer(s.network.To(engine))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close(); s.network.Settle() })
	s.table = []string{"--endpoint", proxy.URL, "--table", dynamotest.TableName(t)}
	stays, more := freeAddress(t), []string{"--create-table", "--admin-listen", s.admin}
	s.longest = 300 * time.Millisecond
	if long { // every kill hits the process that counts, and another takes over when its lease has expired
		s.longest, more = 3*time.Second, append(more, "--no-count")
	}
	s.nginx = nginxtest.Start(t, [2]string{stays, s.address})
	s.stays = s.start(stays, more...)
	s.other = s.start(s.address)
	s.load = workload.New(s.nginx, s.random.Uint64N(1e6))
	s.load.Servers, s.load.Rest, s.load.MayFail = true, 10*time.Millisecond, []string{"CONNECTION"}
	s.load.Client = &http.Client{Transport: moderator{&http.Transport{MaxIdleConnsPerHost: 10}}}
	return s
}

// start starts a server on an address.
func (s *soak) start(address string, more ...string) *server {
	s.t.Helper()
	return startAt(s.t, address, append(more, s.table...)...)
}

// trouble puts parts of the table in trouble, one after the other.
func (s *soak) trouble() {
	targets := []episode.Target{
		episode.Table, episode.Stream, episode.PageIndex, episode.Index("all"), episode.Index("byRating"), episode.Index("boards"),
		episode.Partition("P#" + s.load.Products()[0]), episode.Keys("what is about products", "P#"), episode.Keys("leases", "STREAM"),
	}
	schedule := episode.Draw(s.random.Uint64(), episode.Plan{Episodes: 1, Targets: targets, Longest: s.longest})
	s.done["calls in trouble"] += s.network.Play(s.t.Context(), schedule)
	s.note("episodes", schedule.Episodes[0].String())
}

// restart ends the other server as a supervisor does, and starts it again.
func (s *soak) restart() {
	s.other.stop()
	s.other = s.start(s.address)
	s.note("restarts", "a server restarted")
}

// kill ends the other server as a power failure does, and starts it again.
func (s *soak) kill() {
	s.other.signal(syscall.SIGKILL)
	s.other.wait()
	s.other = s.start(s.address)
	s.note("kills", "a server killed")
}

// note counts an action, and prints it with what the permanent server holds.
func (s *soak) note(what, text string) {
	s.done[what]++
	s.print(text)
}

// sample takes an action, and notes what the permanent server held when it was first taken.
func (s *soak) sample(do func()) {
	s.t.Helper()
	do()
	if s.first == nil {
		s.first = new(s.held())
	}
}

// print prints a line of the table.
func (s *soak) print(what string) {
	now := s.held()
	if time.Since(s.began) > level {
		s.heaps = append(s.heaps, now.heap)
	}
	s.t.Logf("%7.1fs  %-44s %6.1f MB %11d %11d %6.1f MB", time.Since(s.began).Seconds(), what,
		float64(now.heap)/(1<<20), now.goroutines, now.descriptors, float64(now.resident)/(1<<20))
}

// recount checks everything, once nothing is in trouble any more.
func (s *soak) recount() {
	s.t.Helper()
	patient, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.load.Audit(patient); err != nil {
		s.t.Errorf("%v\n%s", err, s.stays.said)
	}
	if status, _, said := talkback(patient, append([]string{"verify"}, s.table...)...); status != 0 {
		s.t.Errorf("verify: status %d\n%s", status, said)
	}
	s.print("everything recounted")
	s.t.Logf("%d episodes that hit %d calls, %d restarts, %d kills; %s",
		s.done["episodes"], s.done["calls in trouble"], s.done["restarts"], s.done["kills"], s.load.Tally())
	last := s.held()
	if last.heap > s.first.heap+moreHeap || last.goroutines > s.first.goroutines+moreGoroutines || last.descriptors > s.first.descriptors+moreDescriptors {
		s.t.Errorf("after the first round a server held %+v, in the end %+v", *s.first, last)
	}
	earlier, later := s.heaps[:len(s.heaps)/2], s.heaps[len(s.heaps)/2:]
	if len(earlier) >= 20 && mean(later) > mean(earlier)+moreLevel {
		s.t.Errorf("once a server had learnt all, its heap was %d bytes on average, and later %d", mean(earlier), mean(later))
	}
}

// mean returns the mean of some numbers.
func mean(numbers []int) (mean int) {
	for _, n := range numbers {
		mean += n
	}
	return mean / len(numbers)
}

// held is what a server holds.
type held struct{ heap, goroutines, descriptors, resident int }

var (
	heapInUse   = regexp.MustCompile(`# HeapAlloc = (\d+)`)
	goroutines  = regexp.MustCompile(`goroutine profile: total (\d+)`)
	residentSet = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)
)

// held asks the permanent server what it holds, after a garbage collection.
func (s *soak) held() held {
	s.t.Helper()
	process := fmt.Sprintf("/proc/%d", s.stays.process.Process.Pid)
	descriptors, _ := filepath.Glob(process + "/fd/*")
	status, err := os.ReadFile(process + "/status")
	if err != nil {
		s.t.Skip("left out: what a process holds: this system has no /proc to see it in")
	}
	return held{
		heap:        s.number(heapInUse, s.profile("heap?gc=1&debug=1")),
		goroutines:  s.number(goroutines, s.profile("goroutine?debug=1")),
		descriptors: len(descriptors),
		resident:    s.number(residentSet, string(status)) << 10,
	}
}

// profile fetches a profile of the permanent server.
func (s *soak) profile(name string) string {
	s.t.Helper()
	return fetch(s.t, http.MethodGet, "http://"+s.admin+"/debug/pprof/"+name).body
}

// number finds a number in a text.
func (s *soak) number(pattern *regexp.Regexp, text string) int {
	s.t.Helper()
	match := pattern.FindStringSubmatch(text)
	if match == nil {
		s.t.Fatalf("no %s in %s", pattern, strings.TrimSpace(text[:min(len(text), 500)]))
	}
	return must.Get(strconv.Atoi(match[1]))(s.t)
}
