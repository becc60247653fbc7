package auth_test

import (
	"crypto"
	"crypto/elliptic"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// jwk is a public key as a set shows it, with changes; a nil value removes a parameter.
func jwk(t *testing.T, key crypto.PublicKey, id string, changes map[string]any) map[string]any {
	t.Helper()
	parsed := must.Get(jwkset.NewJWKFromKey(key, jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: id}}))(t)
	text := must.Get(json.Marshal(parsed.Marshal()))(t)
	var parameters map[string]any
	must.Do(t, json.Unmarshal(text, &parameters))
	maps.Copy(parameters, changes)
	maps.DeleteFunc(parameters, func(_ string, value any) bool { return value == nil })
	return parameters
}

func setOf(t *testing.T, keys ...any) string {
	t.Helper()
	return string(must.Get(json.Marshal(map[string]any{"keys": keys}))(t))
}

// oneKey returns a set of a single key.
func oneKey(t *testing.T, key crypto.PublicKey, id string) string {
	t.Helper()
	return setOf(t, jwk(t, key, id, nil))
}

// Only a set's keys for verifying signatures count. A set without any usable key leaves the known
// keys, and is logged.
func TestWhichKeysOfASetCount(t *testing.T) {
	all, fresh, others := signers()[0], signers()[1], signers()[2]
	type changes = map[string]any
	for _, row := range []struct {
		why, algorithm string
		signer         signer
		changes        changes
		counts         bool
	}{
		{"a plain one", "RS256", fresh["RS256"], nil, true},
		{"for signatures", "RS256", fresh["RS256"], changes{"use": "sig", "key_ops": []string{"verify"}, "alg": "RS256"}, true},
		{"with what is not known here", "ES256", fresh["ES256"], changes{"issuer": "x", "iat": 1}, true},
		{"of EdDSA", "EdDSA", fresh["EdDSA"], nil, true},
		{"an RSA key too short", "RS256", rsaSigner(1024), nil, false},
		{"to encrypt", "RS256", fresh["RS256"], changes{"use": "enc"}, false},
		{"for a use that is none", "RS256", fresh["RS256"], changes{"use": "all"}, false},
		{"for other operations", "ES256", fresh["ES256"], changes{"key_ops": []string{"sign", "encrypt"}}, false},
		{"for no operation", "ES256", fresh["ES256"], changes{"key_ops": []string{}}, false},
		{"of the same kind for another algorithm", "RS256", fresh["RS256"], changes{"alg": "PS256"}, false},
		{"of another kind", "RS256", fresh["ES256"], nil, false},
		{"of another curve", "ES256", ecSigner(jwt.SigningMethodES384, elliptic.P384()), nil, false},
		{"of a curve that it is not on", "ES256", fresh["ES256"], changes{"x": "AQ"}, false},
		{"with a long coordinate", "ES256", fresh["ES256"], changes{"x": strings.Repeat("AQ", 33)}, false},
		{"that shows its private part", "ES256", fresh["ES256"], changes{"d": "AQ"}, false},
		{"that is a shared secret", "RS256", fresh["HS256"], changes{"kty": "oct", "k": "YSBzaGFyZWQgc2VjcmV0IG9mIGF0IGxlYXN0IDMyIGJ5dGVz"}, false},
		{"that is damaged", "RS256", fresh["RS256"], changes{"n": "?"}, false},
		{"whose id is no text", "RS256", fresh["RS256"], changes{"kid": 7}, false},
	} {
		old := all[row.algorithm]
		host := newKeyHost(t, oneKey(t, old.public, "old"))
		g, c, log := remoteGuard(t, row.algorithm, host.URL)
		public := row.signer.public
		if _, secret := public.([]byte); secret {
			public = fresh["RS256"].public // overwrites its parameters
		}
		key := jwk(t, public, "new", row.changes)
		want := map[bool]comment.Kind{true: allowed, false: comment.Unauthenticated}
		check := func(beside string, oldCounts bool) {
			t.Helper()
			c.advance(time.Minute)
			if got := mayWrite(t, g, "Bearer "+old.token(t, claims(nil), "unknown")); got != comment.Unauthenticated { // fetches the set
				t.Errorf("a key that is not known: %d", got)
			}
			for _, kid := range []string{"new", ""} {
				if got := mayWrite(t, g, "Bearer "+row.signer.token(t, claims(nil), kid)); got != want[row.counts] {
					t.Errorf("a key %s, %s, named %q: %d, want %d", row.why, beside, kid, got, want[row.counts])
				}
			}
			if got := mayWrite(t, g, "Bearer "+old.token(t, claims(nil), "old")); got != want[oldCounts] {
				t.Errorf("a key %s, %s: with the old one %d, want %d", row.why, beside, got, want[oldCounts])
			}
		}
		host.text.Store(setOf(t, key))
		check("alone", !row.counts)
		if logged := strings.Count(log.String(), "can verify"); logged != map[bool]int{true: 0, false: 1}[row.counts] {
			t.Errorf("a key %s: the log: %s", row.why, log)
		}
		log.Reset()
		host.text.Store(setOf(t, key, jwk(t, others[row.algorithm].public, "other", nil)))
		check("beside another", false)
	}
}

// An answer that is no key set leaves the known keys in use, and is logged without its text.
func TestWhatIsNoSetOfKeys(t *testing.T) {
	s := signers()[0]["ES256"]
	good := oneKey(t, s.public, "old")
	host := newKeyHost(t, good)
	g, c, log := remoteGuard(t, "ES256", host.URL)
	for why, row := range map[string]struct{ text, err string }{
		"nothing":               {"", "not a JSON Web Key Set"},
		"a page":                {"<html>hush</html>", "not a JSON Web Key Set"},
		"no keys":               {`{"keys":[]}`, "the key set has no keys\n"},
		"null":                  {`null`, "the key set has no keys\n"},
		"another object":        {`{"error":"hush"}`, "the key set has no keys\n"},
		"a list":                {`[]`, "not a JSON Web Key Set"},
		"a name twice":          {`{"keys":[],` + good[1:], "not a JSON Web Key Set"},
		"something after":       {good + good, "not a JSON Web Key Set"},
		"keys for other ends":   {setOf(t, jwk(t, s.public, "hush", map[string]any{"use": "enc"})), "none of the 1 keys can verify ES256: one is not for signatures"},
		"more keys than can be": {setOf(t, slices.Repeat([]any{jwk(t, s.public, "hush", nil)}, 65)...), "there are 65 keys"},
		"more than can be read": {good + strings.Repeat(" ", 256<<10), "the answer has more than 262144 bytes"},
	} {
		log.Reset()
		host.text.Store(row.text)
		c.advance(time.Minute)
		if got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), "hush")); got != comment.Unauthenticated {
			t.Errorf("%s: %d", why, got)
		}
		if got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), "old")); got != allowed {
			t.Errorf("%s: the key known from before: %d", why, got)
		}
		said := strings.ReplaceAll(log.String(), `"`, "")
		if strings.Count(said, "those fetched before stay in use") != 1 || !strings.Contains(said, row.err) || strings.Contains(said, "hush") {
			t.Errorf("%s: the log: %s", why, log)
		}
	}
}

// Two keys with one id both count.
func TestKeysOfOneID(t *testing.T) {
	one, other := signers()[0]["RS256"], signers()[1]["RS256"]
	host := newKeyHost(t, setOf(t, jwk(t, one.public, "k", nil), jwk(t, other.public, "k", nil)))
	g, _, _ := remoteGuard(t, "RS256", host.URL)
	for _, s := range []signer{one, other} {
		if got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), "k")); got != allowed {
			t.Errorf("%d", got)
		}
	}
}

// An address may redirect within its own origin, a few times.
func TestKeysThatAreElsewhere(t *testing.T) {
	s := signers()[0]["EdDSA"]
	keys := oneKey(t, s.public, "k")
	elsewhere := newKeyHost(t, keys).URL
	handler := http.NewServeMux()
	for from, to := range map[string]string{
		"/1": "/keys", "/2": "/1", "/3": "/2", "/4": "/3", "/round": "/round", "/elsewhere": elsewhere, "/late": "/elsewhere",
	} {
		handler.Handle(from, http.RedirectHandler(to, http.StatusFound))
	}
	handler.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, keys) })
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	transport := http.DefaultTransport
	http.DefaultTransport = secure.Client().Transport
	defer func() { http.DefaultTransport = transport }()
	for path, counts := range map[string]bool{
		"/keys": true, "/1": true, "/3": true, "/4": false, "/round": false, "/elsewhere": false, "/late": false,
	} {
		for _, host := range []*httptest.Server{plain, secure} {
			g, _, log := remoteGuard(t, "EdDSA", host.URL+path)
			got := mayWrite(t, g, "Bearer "+s.token(t, claims(nil), "k"))
			if (got == allowed) != counts || (log.Len() == 0) != counts || strings.Contains(log.String(), "127.0.0.1") {
				t.Errorf("%s%s: %d; want the keys to count: %v; the log: %s", host.URL, path, got, counts, log)
			}
		}
	}
}
