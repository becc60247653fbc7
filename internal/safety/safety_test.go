package safety

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/episode"
	"github.com/talkback/talkback/internal/servertest/programtest"
	"github.com/talkback/talkback/internal/workload"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// patience bounds every wait for a condition. Only a failing test uses it up.
const patience = 5 * time.Minute

// site is a server whose table lies behind a network that can be in trouble.
type site struct {
	t       *testing.T
	network *episode.Network
	engine  string // the address of the table, through the network
	direct  string // and without it
	table   string
	url     string // of the server
	log     *commenttest.Transcript
}

// open starts a server.
func open(t *testing.T) *site {
	t.Helper()
	direct := dynamotest.Dynoxide(t)
	address := must.Get(url.Parse(direct))(t)
	s := &site{t: t, network: episode.Over(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}), direct: direct, table: dynamotest.TableName(t), log: &commenttest.Transcript{}}
	proxy := httptest.NewServer(s.network.To(address))
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close(); s.network.Settle() })
	s.engine = proxy.URL
	s.url = s.serve("--create-table")
	return s
}

// serve runs the program within this process until the test ends, and returns its address.
func (s *site) serve(arguments ...string) (address string) {
	s.t.Helper()
	address, _ = s.start(append([]string{"--endpoint", s.engine, "--table", s.table}, arguments...)...)
	return address
}

// start runs the program until stop is called, at the latest when the test ends.
func (s *site) start(arguments ...string) (address string, stop func()) {
	s.t.Helper()
	address, stop = programtest.Serve(s.t, s.log, append([]string{"serve", "--listen", "127.0.0.1:0"}, arguments...)...)
	return "http://" + address, stop
}

// talkback runs another command on the same table.
func (s *site) talkback(ctx context.Context, endpoint string, arguments ...string) error {
	_, err := s.prints(ctx, endpoint, arguments...)
	return err
}

// talkback runs a command, which prints its results to out, and returns its exit status.
func talkback(ctx context.Context, out, said io.Writer, arguments ...string) int {
	return command.Main(ctx, arguments, command.Terminal{
		In: strings.NewReader(""), Out: out, Err: said, Logger: slog.New(slog.DiscardHandler),
	})
}

// imports imports lines by the command, in spite of all trouble.
func (s *site) imports(ctx context.Context, lines []byte) error {
	file := filepath.Join(s.t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(file, lines, 0o600); err != nil {
		return err
	}
	return s.talkback(ctx, s.engine, "import", "--restore", "--no-count", file)
}

// While parts of the table are in trouble, one after the other, no page, count, leaderboard or
// comment is wrong, and no write is lost or done twice. Once it is over, all is counted exactly.
func TestSafety(t *testing.T) {
	t.Parallel()
	r := commenttest.Rand(t)
	s := open(t)
	load := workload.New(s.url, r.Uint64N(1e6))
	load.Import = s.imports
	load.Rest = 2 * time.Millisecond
	load.Fill(t.Context(), commenttest.Times(20, 400))
	targets := []episode.Target{
		episode.Table, episode.Stream, episode.PageIndex, episode.Index("all"), episode.Index("byRating"), episode.Index("boards"),
		episode.Partition("P#" + load.Products()[0]), episode.Keys("what is about products", "P#"), episode.Keys("leases", "STREAM"),
	}
	schedule := episode.Draw(r.Uint64(), episode.Plan{
		Episodes: commenttest.Times(4, 120), Targets: targets, Longest: time.Duration(commenttest.Times(400, 2000)) * time.Millisecond,
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		t.Logf("%s%d calls were hit", schedule, s.network.Play(ctx, schedule))
	}()
	err := load.Run(ctx)
	s.network.Settle()
	t.Log(load.Tally())
	must.Do(t, err)
	audit(t, load)
	must.Do(t, s.talkback(t.Context(), s.direct, "verify"))
}

// wellWithin is how long after the end of an episode all has to work again. Beside all other tests,
// the machine may be too slow for that, and only what is stuck is found.
var wellWithin = time.Duration(commenttest.Times(120, 10)) * time.Second

// Ten seconds after the end of an episode, whatever it was about and however long it lasted, every
// kind of operation succeeds, the server is ready, and all that was written is counted.
func TestLiveness(t *testing.T) {
	t.Parallel()
	r := commenttest.Rand(t)
	s := open(t)
	load := workload.New(s.url, r.Uint64N(1e6))
	load.Rest = 5 * time.Millisecond
	load.Import = s.imports
	load.Fill(t.Context(), commenttest.Times(20, 400))
	run(t, load, 200*time.Millisecond)
	episodes := everyEpisode(load.Products()[0])
	r.Shuffle(len(episodes), func(i, j int) { episodes[i], episodes[j] = episodes[j], episodes[i] })
	for _, e := range episodes[:commenttest.Times(2, len(episodes))] {
		e.For = time.Duration(commenttest.Times(300, 3000+r.IntN(12000))) * time.Millisecond
		s.recovers(load, e)
	}
	audit(t, load)
}

// everyEpisode is each kind of trouble upon each target.
func everyEpisode(product string) (out []episode.Episode) {
	for _, target := range []episode.Target{
		episode.Everything, episode.Table, episode.Stream, episode.PageIndex, episode.Index("byRating"), episode.Partition("P#" + product),
		episode.Keys("leases", "STREAM"),
	} {
		for _, kind := range episode.Kinds {
			out = append(out, episode.Episode{Kind: kind, Target: target, Delay: 3 * time.Second})
		}
	}
	return out
}

// recovers has an episode pass under load, and waits until all is well.
func (s *site) recovers(load *workload.Workload, e episode.Episode) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	var ended time.Time
	go func() {
		running := s.network.Begin(e)
		time.Sleep(e.For)
		s.t.Logf("%s: %d calls", e, running.End())
		ended = time.Now()
		cancel()
	}()
	err := load.Run(ctx) // returns once the last write is through
	<-ctx.Done()
	if took := time.Since(ended); took > wellWithin {
		s.t.Errorf("%s: the last write took until %s after its end", e, took)
	}
	s.network.Settle() // what is slow arrives until Delay after the end
	patient, stop := context.WithDeadline(s.t.Context(), ended.Add(wellWithin))
	defer stop()
	if err == nil {
		err = load.Recount(patient)
	}
	for err == nil && !s.ready() {
		if err = patient.Err(); err == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", e, err, s.log)
	}
	s.t.Logf("well %s after the end", time.Since(ended).Round(time.Millisecond))
}

// ready reports whether the server says that it is ready.
func (s *site) ready() bool {
	response, err := http.Get(s.url + "/readyz")
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return slices.Contains([]int{http.StatusOK, http.StatusNoContent}, response.StatusCode)
}
