package auth

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/comment"
)

// Vote sets the customer's vote about a comment; NoVote takes it back. To vote the same again
// changes nothing. The returned comment has the stored counts with this change. They may not have
// the previous vote yet, but always have this one.
func (s *Service) Vote(ctx context.Context, id string, vote comment.Vote) (comment.Comment, []comment.Problem, error) {
	viewer, err := s.Authorizer.Identify(ctx)
	switch {
	case viewer.VoterID() != "": // a visitor may do nothing else, which the error says
	case viewer.VisitorsVote:
		return comment.Comment{}, nil, comment.Errorf(comment.Unauthenticated, "voting needs a token: send a customer's, or a visitor's that createVisitorToken makes")
	case err != nil:
		return comment.Comment{}, nil, err
	default:
		return comment.Comment{}, nil, comment.Errorf(comment.Forbidden, "only customers vote: send a signed token")
	}
	return outcome(again(func() (comment.Comment, error) { return s.vote(ctx, viewer, id, vote) }))
}

// vote tries to vote once. A Conflict error means that the customer's vote was changed since it was
// read.
func (s *Service) vote(ctx context.Context, viewer comment.Viewer, id string, vote comment.Vote) (comment.Comment, error) {
	c, err := s.shown(ctx, viewer, id)
	switch {
	case err != nil:
		return c, err
	case c.Author.ID == viewer.VoterID() && !c.Author.Imported:
		return c, faults{{Code: comment.ProblemOwnComment, Path: []string{"id"}, Message: "it is your own comment: others say whether it is helpful"}}
	}
	key := comment.VoteKey{Customer: viewer.VoterID(), Comment: c.ID}
	found, failed, err := s.Store.VotesBy(ctx, []comment.VoteKey{key})
	if err = errors.Join(err, failed[key]); err != nil {
		return c, err
	}
	before, voted := found[key]
	var certain comment.VoteCounts // the stored counts may lack the previous vote, even if this one repeats it
	certain.Add(vote, 1)
	if before.Vote == vote || !voted && vote == comment.NoVote {
		c.Votes = c.Votes.AtLeast(certain)
		return c, nil
	}
	after := comment.CastVote{By: key.Customer, Vote: vote, At: millisecond()}
	if voted && !after.At.After(before.At) {
		after.At = before.At.Add(1e6) // the time tells votes apart
	}
	c.Votes.Add(before.Vote, -1)
	c.Votes.Add(vote, 1)
	c.Votes = c.Votes.AtLeast(certain)
	return c, s.Store.SetVote(ctx, c.ID, before, after)
}

const (
	// visitorLife is how long a visitor's token is valid.
	visitorLife = 90 * 24 * time.Hour
	// visitorType is the type of visitors' tokens. Guard accepts none of this type, so they never
	// authenticate a customer, whatever their key.
	visitorType = "visitor+jwt"
	// maxVisitorToken bounds visitors' tokens in bytes. VisitorToken makes them with some 200. Longer
	// ones are not parsed.
	maxVisitorToken = 512
	// visitorPrefix and 16 random bytes are the ID of a visitor, which no customer has by chance.
	visitorPrefix = "visitor:"
)

// Visitors lets visitors without an account vote, with tokens that it makes. The Authorizer decides
// what else a sender may do.
type Visitors struct {
	Authorizer
	secret []byte
	parser *jwt.Parser
	now    func() time.Time
}

// NewVisitors returns Visitors whose tokens a secret of at least 32 bytes signs. A nil clock is the
// machine's. An error is one sentence that says what to do, without the secret.
func NewVisitors(who Authorizer, secret string, clock func() time.Time) (*Visitors, error) {
	if len(secret) < minSecret {
		return nil, tooShort("the secret in --visitor-secret")
	}
	if clock == nil {
		clock = time.Now
	}
	parser := Settings{Algorithm: "HS256", Now: clock}.parser()
	return &Visitors{Authorizer: who, secret: []byte(secret), parser: parser, now: clock}, nil
}

// Identify implements [Authorizer]. A visitor may write as no author, so it returns the
// Authorizer's error beside the visitor's ID.
func (v *Visitors) Identify(ctx context.Context) (comment.Viewer, error) {
	from, known := ctx.Value(contextKey{}).(*caller)
	if !known {
		return v.identifyCaller(ctx, "")
	}
	from.visitorOnce.Do(func() { from.visitor, from.visitorErr = v.identifyCaller(ctx, from.token) })
	return from.visitor, from.visitorErr
}

// identifyCaller is Identify for a request whose token is not read yet. It does not offer a
// visitor's token to a sender of another kind of token, which would go on to send that.
func (v *Visitors) identifyCaller(ctx context.Context, token string) (comment.Viewer, error) {
	viewer, err := v.Authorizer.Identify(ctx)
	if viewer.CustomerID != nil || viewer.Roles != 0 {
		return viewer, err
	}
	id, ofVisitor := v.read(token)
	if token != "" && !ofVisitor {
		return viewer, err
	}
	if viewer.CannotWriteReason != nil && *viewer.CannotWriteReason == comment.TokenRefused {
		viewer, err = refuse(comment.TokenRequired, comment.Errorf(comment.Unauthenticated, "a visitor's token is only for voting: for all else, send a customer's"))
	}
	viewer.VisitorID, viewer.VisitorsVote = id, true
	return viewer, err
}

// read returns the visitor that a token names, empty if the token is not valid, and whether it is a
// visitor's token.
func (v *Visitors) read(token string) (id string, ofVisitor bool) {
	if len(token) > maxVisitorToken {
		return "", false
	}
	claims := jwt.RegisteredClaims{}
	parsed, err := v.parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return v.secret, nil })
	ofVisitor = parsed != nil && parsed.Header["typ"] == visitorType
	if err != nil || !ofVisitor || !strings.HasPrefix(claims.Subject, visitorPrefix) {
		return "", ofVisitor
	}
	return claims.Subject, true
}

// VisitorToken returns a token for a new visitor, or a Forbidden error if visitors do not vote.
func (s *Service) VisitorToken(context.Context) (comment.VisitorToken, error) {
	visitors, on := s.Authorizer.(*Visitors)
	if !on {
		return comment.VisitorToken{}, comment.Errorf(comment.Forbidden, "visitors do not vote on this server: send a customer's token, or start it with --visitor-votes")
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails: see its documentation
	expires := visitors.now().UTC().Truncate(time.Second).Add(visitorLife)
	made := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Subject: visitorPrefix + hex.EncodeToString(id[:]), ExpiresAt: jwt.NewNumericDate(expires),
	})
	made.Header["typ"] = visitorType
	token, err := made.SignedString(visitors.secret)
	if err != nil {
		return comment.VisitorToken{}, errors.New("a visitor's token cannot be signed") // without the library's reason
	}
	return comment.VisitorToken{Token: token, ExpiresAt: expires}, nil
}
