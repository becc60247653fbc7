// Package auth decides who may write, from the bearer token of a request: the moderators' token,
// which may write anything, or a signed token (JWT) whose subject is the customer, who may write
// their own comments. Only moderators may change comments of imported authors. Tokens are never
// logged and stand in no error.
package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/comment"
)

// Guard decides who may write. The zero Guard lets every client write: see Open.
type Guard struct {
	moderator *[sha256.Size]byte // of the token
	parser    *jwt.Parser
	key       jwt.Keyfunc
}

// New returns a guard for settings. An error is one sentence that says what to do. The end of the
// context stops fetching keys in the background.
func New(ctx context.Context, s Settings) (*Guard, error) {
	s = s.withDefaults()
	if err := s.check(); err != nil {
		return nil, err
	}
	g := &Guard{}
	if s.ModeratorToken != "" {
		hash := sha256.Sum256([]byte(s.ModeratorToken))
		g.moderator = &hash
	}
	var err error
	switch {
	case s.JWKS != "":
		err = g.useRemoteKeys(ctx, s)
	case s.Key != "":
		err = g.useKey(s)
	}
	return g, err
}

func (g *Guard) useRemoteKeys(ctx context.Context, s Settings) error {
	keys, err := newRemoteKeys(ctx, s)
	if err != nil {
		return err
	}
	g.parser, g.key = s.parser(), keys.key
	return nil
}

func (g *Guard) useKey(s Settings) error {
	key, err := parseKey(s.Algorithm, []byte(s.Key))
	if err != nil {
		return err
	}
	g.parser, g.key = s.parser(), func(*jwt.Token) (any, error) { return key, nil }
	return nil
}

// Open reports whether every client may write, because no token is configured.
func (g *Guard) Open() bool { return g.moderator == nil && g.key == nil }

type contextKey struct{}

// caller is what a request says about its sender.
type caller struct {
	token   string // empty for none
	notHere string // why the request counts as one from elsewhere, empty for one from this machine
}

// WithToken gives the requests that pass through it the bearer token of their Authorization header.
func WithToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := bearer(r.Header.Get("Authorization"))
		ctx := context.WithValue(r.Context(), contextKey{}, caller{token: token, notHere: notHere(r)})
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// bearer is the token of a header as RFC 6750, section 2.1, has it.
func bearer(header string) (token string, ok bool) {
	scheme, token, found := strings.Cut(header, " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return strings.TrimSpace(token), true
}

// MayWrite returns nil when the request that the context belongs to may write as the author, or
// change the author's comments; an Unauthenticated error when it does not prove who it is, a
// Forbidden one when it may not.
func (g *Guard) MayWrite(ctx context.Context, author comment.Author) error {
	from, known := ctx.Value(contextKey{}).(caller)
	switch {
	case !g.Open():
		return g.checkToken(from.token, author)
	case !known:
		return refuseElsewhere("nothing is known of this request")
	case from.notHere != "":
		return refuseElsewhere(from.notHere)
	}
	return nil
}

// checkToken returns nil when a token lets its bearer write as the author.
func (g *Guard) checkToken(token string, author comment.Author) error {
	if token == "" {
		return comment.Errorf(comment.Unauthenticated, "writing needs a token: send the header Authorization: Bearer TOKEN")
	}
	if g.isModerator(token) {
		return nil
	}
	subject, ok := g.subject(token)
	if !ok {
		return comment.Errorf(comment.Unauthenticated, "the token is not valid, or no longer: get a new one")
	}
	if author.Imported {
		return comment.Errorf(comment.Forbidden, "the author came with a file of reviews and is not known to be a customer: only a moderator may change this comment")
	}
	if subject != author.ID {
		return comment.Errorf(comment.Forbidden, "the token is another author's: write and change your own comments only")
	}
	return nil
}

// isModerator compares hashes, so that its duration reveals nothing of the token.
func (g *Guard) isModerator(token string) bool {
	if g.moderator == nil {
		return false
	}
	hash := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(hash[:], g.moderator[:]) == 1
}

// subject returns whom a signed token speaks for. It does not return why a token is invalid, since
// the library's errors can hold parts of the token.
func (g *Guard) subject(token string) (string, bool) {
	if g.key == nil || !isExact(token) {
		return "", false
	}
	claims := jwt.MapClaims{} // by exact names; the library's structs take them in any case
	parsed, err := g.parser.ParseWithClaims(token, claims, g.key)
	if err != nil || !parsed.Valid {
		return "", false
	}
	subject, err := claims.GetSubject()
	return subject, err == nil && subject != ""
}

// Closed lets no client write.
type Closed struct{}

// MayWrite returns a Forbidden error.
func (Closed) MayWrite(context.Context, comment.Author) error {
	return comment.Errorf(comment.Forbidden, "writing is off: this server was given no tokens to accept, and is open to more than its own machine")
}
