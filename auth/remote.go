package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

// Keys at an address change: their owner adds one, signs with it, and some day takes the old one away. So they are
// fetched now and then, and at once when a token names a key that is not known. Whoever sends tokens with keys that he
// made up must not make us fetch for each, nor keep others waiting; and while the address does not answer, the keys
// known from before count. keyfunc's own way to fetch unknown keys turns away everyone who comes while it does, which
// after a change of keys are all; its way to choose a key is used here, with fetching of our own around it.
const (
	// refreshEvery is how often keys are fetched whatever happens: the longest that a key taken away is still accepted.
	refreshEvery = 15 * time.Minute
	// refetchAfter is how long after a fetch an unknown key is reason for another.
	refetchAfter = time.Minute
	// fetchTimeout bounds one fetch, and so the wait of whoever needs it.
	fetchTimeout = 5 * time.Second
	// maxKeysBytes bounds a set of keys. A key is one to two kilobytes, with its certificates.
	maxKeysBytes = 1 << 20
)

// remoteKeys are the keys at an address.
type remoteKeys struct {
	settings Settings
	ctx      context.Context // ends all fetching; not a request's, lest whoever hangs up spoils the fetch for others
	client   *http.Client
	known    jwkset.Storage
	choose   keyfunc.Keyfunc

	mu      sync.Mutex
	fetched time.Time // when a fetch began last
}

// newRemoteKeys fetches the keys. When that fails, the server starts all the same: it can do much without them, and asks
// again when a token comes.
func newRemoteKeys(ctx context.Context, s Settings) (*remoteKeys, error) {
	u, err := url.Parse(s.JWKS)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("--jwks-url is not an address: give one such as https://login.example.com/jwks.json")
	}
	if u.Scheme == "http" && !isLoopbackHost(u.Host) {
		return nil, errors.New("--jwks-url is not safe: keys that come by plain HTTP could be changed on their way; give an address that begins with https")
	}
	known := jwkset.NewMemoryStorage()
	choose, err := keyfunc.New(keyfunc.Options{Ctx: ctx, Storage: known})
	if err != nil {
		return nil, fmt.Errorf("the keys at --jwks-url: %w", err)
	}
	r := &remoteKeys{settings: s, ctx: ctx, known: known, choose: choose, client: keysClient()}
	r.fetched = s.Now()
	return r, r.fetch(refreshEvery)
}

// keysClient takes no longer and reads no more than keys can need.
func keysClient() *http.Client {
	return &http.Client{Timeout: fetchTimeout, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err == nil {
			response.Body = http.MaxBytesReader(nil, response.Body, maxKeysBytes)
		}
		return response, err
	})}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// key is the key, or the keys, that may have signed a token.
func (r *remoteKeys) key(token *jwt.Token) (any, error) {
	key, err := r.choose.Keyfunc(token)
	if known := err == nil && !isNone(key); known || err != nil && !errors.Is(err, jwkset.ErrKeyNotFound) {
		return key, err
	}
	if err := r.refetch(); err != nil {
		return nil, err
	}
	return r.choose.Keyfunc(token)
}

// isNone tells whether a token that names no key finds none at all to be tried.
func isNone(key any) bool {
	set, ok := key.(jwt.VerificationKeySet)
	return ok && len(set.Keys) == 0
}

// refetch fetches the keys unless that was just done. Who comes meanwhile waits for the outcome.
func (r *remoteKeys) refetch() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.settings.Now()
	if now.Sub(r.fetched) < refetchAfter {
		return nil
	}
	r.fetched = now
	return r.fetch(0)
}

// fetch fetches the keys now, and from then on at an interval unless that is 0. A fetch that fails is logged, and changes
// nothing.
func (r *remoteKeys) fetch(interval time.Duration) error {
	_, err := jwkset.NewStorageFromHTTP(r.settings.JWKS, jwkset.HTTPClientStorageOptions{
		Client:                    r.client,
		Ctx:                       r.ctx,
		HTTPTimeout:               fetchTimeout,
		NoErrorReturnFirstHTTPReq: true,
		RefreshErrorHandler:       r.failed,
		RefreshInterval:           interval,
		Storage:                   r.known,
	})
	if err != nil {
		return errors.New("the keys at --jwks-url cannot be fetched") // the address, which can hold a password, stands in err
	}
	return nil
}

// failed logs why keys could not be fetched, without the address, which can hold a password.
func (r *remoteKeys) failed(ctx context.Context, err error) {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	r.settings.Logger.WarnContext(ctx, "the keys at --jwks-url could not be fetched; those known from before count", "error", err)
}
