package command_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
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
	"github.com/talkback/talkback/internal/commenttest/check"
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

// Only those who may write something learn what is wrong with an input, or that nothing is there.
func TestInputsAreCheckedForThoseWhoMayWrite(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	a.header = "Bearer " + moderatorToken
	there := a.add(draft()).Comment.ID
	const missing = "c_01HZ0000000000000000000000"
	inputs := map[string][]map[string]any{
		"Add":    {draft(), with(draft(), map[string]any{"rating": 6})},
		"Edit":   {{"id": missing, "version": 1, "rating": 1}, {"id": "c_", "version": 1}, {"id": there, "version": 9, "rating": 6}},
		"Delete": {{"id": missing}, {"id": "c_"}, {"id": there, "version": 9}},
	}
	for why, header := range map[string]string{
		"no token": "", "not a token": "Bearer abc", "an expired token": "Bearer " + tokenOf(t, "u1", -time.Minute), "another scheme": "Basic " + moderatorToken,
	} {
		a.header = header
		for name, all := range inputs {
			query := fmt.Sprintf(`mutation ($input: %sCommentInput!) { m: %sComment(input: $input) { userErrors { code } } }`, name, strings.ToLower(name))
			for _, input := range all {
				got := a.ask(query, map[string]any{"input": input})
				if len(got.Errors) != 1 || got.Errors[0].Extensions["code"] != "UNAUTHENTICATED" || string(got.Data) != `{"m":null}` {
					t.Errorf("%s of %v with %s: %s %+v", name, input, why, got.Data, got.Errors)
				}
				checkSecrets(t, fmt.Sprint(got.Errors), header)
			}
		}
	}
}

// A comment that came with a file belongs to no subject, whatever the file calls its author. A moderator may edit it,
// and that does not make its author a customer.
func TestWhoMayWriteImportedComments(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	c := commenttest.Random(commenttest.Rand(t), "teapot")
	c.Author, c.Version, c.UpdatedAt = comment.Author{ID: "anonymous", Name: "Anonymous", Imported: true}, 1, nil
	a.load(c)
	const query = `mutation ($input: EditCommentInput!) { editComment(input: $input) { comment { author { id customerId } } userErrors { code } } }`
	for version, row := range []struct{ header, data, code string }{
		{"Bearer " + tokenOf(t, "anonymous", time.Hour), `{"editComment":null}`, "FORBIDDEN"},
		{"Bearer " + moderatorToken, `{"editComment":{"comment":{"author":{"id":"author:imported:anonymous","customerId":null}},"userErrors":[]}}`, ""},
		{"Bearer " + tokenOf(t, "anonymous", time.Hour), `{"editComment":null}`, "FORBIDDEN"},
	} {
		a.header = row.header
		got := a.ask(query, map[string]any{"input": map[string]any{"id": c.ID, "version": max(version, 1), "text": "Edited."}})
		code := ""
		if len(got.Errors) > 0 {
			code, _ = got.Errors[0].Extensions["code"].(string)
		}
		if string(got.Data) != row.data || code != row.code {
			t.Errorf("attempt %d: %s %+v; want %s %s", version, got.Data, got.Errors, row.data, row.code)
		}
	}
}

func checkSecrets(t *testing.T, said, header string) {
	t.Helper()
	_, token, _ := strings.Cut(header, " ")
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
	for _, header := range []string{"Bearer " + moderatorToken, "Bearer " + tokenOf(t, "u1", time.Hour)} {
		a.header = header
		got := a.ask(`mutation ($input: AddCommentInput!) { addComment(input: $input) { userErrors { code } } }`, map[string]any{"input": draft()})
		if len(got.Errors) != 1 || got.Errors[0].Extensions["code"] != "UNAVAILABLE" || a.log.Len() == 0 {
			t.Errorf("%+v\n%s", got.Errors, a.log)
		}
		checkSecrets(t, fmt.Sprint(got.Errors)+a.log.String(), header)
	}
}

// Without tokens, a request that a proxy passed on, or that calls this machine by another name, changes nothing. Its
// error says what to configure.
func TestOpenWritingIsForThisMachine(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	there := a.add(draft()).Comment.ID
	before := what(everything(t, a.session.Client, a.session.Table, "teapot"))
	address := strings.TrimPrefix(a.server.URL, "http://")
	for reason, head := range map[string]string{
		"a page under a name of its own":   "HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example",
		"nginx without settings":           "HTTP/1.0\r\nHost: " + address,
		"no host":                          "HTTP/1.0",
		"a proxy that says so":             "HTTP/1.1\r\nHost: " + address + "\r\nX-Forwarded-For: 203.0.113.7",
		"a proxy that speaks by the RFC":   "HTTP/1.1\r\nHost: " + address + "\r\nForwarded: for=203.0.113.7",
		"a proxy that forwards one header": "HTTP/1.1\r\nHost: " + address + "\r\nX-Real-IP: 203.0.113.7",
	} {
		for _, mutation := range []string{
			`deleteComment(input: {id: \"` + there + `\"})`, `editComment(input: {id: \"` + there + `\", version: 1, rating: 1})`,
			`addComment(input: {productId: \"teapot\", rating: 1, language: \"en\", text: \"\", author: {id: \"a\", name: \"A\"}})`,
		} {
			body := `{"query": "mutation { ` + mutation + ` { userErrors { code } } }"}`
			got := sendRaw(t, address, fmt.Sprintf("POST /graphql %s\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body))
			if !strings.Contains(got, `"FORBIDDEN"`) || !strings.Contains(got, "--moderator-token") {
				t.Errorf("%s: %s", reason, got)
			}
		}
	}
	check.Equal(t, before, what(everything(t, a.session.Client, a.session.Table, "teapot")), "the table changed")
}

// sendRaw sends bytes and returns the whole answer.
func sendRaw(t *testing.T, address, text string) string {
	t.Helper()
	conn := must.Get(net.Dial("tcp", address))(t)
	defer conn.Close()
	must.Get(io.WriteString(conn, text))(t)
	return string(must.Get(io.ReadAll(conn))(t))
}

// Any variable that is empty, or only spaces, keeps the server from starting. Usually the intended value was not found,
// and empty would mean off.
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

// Each flag that takes a value is refused without one. That includes paths, where an empty one could mean the current
// folder.
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

// The field viewer agrees with a mutation by the same sender. The mutation succeeds as the author
// that viewer names, or is refused for the reason that viewer gives.
func TestViewerSaysWhatAWriteDoes(t *testing.T) {
	t.Parallel()
	tokens := guarded(t)
	open := newAPI(t, dynamotest.Dynoxide(t))
	closed := newAPI(t, dynamotest.Dynoxide(t))
	closed.authorizer = auth.Closed{}
	closed.useClient(closed.session.Client)
	const (
		anyone   = `{"customerId":null,"isModerator":false,"mayWrite":true,"cannotWriteReason":null}`
		required = `{"customerId":null,"isModerator":false,"mayWrite":false,"cannotWriteReason":"TOKEN_REQUIRED"}`
		refused  = `{"customerId":null,"isModerator":false,"mayWrite":false,"cannotWriteReason":"TOKEN_REFUSED"}`
		off      = `{"customerId":null,"isModerator":false,"mayWrite":false,"cannotWriteReason":"WRITING_OFF"}`
	)
	for _, row := range []struct {
		why     string
		service *api
		header  string
		viewer  string
		as      string // the author of a write
		code    string // of the write
	}{
		{"a customer", tokens, bearer(tokenOf(t, "u1", time.Hour)), `{"customerId":"u1","isModerator":false,"mayWrite":true,"cannotWriteReason":null}`, "u1", ""},
		{"a customer as someone else", tokens, bearer(tokenOf(t, "u1", time.Hour)), `{"customerId":"u1","isModerator":false,"mayWrite":true,"cannotWriteReason":null}`, "u2", "FORBIDDEN"},
		{"a moderator", tokens, bearer(moderatorToken), `{"customerId":null,"isModerator":true,"mayWrite":true,"cannotWriteReason":null}`, "u2", ""},
		{"no token", tokens, "", required, "u1", "UNAUTHENTICATED"},
		{"another scheme than a bearer's", tokens, "Authorization: Basic dTE6cGFzcw==", required, "u1", "UNAUTHENTICATED"},
		{"an expired token", tokens, bearer(tokenOf(t, "u1", -time.Minute)), refused, "u1", "UNAUTHENTICATED"},
		{"not a token", tokens, bearer("abc"), refused, "u1", "UNAUTHENTICATED"},
		{"a subject that no author can have, since it is too long", tokens, bearer(tokenOf(t, strings.Repeat("u", 129), time.Hour)), refused, "u1", "UNAUTHENTICATED"},
		{"a subject that no author can have, with a control character", tokens, bearer(tokenOf(t, "u\x01", time.Hour)), refused, "u1", "UNAUTHENTICATED"},
		{"this machine, without tokens", open, "", anyone, "u1", ""},
		{"this machine with a token that nobody asked for", open, bearer(moderatorToken), anyone, "u1", ""},
		{"through a proxy, without tokens", open, "X-Forwarded-For: 203.0.113.7", off, "u1", "FORBIDDEN"},
		{"by another name, without tokens", open, "Host: shop.example", off, "u1", "FORBIDDEN"},
		{"a server that listens to more, without tokens", closed, "", off, "u1", "FORBIDDEN"},
		{"the same with a token", closed, bearer(moderatorToken), off, "u1", "FORBIDDEN"},
	} {
		const query = `{ viewer { customerId isModerator mayWrite cannotWriteReason } }`
		answer := row.service.sendWith(query, row.header)
		if want := `{"data":{"viewer":` + row.viewer + `}}`; answer != want {
			t.Errorf("%s: %s\nwant %s", row.why, answer, want)
		}
		checkSecrets(t, answer, strings.TrimPrefix(row.header, "Authorization: "))
		write := row.service.sendWith(`mutation { addComment(input: {productId: "teapot", rating: 4, language: "en", text: "", author: {id: "`+row.as+`", name: "A"}}) { userErrors { code } } }`, row.header)
		code := ""
		for _, c := range []string{"UNAUTHENTICATED", "FORBIDDEN"} {
			if strings.Contains(write, `"code":"`+c+`"`) {
				code = c
			}
		}
		if code != row.code || code == "" && !strings.Contains(write, `{"addComment":{"userErrors":[]}}`) {
			t.Errorf("%s: a write by %s answers %s, want %q", row.why, row.as, write, row.code)
		}
		if strings.Contains(answer, "TOKEN_") != (code == "UNAUTHENTICATED") || strings.Contains(answer, "WRITING_OFF") && code != "FORBIDDEN" {
			t.Errorf("%s: viewer says %s, and a write %s", row.why, answer, write)
		}
	}
}

// sendWith sends an operation with headers, and returns the answer without its extensions.
func (a *api) sendWith(query string, headers ...string) string {
	a.tb.Helper()
	before, _, _ := strings.Cut(post(a.tb, a.server.URL, operation(query, nil), headers...).body, `,"extensions":{"cost"`)
	return strings.TrimSuffix(before, "}") + "}"
}

// An answer by GET to a token is cached nowhere, whatever it is about, and no tag makes it a 304.
func TestViewerIsNotCachedForOthers(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	for _, header := range []string{"Authorization:", bearer(tokenOf(t, "u1", time.Hour)), bearer(moderatorToken)} {
		got := fetch(t, http.MethodGet, asking(a.server.URL, "{viewer{customerId isModerator}}"), header, "If-None-Match: *")
		if tag := got.header.Get("ETag"); got.body == "" || tag != "" {
			t.Errorf("%q is answered as %q: %s", header, tag, got.body)
		}
		if caching := got.header.Get("Cache-Control"); caching != "private, no-store" || !strings.Contains(strings.Join(got.header.Values("Vary"), ", "), "Authorization") {
			t.Errorf("Cache-Control %q, Vary %q", caching, got.header.Values("Vary"))
		}
	}
}
