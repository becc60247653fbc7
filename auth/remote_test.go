package auth_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// keyHost serves a text, such as a set of keys, at an address. Tests change the text.
type keyHost struct {
	*httptest.Server
	fetches atomic.Int64
	text    atomic.Value // down for a host that fails
}

const down = "<html>down</html>"

func newKeyHost(t *testing.T, text string) *keyHost {
	t.Helper()
	h := &keyHost{}
	h.text.Store(text)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h.fetches.Add(1)
		if h.text.Load() == down {
			w.WriteHeader(http.StatusBadGateway)
		}
		fmt.Fprint(w, h.text.Load())
	}))
	t.Cleanup(h.Close)
	return h
}

// clock is a time that tests move.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time          { return now.Add(time.Duration(c.offset.Load())) }
func (c *clock) advance(d time.Duration) { c.offset.Add(int64(d)) }

// remoteGuard is a guard with the keys at an address, and its log.
func remoteGuard(t *testing.T, algorithm, address string) (*auth.Guard, *clock, *bytes.Buffer) {
	t.Helper()
	var c clock
	log := &bytes.Buffer{}
	g, err := auth.New(t.Context(), auth.Settings{
		Algorithm: algorithm, JWKS: address, Now: c.now, Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	must.Do(t, err)
	return g, &c, log
}

// Keys at an address work for every algorithm with public keys, whether or not the token names a
// key.
func TestRemoteKeys(t *testing.T) {
	for _, name := range []string{"RS256", "ES256", "EdDSA"} {
		s := signers()[0][name]
		host := newKeyHost(t, setOf(t, jwk(t, signers()[1][name].public, "other", nil), jwk(t, s.public, "k1", nil)))
		g, _, _ := remoteGuard(t, name, host.URL)
		for _, kid := range []string{"k1", ""} {
			if got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), kid)); got != allowed {
				t.Errorf("%s, key %q: %d", name, kid, got)
			}
		}
		if got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), "other")); got != comment.Unauthenticated {
			t.Errorf("%s, with another key's name: %d", name, got)
		}
		if fetches := host.fetches.Load(); fetches != 1 {
			t.Errorf("%s: the keys were fetched %d times", name, fetches)
		}
	}
}

// A shared secret in a key set does not become one of our keys.
func TestSharedSecretInASetOfKeys(t *testing.T) {
	host := newKeyHost(t, `{"keys":[{"kty":"oct","kid":"k","k":"`+base64.RawURLEncoding.EncodeToString([]byte(secret))+`"}]}`)
	g, _, _ := remoteGuard(t, "RS256", host.URL)
	for _, kid := range []string{"k", ""} {
		if got := mayWrite(t, g, "Bearer "+signers()[0]["HS256"].token(t, claims(nil), kid)); got != comment.Unauthenticated {
			t.Errorf("key %q: %d", kid, got)
		}
	}
}

// A new key is found as soon as a token names it, for all requests of that moment; the old one is
// forgotten.
func TestKeysRotate(t *testing.T) {
	before, after := signers()[0]["ES256"], signers()[1]["ES256"]
	host := newKeyHost(t, oneKey(t, before.public, "old"))
	g, c, _ := remoteGuard(t, "ES256", host.URL)
	old, fresh := "Bearer "+before.token(t, claims(nil), "old"), "Bearer "+after.token(t, claims(nil), "new")
	if mayWrite(t, g, old) != allowed || mayWrite(t, g, fresh) != comment.Unauthenticated {
		t.Error("before the change, only the old key counts")
	}
	host.text.Store(oneKey(t, after.public, "new"))
	c.advance(time.Minute)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if got := mayWrite(t, g, fresh); got != allowed {
				t.Errorf("a token of the new key: %d", got)
			}
		})
	}
	group.Wait()
	if got := mayWrite(t, g, old); got != comment.Unauthenticated {
		t.Errorf("a token of the old key: %d", got)
	}
	if fetches := host.fetches.Load(); fetches != 2 {
		t.Errorf("the keys were fetched %d times, want 2", fetches)
	}
}

// An issuer may give its next key the same name, or give keys no names, without locking anyone out.
// Tokens of the new key count as soon as it is published, and those of the old one no longer.
func TestKeyOfTheSameName(t *testing.T) {
	for _, kid := range []string{"k1", ""} {
		before, after := signers()[0]["EdDSA"], signers()[1]["EdDSA"]
		host := newKeyHost(t, oneKey(t, before.public, "k1"))
		g, c, _ := remoteGuard(t, "EdDSA", host.URL)
		old, fresh := "Bearer "+before.token(t, claims(nil), kid), "Bearer "+after.token(t, claims(nil), kid)
		host.text.Store(oneKey(t, after.public, "k1"))
		c.advance(time.Minute)
		if got := mayWrite(t, g, fresh); got != allowed {
			t.Errorf("key %q: a token of the new key: %d", kid, got)
		}
		for range 20 {
			if got := mayWrite(t, g, old); got != comment.Unauthenticated {
				t.Errorf("key %q: a token of the old key: %d", kid, got)
			}
		}
		if fetches := host.fetches.Load(); fetches != 2 {
			t.Errorf("key %q: the keys were fetched %d times, want 2", kid, fetches)
		}
	}
}

// A token that only its claims make invalid causes no fetch, and none causes one once the server
// ends.
func TestWhatFetchesNothing(t *testing.T) {
	s := signers()[0]["EdDSA"]
	for token, ended := range map[string]bool{
		s.token(t, claims(map[string]any{"exp": at(-time.Hour)}), "k1"): false,
		s.token(t, claims(nil), "unknown"):                              true,
	} {
		host := newKeyHost(t, oneKey(t, s.public, "k1"))
		ctx, end := context.WithCancel(t.Context())
		defer end()
		var c clock
		g := must.Get(auth.New(ctx, auth.Settings{Algorithm: "EdDSA", JWKS: host.URL, Now: c.now}))(t)
		if ended {
			end()
		}
		c.advance(time.Minute)
		if got := mayWrite(t, g, "Bearer "+token); got != comment.Unauthenticated || host.fetches.Load() != 1 {
			t.Errorf("server ended: %t; %d after %d fetches", ended, got, host.fetches.Load())
		}
	}
}

// Unknown key names cause one fetch a minute, and no other request waits for it.
func TestUnknownKeysDoNotFlood(t *testing.T) {
	s := signers()[0]["EdDSA"]
	host := newKeyHost(t, oneKey(t, s.public, "k1"))
	g, c, _ := remoteGuard(t, "EdDSA", host.URL)
	right := "Bearer " + s.token(t, claims(nil), "k1")
	for minute := range int64(3) {
		for range 200 {
			if got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), "made up")); got != comment.Unauthenticated {
				t.Fatalf("a key that was made up: %d", got)
			}
		}
		if fetches := host.fetches.Load(); fetches != 1+minute {
			t.Errorf("minute %d: the keys were fetched %d times, want %d", minute, fetches, 1+minute)
		}
		if mayWrite(t, g, right) != allowed {
			t.Error("a right token is refused")
		}
		c.advance(time.Minute)
	}
}

// Without the keys the server starts, and finds them once they are published. If their host goes
// away later, the known keys count.
func TestKeyHostIsDown(t *testing.T) {
	s := signers()[0]["RS256"]
	for _, kid := range []string{"k1", ""} {
		host := newKeyHost(t, down)
		address := strings.Replace(host.URL, "http://", "http://user:password@", 1) + "/?token=password"
		g, c, log := remoteGuard(t, "RS256", address)
		right := "Bearer " + s.token(t, claims(nil), kid)
		if got := mayWrite(t, g, right); got != comment.Unauthenticated {
			t.Errorf("before there are keys: %d", got)
		}
		if said := log.String(); strings.Count(said, "no signed token is accepted until they are") != 1 || strings.Contains(said, "fetched before stay in use") {
			t.Errorf("the log before there are keys:\n%s", said)
		}
		host.text.Store(oneKey(t, s.public, "k1"))
		c.advance(time.Minute)
		if got := mayWrite(t, g, right); got != allowed {
			t.Errorf("once there are keys, named %q: %d", kid, got)
		}
		host.text.Store(down)
		c.advance(time.Minute)
		if got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), "unknown")); got != comment.Unauthenticated {
			t.Errorf("an unknown key: %d", got)
		}
		host.Close()
		c.advance(time.Minute)
		if got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), "unknown")); got != comment.Unauthenticated {
			t.Errorf("an unknown key: %d", got)
		}
		if got := mayWrite(t, g, right); got != allowed {
			t.Errorf("when the host is gone: %d", got)
		}
		if strings.Count(log.String(), "could not be fetched") != 3 || strings.Contains(log.String(), "password") {
			t.Errorf("the log:\n%s", log)
		}
	}
}

// A process that was frozen, as on AWS Lambda, fetches the keys before it accepts a token again.
func TestKeysAfterStandingStill(t *testing.T) {
	before, after := signers()[0]["ES256"], signers()[1]["ES256"]
	host := newKeyHost(t, oneKey(t, before.public, "old"))
	g, c, _ := remoteGuard(t, "ES256", host.URL)
	old, fresh := "Bearer "+before.token(t, claims(nil), "old"), "Bearer "+after.token(t, claims(nil), "new")
	host.text.Store(oneKey(t, after.public, "new"))
	c.advance(15 * time.Minute)
	if got := mayWrite(t, g, old); got != allowed {
		t.Errorf("before the next fetch is late: %d", got)
	}
	c.advance(time.Minute)
	if got := mayWrite(t, g, old); got != comment.Unauthenticated {
		t.Errorf("a token of a key that was taken away: %d", got)
	}
	host.text.Store(down)
	c.advance(16 * time.Minute)
	for range 20 {
		if got := mayWrite(t, g, fresh); got != allowed {
			t.Errorf("when the host is down: %d", got)
		}
	}
	if fetches := host.fetches.Load(); fetches != 3 {
		t.Errorf("the keys were fetched %d times, want 3", fetches)
	}
}

// An endless key set is not read to its end.
func TestKeysAreBounded(t *testing.T) {
	sent := make(chan int, 1)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		total := 0
		for chunk := bytes.Repeat([]byte(" "), 64<<10); total < 64<<20; {
			n, err := w.Write(chunk)
			total += n
			if err != nil {
				break
			}
		}
		select {
		case sent <- total:
		default:
		}
	}))
	defer host.Close()
	g, _, _ := remoteGuard(t, "ES256", host.URL)
	if total := <-sent; total > 32<<20 {
		t.Errorf("%d MB of keys were read", total>>20)
	}
	if got := mayWrite(t, g, "Bearer "+signers()[0]["ES256"].token(t, claims(nil), "k1")); got != comment.Unauthenticated {
		t.Errorf("without keys: %d", got)
	}
}
