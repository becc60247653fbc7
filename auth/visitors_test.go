package auth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// A visitor's token identifies a visitor until it expires, on servers with its secret. No other
// token does. It never identifies a customer, even if customers' tokens have the same key.
func TestVisitors(t *testing.T) {
	time0 := now
	asked := 0 // number of calls for the time: each token that is read makes one
	clock := func() time.Time { asked++; return time0 }
	guard := must.Get(auth.New(t.Context(), auth.Settings{ModeratorToken: moderator, Algorithm: "HS256", Key: secret, Now: clock}))(t)
	visitors := func(who auth.Authorizer, key string) *auth.Visitors {
		return must.Get(auth.NewVisitors(who, key, clock))(t)
	}
	ours, others, closed := visitors(guard, secret), visitors(guard, secret+"!"), visitors(auth.Closed{}, secret)
	made := must.Get((&auth.Service{Authorizer: ours}).VisitorToken(t.Context()))(t)
	again, err := (&auth.Service{Authorizer: ours}).VisitorToken(t.Context())
	if err != nil || again.Token == made.Token {
		t.Fatalf("another visitor's token: %v", err)
	}
	customers := must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, claims(nil)).SignedString([]byte(secret)))(t)
	forged := must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, claims(jwt.MapClaims{"sub": "visitor:0"})).SignedString([]byte(secret)))(t)
	endless := jwt.NewWithClaims(jwt.SigningMethodHS256, claims(jwt.MapClaims{"sub": "visitor:" + strings.Repeat("0", 512)}))
	endless.Header["typ"] = "visitor+jwt"
	long := must.Get(endless.SignedString([]byte(secret)))(t)
	unsigned := made.Token[:strings.LastIndex(made.Token, ".")+1]
	for _, row := range []struct {
		why     string
		who     auth.Authorizer
		token   string
		at      time.Time
		voter   string // the prefix of the ID
		refusal comment.CannotWriteReason
	}{
		{"a visitor", ours, made.Token, now, "visitor:", comment.TokenRequired},
		{"a visitor, before the end", ours, made.Token, made.ExpiresAt.Add(-time.Second), "visitor:", comment.TokenRequired},
		{"a visitor, after the end", ours, made.Token, made.ExpiresAt.Add(time.Minute), "", comment.TokenRequired},
		{"a visitor of another secret", others, made.Token, now, "", comment.TokenRequired},
		{"a visitor where visitors do not vote", guard, made.Token, now, "", comment.TokenRefused},
		{"a visitor where writing is off", closed, made.Token, now, "visitor:", comment.WritingOff},
		{"without a signature", ours, unsigned, now, "", comment.TokenRequired},
		{"longer than any that is made", ours, long, now, "", comment.TokenRefused},
		{"no token", ours, "", now, "", comment.TokenRequired},
		{"no token at all", ours, "abc", now, "", comment.TokenRefused},
		{"a customer", ours, customers, now, "ada", ""},
		{"a customer who is called like a visitor", others, forged, now, "visitor:0", ""},
		{"a customer, to visitors alone", closed, forged, now, "", comment.WritingOff},
		{"the moderators' token", ours, moderator, now, "", ""},
	} {
		time0 = row.at
		request := httptest.NewRequest("POST", "/graphql", nil)
		request.Header.Set("Authorization", "Bearer "+row.token)
		auth.WithToken(row.who)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			viewer, err := row.who.Identify(r.Context())
			var refusal comment.CannotWriteReason
			if viewer.CannotWriteReason != nil {
				refusal = *viewer.CannotWriteReason
			}
			if got := viewer.VoterID(); !strings.HasPrefix(got, row.voter) || (got == "") != (row.voter == "") || refusal != row.refusal || (err == nil) != (refusal == "") {
				t.Errorf("%s: votes as %q, writes: %q %v; want %q and %q", row.why, got, refusal, err, row.voter, row.refusal)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || row.token != "" && strings.Contains(err.Error(), row.token)) {
				t.Errorf("%s: the error tells a secret", row.why)
			}
			if offered, want := viewer.VisitorsVote, row.who != guard && (refusal == comment.TokenRequired || refusal == comment.WritingOff && row.voter != ""); offered != want {
				t.Errorf("%s: offers a visitor's token: %v", row.why, offered)
			}
			before := asked
			if again, err := row.who.Identify(r.Context()); asked != before || again.VoterID() != viewer.VoterID() || (err == nil) != (refusal == "") {
				t.Errorf("%s: the token is read once more, as of %q, %v", row.why, again.VoterID(), err)
			}
		})).ServeHTTP(httptest.NewRecorder(), request)
	}
	if _, err := auth.NewVisitors(guard, "short", nil); err == nil || strings.Contains(err.Error(), `"short"`) {
		t.Errorf("a short secret: %v", err)
	}
	if _, err := (&auth.Service{Authorizer: guard}).VisitorToken(t.Context()); comment.KindOf(err) != comment.Forbidden {
		t.Errorf("a token where visitors do not vote: %v", err)
	}
}
