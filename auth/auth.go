// Package auth decides who may write, from the bearer token of a request. The moderators' token may
// write anything. A signed token (JWT) has the customer as its subject, who may write their own
// comments; one of its claims can list roles that may do more. Only moderators may change comments
// of imported authors. Tokens appear in no log and in no error.
package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/comment"
)

// Guard decides who may write. The zero Guard lets clients on this machine write, and no others:
// see Open.
type Guard struct {
	moderator  *[sha256.Size]byte // of the token
	parser     *jwt.Parser
	key        jwt.Keyfunc
	remote     *remoteKeys // nil for keys that do not change
	rolesClaim string      // empty for none
}

// New returns a guard for settings. An error is one sentence that says what to do. The end of the
// context stops fetching keys in the background.
func New(ctx context.Context, s Settings) (*Guard, error) {
	s.Logger = cmp.Or(s.Logger, slog.New(slog.DiscardHandler))
	if s.Now == nil {
		s.Now = time.Now
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	g := &Guard{rolesClaim: s.RolesClaim}
	if s.ModeratorToken != "" {
		g.moderator = new(sha256.Sum256([]byte(s.ModeratorToken)))
	}
	switch {
	case s.JWKS != "":
		keys, err := newRemoteKeys(ctx, s)
		if err != nil {
			return nil, err
		}
		g.parser, g.key, g.remote = s.parser(), keys.key, keys
	case s.Key != "":
		keys, err := parseKeys(s.Algorithm, s.Key)
		if err != nil {
			return nil, err
		}
		if s.Algorithm == "HS256" && padded(s.Key) {
			s.Logger.Warn("the shared secret in --jwt-key begins or ends with a space or a line break; if the issuer's does not, no signed token is valid", "cure", "remove it")
		}
		g.parser, g.key = s.parser(), func(*jwt.Token) (any, error) { return keys, nil }
	}
	return g, nil
}

// Open reports whether no token is configured. Every client on this machine may then write, and no
// other.
func (g *Guard) Open() bool { return g.moderator == nil && g.key == nil }

type contextKey struct{}

// caller is the token of a request, and the sender that the guard identified by it. It is also the
// context of the request.
type caller struct {
	context.Context // of the request

	token   string        // empty for none
	request *http.Request // says whether it comes from this machine

	once   sync.Once // limits and writing both call Identify, which verifies the signature once
	viewer comment.Viewer
	err    error

	visitorOnce sync.Once // likewise for a visitor's token, which each shown vote needs
	visitor     comment.Viewer
	visitorErr  error
}

// Value implements [context.Context].
func (c *caller) Value(key any) any {
	if key == (contextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithToken puts the bearer token of the Authorization header into the context of a request. It
// identifies the sender before the request takes anything that others wait for: a made-up token may
// cause a fetch of keys, which can take seconds.
func WithToken(a Authorizer) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ") // RFC 6750, section 2.1
			if !strings.EqualFold(scheme, "Bearer") {
				token = ""
			}
			token = strings.TrimSpace(token)
			ctx := &caller{Context: r.Context(), token: token, request: r}
			if token != "" {
				_, _ = a.Identify(ctx) // ctx keeps the result for later calls
			}
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// Identify returns who sent the request that the context belongs to, and an error if it may write
// as no author: Unauthenticated when it does not prove who it is, else Forbidden.
func (g *Guard) Identify(ctx context.Context) (comment.Viewer, error) {
	from, known := ctx.Value(contextKey{}).(*caller)
	if !known {
		return g.identifyCaller(&caller{})
	}
	from.once.Do(func() { from.viewer, from.err = g.identifyCaller(from) })
	return from.viewer, from.err
}

// identifyCaller is Identify for a request whose sender is not identified yet.
func (g *Guard) identifyCaller(from *caller) (comment.Viewer, error) {
	if g.Open() {
		reason := "the origin of this request is unknown"
		if from.request != nil {
			reason = notHere(from.request)
		}
		if reason != "" {
			return refuse(comment.WritingOff, comment.Errorf(comment.Forbidden, "without tokens, only this machine may write, and %s: give the server tokens to accept (--moderator-token, or --jwt-algorithm with a key), or ask http://localhost itself", reason))
		}
		return comment.Viewer{Open: true}, nil
	}
	if from.token == "" {
		return refuse(comment.TokenRequired, comment.Errorf(comment.Unauthenticated, "this needs a token: send the header Authorization: Bearer TOKEN"))
	}
	if g.moderator != nil {
		// Hashes are compared, so that the duration reveals nothing of the token.
		hash := sha256.Sum256([]byte(from.token))
		if subtle.ConstantTimeCompare(hash[:], g.moderator[:]) == 1 {
			return comment.Viewer{Roles: comment.Moderator | comment.Merchant | comment.Shop}, nil
		}
	}
	viewer, ok := g.readSigned(from.token)
	if !ok {
		return refuse(comment.TokenRefused, comment.Errorf(comment.Unauthenticated, "the token is not valid, or no longer: get a new one"))
	}
	return viewer, nil
}

// readSigned returns the sender that a signed token names. It does not return why a token is
// invalid, since the library's errors can hold parts of the token.
func (g *Guard) readSigned(token string) (viewer comment.Viewer, ok bool) {
	if g.key == nil || !isExact(token) {
		return comment.Viewer{}, false
	}
	var known *keySet
	if g.remote != nil {
		known = g.remote.known.Load()
	}
	claims, err := g.verify(token)
	unverified := errors.Is(err, jwt.ErrTokenUnverifiable) || errors.Is(err, jwt.ErrTokenSignatureInvalid)
	if unverified && g.remote != nil && g.remote.renewed(known) {
		claims, err = g.verify(token) // with the keys that are at the address by now
	}
	if err != nil {
		return comment.Viewer{}, false
	}
	subject, err := claims.GetSubject()
	if err != nil || !comment.IsCustomerID(subject) {
		return comment.Viewer{}, false
	}
	viewer.CustomerID = &subject
	if g.rolesClaim == "" {
		return viewer, true
	}
	viewer.Roles, ok = readRoles(claims, g.rolesClaim)
	return viewer, ok
}

// verify returns the claims of a token that a known key verifies.
func (g *Guard) verify(token string) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{} // by exact names; the library's structs take them in any case
	_, err := g.parser.ParseWithClaims(token, claims, g.key)
	return claims, err
}

// Closed lets no client write.
type Closed struct{}

// Identify returns a sender that may not write, and a Forbidden error.
func (Closed) Identify(context.Context) (comment.Viewer, error) {
	return refuse(comment.WritingOff, comment.Errorf(comment.Forbidden, "writing is off: this server was given no tokens to accept, and is open to more than its own machine"))
}

// refuse returns a sender that may not write anything, and the error that mutations return to it.
func refuse(reason comment.CannotWriteReason, err error) (comment.Viewer, error) {
	return comment.Viewer{CannotWriteReason: &reason}, err
}
