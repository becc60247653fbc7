package command_test

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// freeAddress returns an address on which no process listens, nor will before the caller does.
// Other processes take 127.0.0.1, so each test gets an address of its own where the system has
// them.
func freeAddress(t testing.TB) string {
	t.Helper()
	own := net.IPv4(127, byte(1+rand.IntN(254)), byte(rand.IntN(256)), byte(1+rand.IntN(254)))
	listener, err := net.Listen("tcp", net.JoinHostPort(own.String(), "0"))
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	must.Do(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// probe asks once, as a load balancer does: for a second at most.
func probe(url string) (status int, body string) {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// readiness probes a server that is about to start until it says that it is ready. Meanwhile, every
// probe has to be answered. It returns a channel for what was wrong, "" for nothing, and the
// reasons not to be ready, known by then.
func readiness(address string) (wrong <-chan string, reasons map[string]bool) {
	ready, reasons := make(chan string, 1), map[string]bool{}
	go func() {
		for answers := 0; ; time.Sleep(10 * time.Millisecond) { // between two probes
			status, body := probe("http://" + address + "/readyz")
			switch {
			case status == http.StatusOK:
				ready <- ""
				return
			case status == http.StatusServiceUnavailable:
				answers++
				reasons[strings.TrimSpace(body)] = true
				if alive, _ := probe("http://" + address + "/healthz"); alive != http.StatusOK {
					ready <- "it is not ready, and /healthz does not answer"
					return
				}
			case answers > 0:
				ready <- "a probe was not answered: " + body
				return
			}
		}
	}()
	return ready, reasons
}

// checkSampleIsCounted checks that a server that has just become ready has counted all of the
// sample data.
func checkSampleIsCounted(t *testing.T, s *server) {
	t.Helper()
	var answer struct {
		Data struct {
			Product struct {
				Stats struct {
					Total int
					AsOf  *time.Time
				}
				Comments struct{ TotalCount int }
			}
			Leaderboard []struct{ Rank int }
		}
	}
	text := s.ask(`{ product(id: "espresso-machine") { stats { total asOf } comments(first: 1) { totalCount } } leaderboard(first: 5) { rank } }`)
	must.Do(t, json.Unmarshal([]byte(text), &answer))
	product := answer.Data.Product
	if product.Stats.Total < 100 || product.Stats.Total != product.Comments.TotalCount || len(answer.Data.Leaderboard) != 5 {
		t.Errorf("once it is ready: %s", text)
	}
	must.Wait(t, "the counts tell how fresh they are", func() bool {
		err := json.Unmarshal([]byte(s.ask(`{ product(id: "espresso-machine") { stats { asOf } } }`)), &answer)
		asOf := answer.Data.Product.Stats.AsOf
		return err == nil && asOf != nil && time.Since(*asOf) < time.Minute
	})
}
