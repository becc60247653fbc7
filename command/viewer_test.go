package command_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/internal/dynamotest"
)

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
