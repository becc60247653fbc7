package auth

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/fetch"
)

// roundTripper answers requests.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A removed key counts for a quarter of an hour at most, whether tokens come or not.
func TestKeysAreRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, old := keysOfName(ctx, t, "old", "new")
		go r.refresh()
		time.Sleep(refreshEvery - time.Second)
		if r.known.Load() != old {
			t.Error("the keys were fetched before it was time")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if known := r.known.Load(); known.byID["new"] == nil || known.byID["old"] != nil {
			t.Errorf("after a quarter of an hour, %v are known", known.byID)
		}
	})
}

// A machine that was suspended fetches the keys before it accepts a token again, though its
// monotonic clock stood still.
func TestKeysAfterSuspension(t *testing.T) {
	r, old := keysOfName(t.Context(), t, "old", "new")
	old.fetched, r.fetched = time.Now(), time.Now()
	r.catchUp()
	if r.known.Load() != old {
		t.Error("the keys were fetched before it was time")
	}
	old.fetched, r.fetched = faulttest.Suspended(old.fetched, -20*time.Minute), faulttest.Suspended(r.fetched, -20*time.Minute)
	r.catchUp()
	if known := r.known.Load(); known.byID["new"] == nil || known.byID["old"] != nil {
		t.Errorf("after 20 minutes, %v are known", known.byID)
	}
}

// keysOfName returns keys that know one key of a name, while the address shows another.
func keysOfName(ctx context.Context, t *testing.T, known, shown string) (*remoteKeys, *keySet) {
	t.Helper()
	const set = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"ID","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`
	r := &remoteKeys{ctx: ctx, settings: Settings{Algorithm: "EdDSA", JWKS: "https://login.example.com", Now: time.Now, Logger: slog.New(slog.DiscardHandler)}}
	r.client = &fetch.Client{MaxBytes: maxKeysBytes, HTTP: &http.Client{Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Request: request, Body: io.NopCloser(strings.NewReader(strings.Replace(set, "ID", shown, 1)))}, nil
	})}}
	old := must.Get(readKeys("EdDSA", []byte(strings.Replace(set, "ID", known, 1))))(t)
	r.known.Store(old)
	return r, old
}
