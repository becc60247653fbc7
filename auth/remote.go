package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/internal/fetch"
	"github.com/talkback/talkback/internal/task"
)

// Issuers rotate the keys at an address: they add a key, sign with it, and later remove the old
// one. Some give all their keys one ID, or none. So keys are fetched at an interval, and at once
// when no known key verifies a token. Made-up tokens must not cause a fetch each, nor keep others
// waiting: see [WithToken]. While the address has no keys, the known ones count. keyfunc and jwkset
// refuse requests while they fetch, follow any redirect, and let an empty set replace all keys; so
// jwkset reads single keys only.
const (
	// refreshEvery is the interval of fetches. A removed key is accepted for about that long, unless
	// fetches fail.
	refreshEvery = 15 * time.Minute
	// refetchAfter is how long after a fetch a token that no key verifies can cause another.
	refetchAfter = time.Minute
	// fetchTimeout bounds one fetch, and so the wait of the requests that need it.
	fetchTimeout = 5 * time.Second
	// maxKeysBytes bounds a set of keys, unpacked. A key is one to two kilobytes, with its
	// certificates.
	maxKeysBytes = 256 << 10
)

// remoteKeys are the keys at an address.
type remoteKeys struct {
	settings Settings
	ctx      context.Context // ends all fetching; not a request's: a client that hangs up must not end the fetch for others
	client   *fetch.Client
	known    atomic.Pointer[keySet]

	mu      sync.Mutex
	fetched time.Time // when the last fetch began
}

// newRemoteKeys fetches the keys. If that fails, the server starts nevertheless: it can do much
// without keys, and fetches again when a token comes.
func newRemoteKeys(ctx context.Context, s Settings) (*remoteKeys, error) {
	u, err := url.Parse(s.JWKS)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("--jwks-url is not an address: give one such as https://login.example.com/jwks.json")
	}
	if u.Scheme == "http" && !isLoopbackHost(u.Host) {
		return nil, errors.New("--jwks-url is not safe: keys that come by plain HTTP could be changed on their way; give an address that begins with https")
	}
	r := &remoteKeys{settings: s, ctx: ctx, client: fetch.New(fetchTimeout, maxKeysBytes, nil)}
	r.known.Store(&keySet{})
	r.refetch(0)
	go r.refresh()
	return r, nil
}

// key returns the keys that may have signed a token: the known ones with the ID that it names, or
// all if it names none.
func (r *remoteKeys) key(token *jwt.Token) (any, error) {
	r.catchUp()
	known := r.known.Load()
	if id, named := token.Header["kid"].(string); named {
		return jwt.VerificationKeySet{Keys: known.byID[id]}, nil
	}
	return jwt.VerificationKeySet{Keys: known.all}, nil
}

// renewed reports whether the keys differ from before, which did not verify a token. It fetches
// them unless they were just fetched.
func (r *remoteKeys) renewed(before *keySet) bool {
	if r.known.Load() == before {
		r.refetch(refetchAfter)
	}
	return r.known.Load() != before
}

// refresh fetches the keys at an interval until the context ends.
func (r *remoteKeys) refresh() {
	for task.Wait(r.ctx, refreshEvery) == nil {
		r.refetch(0)
	}
}

// catchUp fetches the keys if refresh is late: AWS Lambda freezes a process between two requests,
// even in the middle of a fetch. While the address does not answer, one request a minute waits for
// it, and the others go on.
func (r *remoteKeys) catchUp() {
	if task.Elapsed(r.known.Load().fetched, r.settings.Now()) < refreshEvery+refetchAfter || !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	r.refetchLocked(refetchAfter)
}

// refetch fetches the keys unless a fetch began less than age ago. Calls during a fetch wait for
// its outcome. If it fails, the known keys stay, and the error is logged: at most once a minute.
func (r *remoteKeys) refetch(age time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refetchLocked(age)
}

// refetchLocked is refetch for a caller that holds the lock.
func (r *remoteKeys) refetchLocked(age time.Duration) {
	if task.Elapsed(r.fetched, r.settings.Now()) < age {
		return
	}
	r.fetched = r.settings.Now()
	answer, err := r.client.Get(r.ctx, r.settings.JWKS, nil)
	var keys *keySet
	if err == nil {
		keys, err = readKeys(r.settings.Algorithm, answer.Body)
	}
	switch log := r.settings.Logger; { // not with the address, which can hold a password
	case err != nil && len(r.known.Load().all) == 0:
		log.Warn("the keys at --jwks-url could not be fetched; no signed token is accepted until they are", "error", err)
		return
	case err != nil:
		log.Warn("the keys at --jwks-url could not be fetched; those fetched before stay in use", "error", err)
		return
	}
	keys.fetched = r.fetched
	r.known.Store(keys)
}

const (
	// maxKeys bounds the keys of a set: a token that names no key is tried with each. Sets have
	// some ten keys at most.
	maxKeys = 64
	// maxRSA is the largest size of an RSA key of a set, in bits. Verifying with larger ones takes
	// long.
	maxRSA = 8192
)

// keySet has the keys of a set (RFC 7517) that may verify tokens of the configured algorithm.
type keySet struct {
	byID map[string][]jwt.VerificationKey // several keys may have one id: RFC 7517, section 4.5
	all  []jwt.VerificationKey

	fetched time.Time // when their fetch began
}

// readKeys reads a set of keys. Keys that cannot be used here are left out, since an issuer may
// have keys for other purposes. If none is left, the error says why.
func readKeys(algorithm string, text []byte) (*keySet, error) {
	var set struct{ Keys []json.RawMessage }
	if !isUnambiguous(text) || json.Unmarshal(text, &set) != nil {
		return nil, errors.New("the answer is not a JSON Web Key Set")
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
	case len(set.Keys) == 0:
		return nil, errors.New("the key set has no keys")
	case len(keys.all) == 0:
		slices.Sort(reasons)
		return nil, fmt.Errorf("none of the %d keys can verify %s: %s", len(set.Keys), algorithm, strings.Join(slices.Compact(reasons), "; "))
	case len(keys.all) > maxKeys:
		return nil, fmt.Errorf("there are %d keys for %s; at most %d are taken", len(keys.all), algorithm, maxKeys)
	}
	return keys, nil
}

// Reasons why a key is unusable. They reveal nothing of the key itself.
var (
	errMalformed  = errors.New("one is not a valid key")
	errPrivate    = errors.New("one is a private key or a shared secret, which others may have read there too")
	errForOther   = errors.New("one is not for signatures (use, key_ops)")
	errOtherAlg   = errors.New("one is for another algorithm")
	errUnsafeSize = fmt.Errorf("one is an RSA key of less than %d or more than %d bits", minRSA, maxRSA)
)

// readKey reads a key of a set and its ID, which is empty if it has none. An error says why the key
// cannot be used: it is meant for something else, is of another algorithm, or is not safe.
func readKey(algorithm string, raw []byte) (id string, key crypto.PublicKey, err error) {
	var parameters jwkset.JWKMarshal
	if json.Unmarshal(raw, &parameters) != nil {
		return "", nil, errMalformed
	}
	switch p := parameters; {
	case p.D != "" || p.K != "":
		return "", nil, errPrivate
	case p.USE != "" && p.USE != jwkset.UseSig, p.KEYOPS != nil && !slices.Contains(p.KEYOPS, jwkset.KeyOpsVerify):
		return "", nil, errForOther
	case p.ALG != "" && p.ALG.String() != algorithm:
		return "", nil, errOtherAlg
	}
	var parsed jwkset.JWK
	err = task.Try(func() (err error) { // a panic about one key loses only that key
		parsed, err = jwkset.NewJWKFromMarshal(parameters, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		return err
	})
	if err != nil {
		return "", nil, errMalformed
	}
	ofAlgorithm := false
	switch key := parsed.Key().(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
			return "", nil, errUnsafeSize
		}
		ofAlgorithm = algorithm == "RS256"
	case *ecdsa.PublicKey:
		if _, err := key.ECDH(); err != nil { // its point is not on its curve
			return "", nil, errMalformed
		}
		ofAlgorithm = algorithm == "ES256" && key.Curve == elliptic.P256()
	case ed25519.PublicKey:
		ofAlgorithm = algorithm == "EdDSA"
	}
	if !ofAlgorithm {
		return "", nil, errOtherAlg
	}
	return parameters.KID, parsed.Key(), nil
}
