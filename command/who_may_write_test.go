package command_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

const (
	sharedSecret   = "hush-hush-hush-hush-hush-hush-hush-hush"
	moderatorToken = "moderator-moderator-moderator-moderator"
)

// tokenOf returns a signed token of an author that expires after the given time.
func tokenOf(t testing.TB, author string, ends time.Duration) string {
	t.Helper()
	return signed(t, jwt.MapClaims{"sub": author, "exp": time.Now().Add(ends).Unix()})
}

// signed returns a signed token with claims.
func signed(t testing.TB, claims jwt.MapClaims) string {
	t.Helper()
	return must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(sharedSecret)))(t)
}

// guarded is the service with tokens configured.
func guarded(t *testing.T) *api {
	t.Helper()
	guard := must.Get(auth.New(t.Context(), auth.Settings{ModeratorToken: moderatorToken, Algorithm: "HS256", Key: sharedSecret}))(t)
	a := newAPI(t, dynamotest.Dynoxide(t))
	a.authorizer = guard
	a.useClient(a.session.Client)
	return a
}

// A comment that came with a file belongs to no subject, whatever the file calls its author. A
// moderator may edit it, and that does not make its author a customer.
func TestWhoMayWriteImportedComments(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	c := commenttest.Random(commenttest.Rand(t), "teapot")
	c.Author, c.Version, c.UpdatedAt = comment.Author{ID: "anonymous", Name: "Anonymous", Imported: true}, 1, nil
	a.load(c)
	const query = `mutation ($input: EditCommentInput!) { editComment(input: $input) { comment { author { id customerId } } userErrors { code } } }`
	for version, row := range []struct{ token, want string }{
		{tokenOf(t, "anonymous", time.Hour), `{"editComment":null} FORBIDDEN`},
		{moderatorToken, `{"editComment":{"comment":{"author":{"id":"author:imported:anonymous","customerId":null}},"userErrors":[]}}`},
		{tokenOf(t, "anonymous", time.Hour), `{"editComment":null} FORBIDDEN`},
	} {
		a.header = bearer(row.token)
		if got := a.said(query, map[string]any{"input": map[string]any{"id": c.ID, "version": max(version, 1), "text": "Edited."}}); got != row.want {
			t.Errorf("attempt %d: %s, want %s", version, got, row.want)
		}
	}
}

func checkSecrets(t *testing.T, said, header string) {
	t.Helper()
	token := header[strings.LastIndexByte(header, ' ')+1:]
	for _, hidden := range []string{token, sharedSecret, moderatorToken} {
		if hidden != "" && strings.Contains(said, hidden) {
			t.Errorf("%q is told in %s", hidden, said)
		}
	}
}

// When the table is in trouble too, the log has the reason and not the token.
func TestNoTokenInTheLogOfTrouble(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	client, _ := faulttest.Under(a.session.Client, faulttest.From(1, faulttest.ServerError))
	a.useClient(client)
	for _, header := range []string{bearer(moderatorToken), bearer(tokenOf(t, "u1", time.Hour))} {
		a.header = header
		got := a.ask(`mutation ($input: AddCommentInput!) { addComment(input: $input) { userErrors { code } } }`, map[string]any{"input": draft()})
		if len(got.Errors) != 1 || got.Errors[0].Extensions["code"] != "UNAVAILABLE" || a.log.Len() == 0 {
			t.Errorf("%+v\n%s", got.Errors, a.log)
		}
		checkSecrets(t, fmt.Sprint(got.Errors)+a.log.String(), header)
	}
}

// Any variable that is empty, or only spaces, keeps the server from starting. Usually the intended
// value was not found, and empty would mean off.
func TestBlankVariablesAreRefused(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // a command that is not refused fails for lack of an engine
	t.Chdir(t.TempDir())
	_, help, _ := talkback(t.Context(), "serve", "--help")
	names := regexp.MustCompile(`TALKBACK_[A-Z0-9_]+`).FindAllString(help, -1)
	for _, wanted := range []string{"TALKBACK_MODERATOR_TOKEN", "TALKBACK_JWT_KEY", "TALKBACK_JWKS_URL", "TALKBACK_JWT_AUDIENCE", "TALKBACK_TLS_KEY", "TALKBACK_CORS_ORIGIN", "TALKBACK_DATA"} {
		if !slices.Contains(names, wanted) {
			t.Errorf("the help does not name %s, and so it is not tried", wanted)
		}
	}
	for _, name := range names {
		for _, blank := range []string{"", " \t"} {
			t.Setenv(name, blank)
			if status, _, stderr := talkback(t.Context()); status != 2 || !strings.Contains(stderr, name) {
				t.Errorf("%s=%q: status %d: %s", name, blank, status, stderr)
			}
		}
		must.Do(t, os.Unsetenv(name))
	}
	t.Setenv("TALKBACK_JWT_AUDIENCE", "")
	for why, arguments := range map[string][]string{"the flag wins": {"--jwt-audience", "shop"}, "another command's": {"verify"}} {
		if status, _, stderr := talkback(t.Context(), arguments...); strings.Contains(stderr, "set but empty") {
			t.Errorf("%s: status %d: %s", why, status, stderr)
		}
	}
}

// Each flag that takes a value is refused without one. That includes paths, where an empty one
// could mean the current folder.
func TestBlankFlagsAreRefused(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Chdir(t.TempDir())
	for _, command := range [][]string{{"serve"}, {"import", "/dev/null"}} {
		_, help, _ := talkback(t.Context(), command[0], "--help")
		flags := regexp.MustCompile(`(--[a-z0-9-]+)=`).FindAllStringSubmatch(help, -1)
		if len(flags) < 8 {
			t.Fatalf("the help of %s names %d flags", command[0], len(flags))
		}
		for _, flag := range flags {
			for _, blank := range []string{"", " "} {
				status, _, stderr := talkback(t.Context(), append(command, flag[1]+"="+blank)...)
				if status != 2 || !strings.Contains(stderr, flag[1]) {
					t.Errorf("%s %s=%q: status %d: %s", command[0], flag[1], blank, status, stderr)
				}
			}
		}
	}
}

// A server logs at its start who may write, and acts accordingly.
func TestWritingIsAnnounced(t *testing.T) {
	adding := operation(`mutation { addComment(input: {productId: "x", rating: 1, language: "en", text: "", author: {id: "a", name: "A"}}) { userErrors { code } } }`, nil)
	for _, row := range []struct {
		why, listen string
		environment map[string]string
		says, code  string
	}{
		{"no tokens, this machine alone", "127.0.0.1:0", nil, "writing   is open to everyone on this machine, since", ""},
		{"no tokens, and pages of two origins", "127.0.0.1:0", map[string]string{"TALKBACK_CORS_ORIGIN": "https://shop.example,http://localhost:*"}, "writing   is open to everyone on this machine and to pages of https://shop.example, http://localhost:*, since", ""},
		{"no tokens, open to more, read by every page", "0.0.0.0:0", map[string]string{"TALKBACK_CORS_ORIGIN": "*"}, "writing   is off", "FORBIDDEN"},
		{"a moderators' token, and every page", "127.0.0.1:0", map[string]string{"TALKBACK_MODERATOR_TOKEN": moderatorToken, "TALKBACK_CORS_ORIGIN": "*"}, "writing   needs a token", "UNAUTHENTICATED"},
		{"no tokens, open to more", "0.0.0.0:0", nil, "writing   is off", "FORBIDDEN"},
		{"a moderators' token", "0.0.0.0:0", map[string]string{"TALKBACK_MODERATOR_TOKEN": moderatorToken}, "writing   needs a token", "UNAUTHENTICATED"},
		{"visitors", "0.0.0.0:0", map[string]string{"TALKBACK_MODERATOR_TOKEN": moderatorToken, "TALKBACK_VISITOR_VOTES": "true", "TALKBACK_VISITOR_SECRET": sharedSecret}, "writing   needs a token; visitors may vote", "UNAUTHENTICATED"},
		{"visitors through a proxy on this machine", "127.0.0.1:0", map[string]string{"TALKBACK_MODERATOR_TOKEN": moderatorToken, "TALKBACK_VISITOR_VOTES": "true", "TALKBACK_VISITOR_SECRET": sharedSecret}, "limits    any number of read units and 60 writes a minute for each client", "UNAUTHENTICATED"},
		{"no limits", "0.0.0.0:0", map[string]string{"TALKBACK_MODERATOR_TOKEN": moderatorToken, "TALKBACK_CLIENT_READ_UNITS": "0", "TALKBACK_CLIENT_WRITES": "0"}, "limits    any number of read units and any number of writes for each client", "UNAUTHENTICATED"},
		{"no limits, and a Redis for them", "127.0.0.1:0", map[string]string{"TALKBACK_MODERATOR_TOKEN": moderatorToken, "TALKBACK_CLIENT_LIMITS_REDIS": "redis://127.0.0.1:1/0"}, "limits    any number of read units and any number of writes for each client", "UNAUTHENTICATED"},
		{"programs read the log", "0.0.0.0:0", map[string]string{"TALKBACK_LOG_FORMAT": "json", "TALKBACK_CLIENT_LIMITS_REDIS": "redis://127.0.0.1:1/0", "TALKBACK_CLIENT_READ_UNITS": "0", "TALKBACK_CLIENT_WRITES": "0"}, `"msg":"what clients may do","writing":"is off, since no tokens are configured and the server listens to more than this machine: set TALKBACK_MODERATOR_TOKEN to what openssl rand -hex 32 prints, or give --jwt-algorithm and a key","limits":"any number of read units and any number of writes for each client"`, "FORBIDDEN"},
		{"signed tokens", "127.0.0.1:0", map[string]string{"TALKBACK_JWT_ALGORITHM": "HS256", "TALKBACK_JWT_KEY": sharedSecret}, "writing   needs a token", "UNAUTHENTICATED"},
	} {
		t.Run(row.why, func(t *testing.T) {
			for name, value := range row.environment {
				t.Setenv(name, value)
			}
			s := serving(t, append(onTable(t), "--listen", row.listen)...)
			if !strings.Contains(s.said.String(), row.says) {
				t.Errorf("it does not say %q:\n%s", row.says, s.said)
			}
			if got := post(t, strings.Replace(s.address, "[::]", "127.0.0.1", 1), adding); !strings.Contains(got.body, row.code) || row.code == "" && strings.Contains(got.body, "errors\":[") {
				t.Errorf("writing answers %s, want %s", got.body, row.code)
			}
			s.stop()
			checkSecrets(t, s.said.String(), "")
		})
	}
}

// Help and errors of the command line do not reveal values of the environment.
func TestHelpTellsNoSecrets(t *testing.T) {
	t.Setenv("TALKBACK_MODERATOR_TOKEN", moderatorToken)
	t.Setenv("TALKBACK_JWT_KEY", sharedSecret)
	t.Setenv("TALKBACK_VISITOR_SECRET", sharedSecret)
	for _, arguments := range [][]string{{"--help"}, {"serve", "--help"}, {"--colour"}, {"import"}} {
		_, stdout, stderr := talkback(t.Context(), arguments...)
		checkSecrets(t, stdout+stderr, "")
	}
}
