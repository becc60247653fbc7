package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

const (
	// maxKeys bounds the keys of a set: a token that names no key is tried with each. Sets have
	// some ten keys at most.
	maxKeys = 64
	// maxRSA is the largest size of an RSA key of a set, in bits. Verifying with larger ones takes
	// long.
	maxRSA = 8192
)

// keySet are the keys of a set (RFC 7517) that may verify tokens of the one algorithm.
type keySet struct {
	byID map[string][]jwt.VerificationKey // several keys may have one id: RFC 7517, section 4.5
	all  []jwt.VerificationKey

	fetched time.Time // when the fetch of them began
}

// readKeys reads a set of keys. Keys that cannot be used here are left out, since an issuer may
// have keys for other purposes. If none is left, the error says why.
func readKeys(algorithm string, text []byte) (*keySet, error) {
	var set struct{ Keys []json.RawMessage }
	if !isUnambiguous(text) || json.Unmarshal(text, &set) != nil {
		return nil, errors.New("what is there is no set of keys in JSON")
	}
	keys := &keySet{byID: map[string][]jwt.VerificationKey{}}
	var reasons []string
	for _, raw := range set.Keys {
		id, key, err := readKey(algorithm, raw)
		if err != nil {
			reasons = append(reasons, err.Error())
			continue
		}
		keys.byID[id] = append(keys.byID[id], key)
		keys.all = append(keys.all, key)
	}
	switch {
	case len(keys.all) == 0:
		slices.Sort(reasons)
		return nil, fmt.Errorf("of %d keys there, none is of use for %s: %s", len(set.Keys), algorithm, strings.Join(slices.Compact(reasons), "; "))
	case len(keys.all) > maxKeys:
		return nil, fmt.Errorf("there are %d keys for %s, and at most %d can be", len(keys.all), algorithm, maxKeys)
	}
	return keys, nil
}

// Reasons why a key is unusable. They reveal nothing of the key itself.
var (
	errMalformed  = errors.New("one is not a proper key")
	errPrivate    = errors.New("one is private or a shared secret, which others may have read there too")
	errForOther   = errors.New("one is for something else than signatures (use, key_ops)")
	errOtherAlg   = errors.New("one is of another algorithm")
	errUnsafeSize = fmt.Errorf("one is an RSA key of less than %d or more than %d bits", minRSA, maxRSA)
)

// readKey reads a key of a set and its ID, which is empty if it has none.
func readKey(algorithm string, raw []byte) (id string, key crypto.PublicKey, err error) {
	var parameters jwkset.JWKMarshal
	if json.Unmarshal(raw, &parameters) != nil {
		return "", nil, errMalformed
	}
	if err := checkParameters(algorithm, parameters); err != nil {
		return "", nil, err
	}
	parsed, err := jwkset.NewJWKFromMarshal(parameters, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return "", nil, errMalformed
	}
	return parameters.KID, parsed.Key(), checkKey(algorithm, parsed.Key())
}

// checkParameters returns an error if a key is meant for another use.
func checkParameters(algorithm string, p jwkset.JWKMarshal) error {
	switch {
	case p.D != "" || p.K != "":
		return errPrivate
	case p.USE != "" && p.USE != jwkset.UseSig:
		return errForOther
	case p.KEYOPS != nil && !slices.Contains(p.KEYOPS, jwkset.KeyOpsVerify):
		return errForOther
	case p.ALG != "" && p.ALG.String() != algorithm:
		return errOtherAlg
	}
	return nil
}

// checkKey returns an error if a key is not one of the algorithm's, or is not safe.
func checkKey(algorithm string, key crypto.PublicKey) error {
	switch key := key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
			return errUnsafeSize
		}
		return ofAlgorithm(algorithm == "RS256")
	case *ecdsa.PublicKey:
		if _, err := key.ECDH(); err != nil { // its point is not on its curve
			return errMalformed
		}
		return ofAlgorithm(algorithm == "ES256" && key.Curve == elliptic.P256())
	case ed25519.PublicKey:
		return ofAlgorithm(algorithm == "EdDSA")
	}
	return errOtherAlg
}

func ofAlgorithm(is bool) error {
	if !is {
		return errOtherAlg
	}
	return nil
}
