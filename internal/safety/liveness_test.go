package safety

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/episode"
	"github.com/talkback/talkback/internal/workload"
)

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
