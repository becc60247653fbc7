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

	"github.com/talkback/talkback/internal/fetch"
)

// roundTripper answers requests.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A key that is taken away counts for a quarter of an hour at most, whether tokens come or not.
func TestKeysAreRefreshed(t *testing.T) {
	const set = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"ID","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		shown := "new"
		r := &remoteKeys{ctx: ctx, settings: Settings{Algorithm: "EdDSA", JWKS: "https://login.example.com", Now: time.Now, Logger: slog.New(slog.DiscardHandler)}}
		r.client = &fetch.Client{MaxBytes: maxKeysBytes, HTTP: &http.Client{Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Request: request, Body: io.NopCloser(strings.NewReader(strings.Replace(set, "ID", shown, 1)))}, nil
		})}}
		old, err := readKeys("EdDSA", []byte(strings.Replace(set, "ID", "old", 1)))
		if err != nil {
			t.Fatal(err)
		}
		r.known.Store(old)
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
