package auth

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

// minSecret is the least length of a shared secret, in bytes: as long as the hash of HS256, as RFC 7518, section 3.2, asks.
const minSecret = 32

// Algorithms are those that signed tokens may use, one at a time. That only the one configured is accepted, and only with
// its kind of key, keeps a public key from being taken for a shared secret.
var Algorithms = []string{"EdDSA", "RS256", "ES256", "HS256"}

// Settings say which tokens are accepted. The empty ones accept none, and let everyone write.
type Settings struct {
	// ModeratorToken is the token of those who may change anything, at least 32 bytes. Empty for none.
	ModeratorToken string
	// Algorithm is that of signed tokens, one of Algorithms. Required with Key or JWKS.
	Algorithm string
	// Key verifies signed tokens: a public key in PEM, or for HS256 the shared secret of at least 32 bytes.
	Key string
	// JWKS is the address of a set of keys that verify signed tokens, in place of Key. It is fetched again now and then.
	JWKS string
	// Issuer and Audience, if not empty, must be those of a signed token.
	Issuer, Audience string
}

// keyfunc is what finds the key of a token; nil when signed tokens are not accepted.
func (s Settings) keyfunc(ctx context.Context) (jwt.Keyfunc, error) {
	switch {
	case s.Key == "" && s.JWKS == "" && s.Algorithm == "":
		return nil, nil
	case s.Key != "" && s.JWKS != "":
		return nil, errors.New("signed tokens have both a key and a JWKS address: give one of --jwt-key and --jwks-url")
	case s.Key == "" && s.JWKS == "":
		return nil, errors.New("signed tokens have an algorithm and no key: give --jwt-key or --jwks-url")
	case !slices.Contains(Algorithms, s.Algorithm):
		return nil, fmt.Errorf("signed tokens need --jwt-algorithm, one of %v", Algorithms)
	case s.JWKS != "":
		return s.remoteKeys(ctx)
	}
	key, err := parseKey(s.Algorithm, []byte(s.Key))
	if err != nil {
		return nil, err
	}
	return func(*jwt.Token) (any, error) { return key, nil }, nil
}

// parserOptions accept the one algorithm alone, and no token that does not expire.
func (s Settings) parserOptions() []jwt.ParserOption {
	options := []jwt.ParserOption{jwt.WithValidMethods([]string{s.Algorithm}), jwt.WithExpirationRequired()}
	if s.Issuer != "" {
		options = append(options, jwt.WithIssuer(s.Issuer))
	}
	if s.Audience != "" {
		options = append(options, jwt.WithAudience(s.Audience))
	}
	return options
}

func (s Settings) remoteKeys(ctx context.Context) (jwt.Keyfunc, error) {
	if u, err := url.Parse(s.JWKS); err != nil || u.Host == "" {
		return nil, errors.New("--jwks-url is not an address: give one such as https://login.example.com/jwks.json")
	}
	keys, err := keyfunc.NewDefaultCtx(ctx, []string{s.JWKS})
	if err != nil {
		return nil, fmt.Errorf("the keys at --jwks-url cannot be fetched: %w", err)
	}
	return keys.Keyfunc, nil
}

// parseKey reads the key of an algorithm. The key itself stands in no error.
func parseKey(algorithm string, text []byte) (crypto.PublicKey, error) {
	var key crypto.PublicKey
	var err error
	switch algorithm {
	case "EdDSA":
		key, err = jwt.ParseEdPublicKeyFromPEM(text)
	case "RS256":
		key, err = jwt.ParseRSAPublicKeyFromPEM(text)
	case "ES256":
		key, err = jwt.ParseECPublicKeyFromPEM(text)
	case "HS256":
		if len(text) < minSecret {
			return nil, tooShort("the shared secret in --jwt-key")
		}
		return text, nil
	}
	if err != nil {
		return nil, fmt.Errorf("--jwt-key holds no public key for %s: give one in PEM", algorithm)
	}
	return key, nil
}

func tooShort(what string) error {
	return fmt.Errorf("%s is too short to be safe: make one of at least %d bytes, for instance by: openssl rand -hex 32", what, minSecret)
}
