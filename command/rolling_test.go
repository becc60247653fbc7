package command_test

import (
	"context"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/nginxtest"
	"github.com/talkback/talkback/internal/workload"
)

// startAt starts a server behind a proxy on an address, and waits until it is ready.
func startAt(t *testing.T, address string, more ...string) *server {
	t.Helper()
	environment := []string{"TALKBACK_MODERATOR_TOKEN=" + moderatorToken} // behind a proxy, nobody writes without a token
	return startServerWith(t, environment, append([]string{"--listen", address, "--drain-delay", "300ms"}, more...)...)
}

// moderator sends requests with the token.
type moderator struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (m moderator) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+moderatorToken)
	return m.Transport.RoundTrip(request)
}

// failing matches failures in a tally.
var failing = regexp.MustCompile(`\w+ [A-Z_]+ \d+`)

// Two servers behind nginx, with the configuration of infra, are restarted one after the other
// while clients read and write. No request fails, no answer is wrong, and everything is counted
// exactly.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	servers := [2]string{freeAddress(t), freeAddress(t)}
	url := nginxtest.Start(t, servers)
	a := newAPI(t, dynamotest.Dynoxide(t))
	table := []string{"--endpoint", a.session.Address, "--table", a.session.Table}
	var running [2]*server
	for i, address := range servers {
		running[i] = startAt(t, address, table...)
	}
	load := workload.New(url, commenttest.Rand(t).Uint64N(1e6))
	load.Servers, load.Rest = true, 15*time.Millisecond
	load.Client = &http.Client{Transport: moderator{&http.Transport{MaxIdleConnsPerHost: 10}}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- load.Run(ctx) }()
	for i, address := range servers {
		untilUsed(t, url, address)
		running[i].stop()
		running[i] = startAt(t, address, table...)
		untilUsed(t, url, address) // nginx avoids a server for a while after it refused a connection
	}
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	t.Log(load.Tally())
	if failed := failing.FindAllString(load.Tally(), -1); len(failed) > 0 {
		t.Errorf("not all is answered: %s", failed)
	}
	patient, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := load.Audit(patient); err != nil {
		t.Error(err)
	}
	if status, _, said := talkback(t.Context(), append([]string{"verify"}, table...)...); status != 0 {
		t.Errorf("verify: status %d\n%s", status, said)
	}
}

// untilUsed waits until nginx has sent a request to a server.
func untilUsed(t *testing.T, url, address string) {
	t.Helper()
	must.Wait(t, "nginx uses "+address, func() bool {
		return fetch(t, http.MethodGet, url+"/healthz").header.Get(nginxtest.AnsweredBy) == address
	})
}
