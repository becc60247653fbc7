package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/httpapi"
)

// probe asks whether a server is ready, and returns the status.
func probe(ctx context.Context, server http.Handler) int {
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
	return answer.Code
}

// The table is checked once a second, however many probes arrive. A probe that hangs up is not
// logged, and does not end the check that others wait for. A second later, the answer is a new
// result.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		var broken atomic.Bool
		var log bytes.Buffer
		server := httpapi.New(options(func(o *httpapi.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			o.Ready = func(ctx context.Context) error {
				asked.Add(1)
				select {
				case <-time.After(100 * time.Millisecond):
				case <-ctx.Done():
					return ctx.Err()
				}
				if broken.Load() {
					return errors.New("it is gone")
				}
				return nil
			}
		}))
		crowd := func(want int) {
			t.Helper()
			impatient, hangUp := context.WithCancel(t.Context())
			var probes sync.WaitGroup
			probes.Go(func() { probe(impatient, server) })
			synctest.Wait() // the first probe's check is under way
			hangUp()
			for range 100 {
				probes.Go(func() {
					if got := probe(t.Context(), server); got != want {
						t.Errorf("%d, want %d", got, want)
					}
				})
			}
			probes.Wait()
			if got := probe(t.Context(), server); got != want { // from the result so far
				t.Errorf("a probe behind the others: %d, want %d", got, want)
			}
		}
		for round, test := range []struct {
			broken bool
			want   int
		}{{false, 200}, {true, 503}, {false, 200}} {
			broken.Store(test.broken)
			crowd(test.want)
			if got := int(asked.Load()); got != round+1 {
				t.Errorf("the table was asked %d times in %d crowds", got, round+1)
			}
			time.Sleep(time.Second)
		}
		if got := strings.Count(log.String(), "\n"); got != 1 || !strings.Contains(log.String(), "it is gone") {
			t.Errorf("the log has %d lines, want the one reason:\n%s", got, log.String())
		}
	})
}

// A server whose table does not answer is not ready, and the probe is answered in time.
func TestReadinessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := httpapi.New(options(func(o *httpapi.Options) {
			o.Ready = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		}))
		began := time.Now()
		if got := probe(t.Context(), server); got != 503 || time.Since(began) > 2*time.Second {
			t.Errorf("%d after %v", got, time.Since(began))
		}
	})
}
