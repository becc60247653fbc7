package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// minSecret is the least length of a shared secret, in bytes: as long as the hash of HS256, as
	// RFC 7518, section 3.2, asks.
	minSecret = 32
	// minRSA is the least size of an RSA key, in bits: RFC 7518, section 3.3.
	minRSA = 2048
	// leeway is how much the clock of the tokens' issuer may differ from ours.
	leeway = 10 * time.Second
)

// Algorithms are the algorithms that signed tokens may use, one at a time. Only the configured
// algorithm is accepted, and only with its kind of key, so a public key cannot be taken for a
// shared secret.
var Algorithms = []string{"EdDSA", "RS256", "ES256", "HS256"}

// Settings say which tokens are accepted. Empty Settings accept none, and let clients on this
// machine write.
type Settings struct {
	// ModeratorToken is the token of moderators, who may change anything. It has at least 32 bytes,
	// or is empty for none.
	ModeratorToken string
	// Algorithm is the algorithm of signed tokens, one of Algorithms. Required with Key or JWKS.
	Algorithm string
	// Key verifies signed tokens: public keys in PEM, one after the other, any of which may, or for
	// HS256 the shared secret of at least 32 bytes.
	Key string
	// JWKS is the address of a set of public keys that verify signed tokens, in place of Key. It is
	// fetched at the start, every quarter of an hour, and when no key in it verifies a token, then at
	// most once a minute. Plain HTTP is for this machine alone.
	JWKS string
	// Issuer and Audience, if not empty, must be those of a signed token.
	Issuer, Audience string
	// RolesClaim is the claim of signed tokens that lists roles: its name, or a path through nested
	// claims such as realm_access.roles. If it is empty, signed tokens have no roles.
	RolesClaim string
	// Logger logs that keys could not be fetched. If it is nil, nothing is logged.
	Logger *slog.Logger
	// Now returns the current time. If it is nil, time.Now does.
	Now func() time.Time
}

// check returns an error if settings contradict each other. The error holds neither key nor token.
func (s Settings) check() error {
	signed := s.Key != "" || s.JWKS != ""
	switch {
	case s.ModeratorToken != "" && len(s.ModeratorToken) < minSecret:
		return tooShort("the moderators' token")
	case strings.ContainsFunc(s.ModeratorToken, func(r rune) bool { return r <= ' ' || r > unicode.MaxASCII }):
		return errors.New("the moderators' token holds a space, a line break or a letter that is not ASCII, which no header carries: make one, for instance by: openssl rand -hex 32")
	case s.Key != "" && s.JWKS != "":
		return errors.New("signed tokens have both a key and a JWKS address: give one of --jwt-key and --jwks-url")
	case !signed && s.Algorithm != "":
		return errors.New("signed tokens have an algorithm and no key: give --jwt-key or --jwks-url")
	case !signed && (s.Issuer != "" || s.Audience != ""):
		return errors.New("signed tokens have an issuer or an audience and no key: give --jwt-key or --jwks-url")
	case !signed && s.RolesClaim != "":
		return errors.New("--roles-claim needs signed tokens: give --jwt-algorithm with --jwt-key or --jwks-url")
	case signed && !slices.Contains(Algorithms, s.Algorithm):
		return fmt.Errorf("signed tokens need --jwt-algorithm, one of %s", strings.Join(Algorithms, ", "))
	case s.JWKS != "" && s.Algorithm == "HS256":
		return errors.New("HS256 uses a shared secret, which must not be published at an address: give it by --jwt-key, or use another algorithm")
	}
	for _, of := range []struct{ flag, name string }{{"--jwt-issuer", s.Issuer}, {"--jwt-audience", s.Audience}, {"--roles-claim", s.RolesClaim}} {
		if padded(of.name) {
			return fmt.Errorf("%s begins or ends with a space or a line break, which no token has there: remove it; echo adds a line break, printf does not", of.flag)
		}
	}
	return nil
}

// padded reports whether a text begins or ends with white space, such as the line break of a file.
func padded(text string) bool { return strings.TrimSpace(text) != text }

// parser returns a parser that accepts only the one algorithm, and only tokens that expire.
func (s Settings) parser() *jwt.Parser {
	options := []jwt.ParserOption{
		jwt.WithValidMethods([]string{s.Algorithm}),
		jwt.WithExpirationRequired(),
		jwt.WithLeeway(leeway),
		jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(s.Now),
	}
	if s.Issuer != "" {
		options = append(options, jwt.WithIssuer(s.Issuer))
	}
	if s.Audience != "" {
		options = append(options, jwt.WithAudience(s.Audience))
	}
	return jwt.NewParser(options...)
}

// parseKeys reads the keys of an algorithm: the shared secret, or all public keys of a text.
// Several verify tokens while the issuer changes from one to the next. Errors hold no key.
func parseKeys(algorithm, text string) (keys jwt.VerificationKeySet, err error) {
	if algorithm == "HS256" {
		switch {
		case strings.Contains(text, beginPEM): // with a public key, any client could make tokens
			return keys, errors.New("--jwt-key holds a key in PEM, which is no shared secret: give the --jwt-algorithm that it is for")
		case len(text) < minSecret:
			return keys, tooShort("the shared secret in --jwt-key")
		}
		keys.Keys = append(keys.Keys, []byte(text))
		return keys, nil
	}
	block, rest := pem.Decode([]byte(text))
	for ; block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" && len(keys.Keys) > 0 { // of a chain, whose other keys are those of authorities
			return keys, errors.New("--jwt-key holds a chain of certificates: give the first alone, or public keys")
		}
		key, err := parseKey(algorithm, pem.EncodeToMemory(block))
		if err != nil {
			return keys, err
		}
		keys.Keys = append(keys.Keys, key)
	}
	if len(keys.Keys) == 0 || strings.Contains(string(rest), beginPEM) { // none, or one that is cut off
		return keys, noKey(algorithm)
	}
	return keys, nil
}

const beginPEM = "-----BEGIN"

// parseKey reads a public key in PEM.
func parseKey(algorithm string, text []byte) (key crypto.PublicKey, err error) {
	switch algorithm {
	case "EdDSA":
		key, err = jwt.ParseEdPublicKeyFromPEM(text)
	case "RS256":
		key, err = jwt.ParseRSAPublicKeyFromPEM(text)
	case "ES256":
		key, err = jwt.ParseECPublicKeyFromPEM(text)
	default:
		err = errors.New("no such algorithm")
	}
	if err != nil {
		return nil, noKey(algorithm)
	}
	switch key := key.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < minRSA {
			return nil, fmt.Errorf("the RSA key in --jwt-key is too short to be safe: make one of at least %d bits", minRSA)
		}
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return nil, errors.New("the key in --jwt-key is of another curve than that of ES256: give one of P-256")
		}
	}
	return key, nil
}

func noKey(algorithm string) error {
	return fmt.Errorf("--jwt-key holds no public key for %s: give one in PEM", algorithm)
}

func tooShort(what string) error {
	return fmt.Errorf("%s is too short to be safe: make one of at least %d bytes, for instance by: openssl rand -hex 32", what, minSecret)
}
