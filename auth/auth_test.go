package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// signer makes tokens of an algorithm.
type signer struct {
	method jwt.SigningMethod
	key    any    // signs
	public any    // verifies
	text   string // of the verifying key, as a setting
}

const (
	secret    = "a shared secret of at least 32 bytes"
	moderator = "0123456789abcdef0123456789abcdef-moderator"
)

// signers returns three sets of signers, one for each algorithm. Their keys are made once: RSA
// takes its time.
var signers = sync.OnceValue(func() (sets [3]map[string]signer) {
	for i := range sets {
		edKey := ed25519.NewKeyFromSeed([]byte(rand.Text() + rand.Text())[:ed25519.SeedSize])
		sets[i] = map[string]signer{
			"HS256": {jwt.SigningMethodHS256, []byte(secret), []byte(secret), secret},
			"RS256": rsaSigner(2048),
			"ES256": ecSigner(jwt.SigningMethodES256, elliptic.P256()),
			"EdDSA": {jwt.SigningMethodEdDSA, edKey, edKey.Public(), inPEM(edKey.Public())},
		}
	}
	return sets
})

func rsaSigner(bits int) signer {
	key := made(rsa.GenerateKey(rand.Reader, bits))
	return signer{jwt.SigningMethodRS256, key, key.Public(), inPEM(key.Public())}
}

func ecSigner(method jwt.SigningMethod, curve elliptic.Curve) signer {
	key := made(ecdsa.GenerateKey(curve, rand.Reader))
	return signer{method, key, key.Public(), inPEM(key.Public())}
}

// made returns a key, or panics if it could not be made.
func made[T any](key T, err error) T {
	if err != nil {
		panic(err)
	}
	return key
}

func inPEM(key crypto.PublicKey) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: made(x509.MarshalPKIXPublicKey(key))}))
}

// now is the time of these tests.
var now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(offset time.Duration) int64 { return now.Add(offset).Unix() }

// claims are those of Ada's token, with changes; a nil value removes a claim.
func claims(changes jwt.MapClaims) jwt.MapClaims {
	out := jwt.MapClaims{"sub": "ada", "iss": "shop", "aud": "talkback", "iat": at(-time.Minute), "nbf": at(-time.Minute), "exp": at(time.Hour)}
	maps.Copy(out, changes)
	maps.DeleteFunc(out, func(_ string, value any) bool { return value == nil })
	return out
}

func (s signer) token(t testing.TB, c jwt.MapClaims, kid string) string {
	t.Helper()
	token := jwt.NewWithClaims(s.method, c)
	if kid != "" {
		token.Header["kid"] = kid
	}
	return must.Get(token.SignedString(s.key))(t)
}

// mayWrite asks a guard, with a request's header, whether its sender may change Ada's comments. The
// answer must not contain the token.
func mayWrite(t testing.TB, g *auth.Guard, header string) comment.Kind {
	t.Helper()
	request := fromHere()
	if header != "" {
		request.Header.Set("Authorization", header)
	}
	return mayWriteBy(t, g, request)
}

// mayWriteBy is mayWrite for a request.
func mayWriteBy(t testing.TB, g *auth.Guard, request *http.Request) comment.Kind {
	t.Helper()
	return mayWriteAs(t, g, request, comment.Author{ID: "ada"})
}

// mayWriteAs is mayWriteBy for comments of another author.
func mayWriteAs(t testing.TB, g *auth.Guard, request *http.Request, author comment.Author) comment.Kind {
	t.Helper()
	viewer, err := identifyBy(g, request)
	if err == nil {
		err = viewer.CheckChange(author)
	}
	checkViewer(t, viewer, author, err)
	if err == nil {
		return allowed
	}
	if _, token, ok := strings.Cut(request.Header.Get("Authorization"), " "); ok && token != "" && strings.Contains(err.Error(), token) {
		t.Errorf("the error tells the token: %v", err)
	}
	return comment.KindOf(err)
}

// identify returns the viewer that a guard finds in a token.
func identify(t testing.TB, g *auth.Guard, token string) comment.Viewer {
	t.Helper()
	request := fromHere()
	request.Header.Set("Authorization", "Bearer "+token)
	viewer, err := identifyBy(g, request)
	if (err == nil) != viewer.MayWrite() {
		t.Errorf("%+v, %v", viewer, err)
	}
	return viewer
}

func identifyBy(g *auth.Guard, request *http.Request) (viewer comment.Viewer, err error) {
	auth.WithToken(g)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		viewer, err = g.Identify(r.Context())
	})).ServeHTTP(httptest.NewRecorder(), request)
	return viewer, err
}

// checkViewer checks that a guard's viewer fits its decision about a write as an author.
func checkViewer(t testing.TB, viewer comment.Viewer, author comment.Author, err error) {
	t.Helper()
	var want comment.Kind
	switch reason := viewer.CannotWriteReason; {
	case reason != nil && *reason == comment.WritingOff:
		want = comment.Forbidden
	case reason != nil:
		want = comment.Unauthenticated
	case viewer.MayModerate(), viewer.MayWriteAsAnyCustomer() && !author.Imported:
		want = allowed
	case viewer.CustomerID == nil || *viewer.CustomerID != author.ID || author.Imported:
		want = comment.Forbidden
	default:
		want = allowed
	}
	if (err == nil) != (want == allowed) || err != nil && comment.KindOf(err) != want {
		t.Errorf("the sender is %+v, and a write as %+v is answered by %v", viewer, author, err)
	}
}

// allowed means no error.
const allowed comment.Kind = -1

func guard(t testing.TB, s auth.Settings) *auth.Guard {
	t.Helper()
	if s.Now == nil {
		s.Now = func() time.Time { return now }
	}
	return must.Get(auth.New(t.Context(), s))(t)
}

// While an issuer changes its key, the setting has both, and tokens of either are valid.
func TestTwoKeys(t *testing.T) {
	sets := signers()
	before, after, others := sets[0], sets[1], sets[2]
	for _, name := range []string{"RS256", "ES256", "EdDSA"} {
		g := guard(t, auth.Settings{Algorithm: name, Key: "the next one\n" + after[name].text + "\n" + before[name].text + "\n"})
		for _, row := range []struct {
			why  string
			by   signer
			want comment.Kind
		}{{"the old key", before[name], allowed}, {"the new key", after[name], allowed}, {"another key", others[name], comment.Unauthenticated}} {
			if got := mayWrite(t, g, "Bearer "+row.by.token(t, claims(nil), "")); got != row.want {
				t.Errorf("%s, signed by %s: %d, want %d", name, row.why, got, row.want)
			}
		}
	}
}

// The rights of each kind of token, with each algorithm.
func TestSignedTokens(t *testing.T) {
	all, others := signers()[0], signers()[1]
	for name, s := range all {
		g := guard(t, auth.Settings{Algorithm: name, Key: s.text, Issuer: "shop", Audience: "talkback"})
		bearer := func(changes jwt.MapClaims) string { return "Bearer " + s.token(t, claims(changes), "") }
		right := bearer(nil)
		cut := right[:len(right)-4]
		for _, row := range []struct {
			why, header string
			want        comment.Kind
		}{
			{"the right one", right, allowed},
			{"the scheme in any case", "bEARER" + strings.TrimPrefix(right, "Bearer"), allowed},
			{"for several audiences", bearer(jwt.MapClaims{"aud": []string{"other", "talkback"}}), allowed},
			{"without nbf and iat", bearer(jwt.MapClaims{"nbf": nil, "iat": nil}), allowed},
			{"made by a clock a little ahead", bearer(jwt.MapClaims{"nbf": at(5 * time.Second)}), allowed},
			{"another author's", bearer(jwt.MapClaims{"sub": "bob"}), comment.Forbidden},
			{"an author whose id starts alike", bearer(jwt.MapClaims{"sub": "ada2"}), comment.Forbidden},
			{"none", "", comment.Unauthenticated},
			{"an empty one", "Bearer ", comment.Unauthenticated},
			{"expired", bearer(jwt.MapClaims{"exp": at(-time.Minute)}), comment.Unauthenticated},
			{"without an end", bearer(jwt.MapClaims{"exp": nil}), comment.Unauthenticated},
			{"not valid yet", bearer(jwt.MapClaims{"nbf": at(time.Minute)}), comment.Unauthenticated},
			{"without a subject", bearer(jwt.MapClaims{"sub": nil}), comment.Unauthenticated},
			{"of an empty subject", bearer(jwt.MapClaims{"sub": ""}), comment.Unauthenticated},
			{"of a number", bearer(jwt.MapClaims{"sub": 7}), comment.Unauthenticated},
			{"of another issuer", bearer(jwt.MapClaims{"iss": "elsewhere"}), comment.Unauthenticated},
			{"of no issuer", bearer(jwt.MapClaims{"iss": nil}), comment.Unauthenticated},
			{"for another audience", bearer(jwt.MapClaims{"aud": "elsewhere"}), comment.Unauthenticated},
			{"for no audience", bearer(jwt.MapClaims{"aud": nil}), comment.Unauthenticated},
			{"cut off", cut, comment.Unauthenticated},
			{"in another scheme", "Basic" + strings.TrimPrefix(right, "Bearer"), comment.Unauthenticated},
			{"without a scheme", strings.TrimPrefix(right, "Bearer "), comment.Unauthenticated},
			{"not a token", "Bearer abc", comment.Unauthenticated},
			{"a moderator's, where there are none", "Bearer " + moderator, comment.Unauthenticated},
		} {
			if got := mayWrite(t, g, row.header); got != row.want {
				t.Errorf("%s, %s: %d, want %d", name, row.why, got, row.want)
			}
		}
		if name != "HS256" {
			forged := "Bearer " + others[name].token(t, claims(nil), "")
			if got := mayWrite(t, g, forged); got != comment.Unauthenticated {
				t.Errorf("%s, signed by another key: %d", name, got)
			}
		}
	}
}

// Moderators need a token to read too, so what is said to those who have none does not speak of
// writing.
func TestWithoutAToken(t *testing.T) {
	g := guard(t, auth.Settings{ModeratorToken: strings.Repeat("m", 64)})
	_, err := identifyBy(g, httptest.NewRequest(http.MethodPost, "/graphql", nil))
	if err == nil || strings.Contains(err.Error(), "writing") {
		t.Errorf("the error is %v", err)
	}
}

// A token of another algorithm than the configured one is refused, whatever key signed it. Above
// all, that holds for HS256 signed with the public key, which is no secret, and for "none".
func TestAlgorithmConfusion(t *testing.T) {
	all := signers()[0]
	for name, s := range all {
		g := guard(t, auth.Settings{Algorithm: name, Key: s.text})
		forged := map[string]signer{
			"none":                      {method: jwt.SigningMethodNone, key: jwt.UnsafeAllowNoneSignatureType},
			"the key's text as secret":  {method: jwt.SigningMethodHS384, key: []byte(s.text)},
			"the same key, other hash":  {method: jwt.SigningMethodRS512, key: all["RS256"].key},
			"the same key, other style": {method: jwt.SigningMethodPS256, key: all["RS256"].key},
		}
		for other, s := range all {
			if other != name {
				forged[other] = s
			}
		}
		if name != "HS256" {
			forged["the public key as secret"] = signer{method: jwt.SigningMethodHS256, key: []byte(s.text)}
			der := must.Get(x509.MarshalPKIXPublicKey(s.public))(t)
			forged["the public key's bytes as secret"] = signer{method: jwt.SigningMethodHS256, key: der}
		}
		for why, f := range forged {
			if got := mayWrite(t, g, "Bearer "+f.token(t, claims(nil), "")); got != comment.Unauthenticated {
				t.Errorf("%s accepts %s: %d", name, why, got)
			}
		}
	}
}

func TestModerators(t *testing.T) {
	s := signers()[0]["EdDSA"]
	for name, g := range map[string]*auth.Guard{
		"alone":                guard(t, auth.Settings{ModeratorToken: moderator}),
		"beside signed tokens": guard(t, auth.Settings{ModeratorToken: moderator, Algorithm: "EdDSA", Key: s.text}),
	} {
		for header, want := range map[string]comment.Kind{
			"Bearer " + moderator:                    allowed,
			"bearer  " + moderator:                   allowed,
			"Bearer " + moderator[:len(moderator)-1]: comment.Unauthenticated,
			"Bearer " + moderator + "x":              comment.Unauthenticated,
			"Bearer " + strings.ToUpper(moderator):   comment.Unauthenticated,
			"Bearer ":                                comment.Unauthenticated,
			"":                                       comment.Unauthenticated,
			"Basic " + moderator:                     comment.Unauthenticated,
			moderator:                                comment.Unauthenticated,
		} {
			if got := mayWrite(t, g, header); got != want {
				t.Errorf("%s, %q: %d, want %d", name, header, got, want)
			}
		}
	}
	both := guard(t, auth.Settings{ModeratorToken: moderator, Algorithm: "EdDSA", Key: s.text})
	if got := mayWrite(t, both, "Bearer "+s.token(t, claims(nil), "")); got != allowed {
		t.Errorf("an author beside moderators: %d", got)
	}
}

// fromHere returns a request that this machine sends to itself.
func fromHere() *http.Request {
	request := httptest.NewRequest(http.MethodPost, "http://localhost:8080/graphql", nil)
	request.RemoteAddr = "127.0.0.1:50000"
	return request
}

// Without tokens, a request writes only from this machine. It must call the machine by a local
// name, and show no sign of a proxy.
func TestOpenToThisMachineAlone(t *testing.T) {
	open := guard(t, auth.Settings{})
	for _, test := range []struct {
		change func(*http.Request)
		want   comment.Kind
		reason string
	}{
		{func(r *http.Request) {}, allowed, "curl"},
		{func(r *http.Request) { r.RemoteAddr = "[::1]:50000" }, allowed, "by IPv6"},
		{func(r *http.Request) { r.RemoteAddr = "[::ffff:127.0.0.1]:50000" }, allowed, "by IPv4 in IPv6"},
		{func(r *http.Request) { r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0 }, allowed, "by HTTP/2"},
		{func(r *http.Request) { r.Header.Set("Origin", "http://localhost:8080") }, allowed, "the explorer"},
		{func(r *http.Request) { r.Header.Set("X-Forwarder", "x") }, allowed, "a header that is none of a proxy's"},
		{func(r *http.Request) { r.RemoteAddr = "192.168.1.7:50000" }, comment.Forbidden, "another machine"},
		{func(r *http.Request) { r.RemoteAddr = "" }, comment.Forbidden, "from nowhere"},
		{func(r *http.Request) { r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0 }, comment.Forbidden, "nginx without settings: it adds no header"},
		{func(r *http.Request) { r.Header.Set("X-Forwarded-For", "") }, comment.Forbidden, "a proxy, even of an empty address"},
		{func(r *http.Request) { r.Header.Set("x-forwarded-HOST", "localhost") }, comment.Forbidden, "a proxy that lies"},
		{func(r *http.Request) { r.Header.Set("X-Forwarded-Anything", "1") }, comment.Forbidden, "a proxy of another kind"},
		{func(r *http.Request) { r.Header.Set("Forwarded", "for=127.0.0.1") }, comment.Forbidden, "a proxy by RFC 7239"},
		{func(r *http.Request) { r.Header.Set("Via", "1.1 cache") }, comment.Forbidden, "a cache"},
		{func(r *http.Request) { r.Header.Set("X-Real-IP", "127.0.0.1") }, comment.Forbidden, "nginx as its users set it up"},
	} {
		request := fromHere()
		test.change(request)
		if got := mayWriteBy(t, open, request); got != test.want {
			t.Errorf("%s: %d, want %d", test.reason, got, test.want)
		}
	}
	for host, want := range map[string]comment.Kind{
		"localhost:8080": allowed, "localhost": allowed, "LOCALHOST": allowed, "localhost.": allowed, "LocalHost.:80": allowed,
		"127.0.0.1:8080": allowed, "127.8.8.8": allowed, "[::1]:8080": allowed, "[::1]": allowed,
		"": comment.Forbidden, "localhost..": comment.Forbidden, "shop.example:8080": comment.Forbidden, "localhost.shop.example": comment.Forbidden,
		"shop.localhost": comment.Forbidden, "192.168.1.2": comment.Forbidden, "0.0.0.0": comment.Forbidden, "127.1": comment.Forbidden,
		"[2001:db8::1]:8080": comment.Forbidden, "127.0.0.1.shop.example": comment.Forbidden, "localhost@shop.example": comment.Forbidden, "localhost,shop.example": comment.Forbidden,
	} {
		request := fromHere()
		request.Host = host
		if got := mayWriteBy(t, open, request); got != want {
			t.Errorf("asked for as %q: %d, want %d", host, got, want)
		}
	}
	if _, err := open.Identify(t.Context()); comment.KindOf(err) != comment.Forbidden || !strings.Contains(err.Error(), "--moderator-token") {
		t.Errorf("outside of a request: %v, want it refused, with the cure", err)
	}
}

func TestNoTokensConfigured(t *testing.T) {
	open := guard(t, auth.Settings{})
	if !open.Open() || mayWrite(t, open, "") != allowed || mayWrite(t, open, "Bearer anything") != allowed {
		t.Error("without tokens configured, everyone may write")
	}
	if guard(t, auth.Settings{ModeratorToken: moderator}).Open() {
		t.Error("with a token configured, not everyone may")
	}
	if _, err := (auth.Closed{}).Identify(t.Context()); comment.KindOf(err) != comment.Forbidden {
		t.Errorf("closed: %v", err)
	}
}

// No subject is an imported author, whatever its id: only moderators change comments that came with
// a file of reviews.
func TestImportedAuthorsAreNoSubjects(t *testing.T) {
	s := signers()[0]["HS256"]
	g := guard(t, auth.Settings{ModeratorToken: moderator, Algorithm: "HS256", Key: s.text})
	for _, id := range []string{"ada", "anonymous", "Ada", "imported:ada", "author:imported:ada"} {
		for _, row := range []struct {
			token    string
			imported bool
			want     comment.Kind
		}{
			{s.token(t, claims(jwt.MapClaims{"sub": id}), ""), false, allowed},
			{s.token(t, claims(jwt.MapClaims{"sub": id}), ""), true, comment.Forbidden},
			{moderator, true, allowed},
			{"no token", true, comment.Unauthenticated},
		} {
			request := fromHere()
			request.Header.Set("Authorization", "Bearer "+row.token)
			if got := mayWriteAs(t, g, request, comment.Author{ID: id, Imported: row.imported}); got != row.want {
				t.Errorf("%q, imported: %v: kind %d, want %d", id, row.imported, got, row.want)
			}
		}
	}
}
