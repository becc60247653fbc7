package auth_test

import (
	"bytes"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// Wrong settings give one sentence that names the cure and reveals no secret. The sentences are in
// testdata/settings.golden.
func TestSettingsErrors(t *testing.T) {
	const short = "only-31-bytes-long-is-too-short"
	all := signers()[0]
	var got bytes.Buffer
	for _, row := range []struct {
		why      string
		settings auth.Settings
	}{
		{"a moderators' token too short", auth.Settings{ModeratorToken: short}},
		{"a moderators' token of two words", auth.Settings{ModeratorToken: moderator + " " + moderator}},
		{"a moderators' token with a line break", auth.Settings{ModeratorToken: moderator + "\n"}},
		{"a shared secret too short", auth.Settings{Algorithm: "HS256", Key: short}},
		{"a public key for a shared secret", auth.Settings{Algorithm: "HS256", Key: all["RS256"].text}},
		{"a shared secret for a public key", auth.Settings{Algorithm: "RS256", Key: secret}},
		{"a key of another algorithm", auth.Settings{Algorithm: "ES256", Key: all["RS256"].text}},
		{"a key cut off", auth.Settings{Algorithm: "EdDSA", Key: all["EdDSA"].text[:60]}},
		{"a second key cut off", auth.Settings{Algorithm: "EdDSA", Key: all["EdDSA"].text + all["EdDSA"].text[:60]}},
		{"a second key of another algorithm", auth.Settings{Algorithm: "EdDSA", Key: all["EdDSA"].text + all["RS256"].text}},
		{"a chain of certificates", auth.Settings{Algorithm: "ES256", Key: strings.Repeat(certificate(t, all["ES256"]), 2)}},
		{"a private key", auth.Settings{Algorithm: "ES256", Key: privateKey(t, all["ES256"])}},
		{"an RSA key too short", auth.Settings{Algorithm: "RS256", Key: rsaSigner(1024).text}},
		{"another curve", auth.Settings{Algorithm: "ES256", Key: ecSigner(jwt.SigningMethodES384, elliptic.P384()).text}},
		{"no algorithm", auth.Settings{Key: all["RS256"].text}},
		{"an algorithm that is none", auth.Settings{Algorithm: "none", Key: all["RS256"].text}},
		{"no key", auth.Settings{Algorithm: "RS256"}},
		{"an issuer and no key", auth.Settings{ModeratorToken: moderator, Issuer: "shop"}},
		{"an issuer with a line break", auth.Settings{Algorithm: "HS256", Key: secret, Issuer: "shop\n"}},
		{"an audience with a space", auth.Settings{Algorithm: "HS256", Key: secret, Audience: " talkback"}},
		{"a claim of roles with a line break", auth.Settings{Algorithm: "HS256", Key: secret, RolesClaim: "roles\r\n"}},
		{"a claim of roles and no key", auth.Settings{ModeratorToken: moderator, RolesClaim: "roles"}},
		{"both key and address", auth.Settings{Algorithm: "RS256", Key: all["RS256"].text, JWKS: "https://login.example.com/"}},
		{"an address that is none", auth.Settings{Algorithm: "RS256", JWKS: "login.example.com/password"}},
		{"an address of a file", auth.Settings{Algorithm: "RS256", JWKS: "file://password/keys.json"}},
		{"an address without encryption", auth.Settings{Algorithm: "RS256", JWKS: "http://login.example.com/password"}},
		{"a shared secret at an address", auth.Settings{Algorithm: "HS256", JWKS: "https://login.example.com/"}},
	} {
		_, err := auth.New(t.Context(), row.settings)
		fmt.Fprintf(&got, "# %s\n%v\n\n", row.why, err)
		for _, hidden := range []string{short, moderator, secret, "password", "MII", "MFk", "MCo", "BEGIN"} {
			if err == nil || strings.Contains(err.Error(), hidden) {
				t.Errorf("%s: %v; want an error that does not say %q", row.why, err, hidden)
			}
		}
	}
	goldentest.Compare(t, "testdata/settings.golden", got.Bytes())
}

// A file's line break becomes part of a shared secret, and then no token is valid. The log says so,
// without the secret. A PEM key may end with one.
func TestPaddedSecretIsLogged(t *testing.T) {
	for _, row := range []struct {
		algorithm, key string
		says           bool
	}{{"HS256", secret, false}, {"HS256", secret + "\n", true}, {"RS256", signers()[0]["RS256"].text, false}} {
		var log bytes.Buffer
		_, err := auth.New(t.Context(), auth.Settings{Algorithm: row.algorithm, Key: row.key, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil || strings.Contains(log.String(), "--jwt-key") != row.says || strings.Contains(log.String(), secret) {
			t.Errorf("%s: %v, logged %q", row.algorithm, err, log.String())
		}
	}
}

// privateKey returns the text of a key that is to be kept secret.
func privateKey(t *testing.T, s signer) string {
	t.Helper()
	der := must.Get(x509.MarshalPKCS8PrivateKey(s.key))(t)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func certificate(t *testing.T, s signer) string {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, s.public, s.key))(t)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
