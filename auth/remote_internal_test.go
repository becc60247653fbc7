package auth

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
		r.client = &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(strings.Replace(set, "ID", shown, 1)))}, nil
		})}
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

func TestRedirectsStayWithinTheirOrigin(t *testing.T) {
	for _, row := range []struct {
		from, to string
		follows  bool
	}{
		{"https://login.example.com/jwks.json", "https://login.example.com/keys", true},
		{"http://localhost:80/jwks.json", "http://localhost:80/keys", true},
		{"https://login.example.com/jwks.json", "http://login.example.com/jwks.json", false},
		{"http://localhost/jwks.json", "https://localhost/jwks.json", false},
		{"https://login.example.com/jwks.json", "https://keys.login.example.com/jwks.json", false},
		{"https://login.example.com/jwks.json", "https://login.example.com:8443/jwks.json", false},
	} {
		before, next := httptest.NewRequest(http.MethodGet, row.from, nil), httptest.NewRequest(http.MethodGet, row.to, nil)
		if err := checkRedirect(next, []*http.Request{before}); (err == nil) != row.follows {
			t.Errorf("from %s to %s: %v", row.from, row.to, err)
		}
	}
}
