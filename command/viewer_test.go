package command_test

import (
	"io"
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
	type headers = map[string]string
	bearer := func(token string) headers { return headers{"Authorization": "Bearer " + token} }
	for _, row := range []struct {
		why     string
		service *api
		headers headers
		viewer  string
		as      string // the author of a write
		code    string // of the write
	}{
		{"a customer", tokens, bearer(tokenOf(t, "u1", time.Hour)), `{"customerId":"u1","isModerator":false,"mayWrite":true,"cannotWriteReason":null}`, "u1", ""},
		{"a customer as someone else", tokens, bearer(tokenOf(t, "u1", time.Hour)), `{"customerId":"u1","isModerator":false,"mayWrite":true,"cannotWriteReason":null}`, "u2", "FORBIDDEN"},
		{"a moderator", tokens, bearer(moderatorToken), `{"customerId":null,"isModerator":true,"mayWrite":true,"cannotWriteReason":null}`, "u2", ""},
		{"no token", tokens, nil, required, "u1", "UNAUTHENTICATED"},
		{"another scheme than a bearer's", tokens, headers{"Authorization": "Basic dTE6cGFzcw=="}, required, "u1", "UNAUTHENTICATED"},
		{"an expired token", tokens, bearer(tokenOf(t, "u1", -time.Minute)), refused, "u1", "UNAUTHENTICATED"},
		{"not a token", tokens, bearer("abc"), refused, "u1", "UNAUTHENTICATED"},
		{"a subject that no author can have, since it is too long", tokens, bearer(tokenOf(t, strings.Repeat("u", 129), time.Hour)), refused, "u1", "UNAUTHENTICATED"},
		{"a subject that no author can have, with a control character", tokens, bearer(tokenOf(t, "u\x01", time.Hour)), refused, "u1", "UNAUTHENTICATED"},
		{"this machine, without tokens", open, nil, anyone, "u1", ""},
		{"this machine with a token that nobody asked for", open, bearer(moderatorToken), anyone, "u1", ""},
		{"through a proxy, without tokens", open, headers{"X-Forwarded-For": "203.0.113.7"}, off, "u1", "FORBIDDEN"},
		{"by another name, without tokens", open, headers{"Host": "shop.example"}, off, "u1", "FORBIDDEN"},
		{"a server that listens to more, without tokens", closed, nil, off, "u1", "FORBIDDEN"},
		{"the same with a token", closed, bearer(moderatorToken), off, "u1", "FORBIDDEN"},
	} {
		const query = `{ viewer { customerId isModerator mayWrite cannotWriteReason } }`
		answer := row.service.sendWith(t, row.headers, query)
		if want := `{"data":{"viewer":` + row.viewer + `}}`; answer != want {
			t.Errorf("%s: %s\nwant %s", row.why, answer, want)
		}
		checkSecrets(t, answer, row.headers["Authorization"])
		write := row.service.sendWith(t, row.headers, `mutation { addComment(input: {productId: "teapot", rating: 4, language: "en", text: "", author: {id: "`+row.as+`", name: "A"}}) { userErrors { code } } }`)
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
func (a *api) sendWith(t *testing.T, headers map[string]string, operation string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, a.server.URL+"/graphql", strings.NewReader(`{"query":"`+strings.ReplaceAll(operation, `"`, `\"`)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, _ := do(t, request, headers)
	before, _, _ := strings.Cut(answer, `,"extensions":{"cost"`)
	return strings.TrimSuffix(before, "}") + "}"
}

// do sends a request with headers, and returns the answer.
func do(t *testing.T, request *http.Request, headers map[string]string) (body string, header http.Header) {
	t.Helper()
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	request.Host = headers["Host"]
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), response.Header
}

// An answer by GET to a token is cached nowhere, whatever it is about, and no tag makes it a 304.
func TestViewerIsNotCachedForOthers(t *testing.T) {
	t.Parallel()
	a := guarded(t)
	for _, header := range []string{"", "Bearer " + tokenOf(t, "u1", time.Hour), "Bearer " + moderatorToken} {
		request, err := http.NewRequest(http.MethodGet, a.server.URL+"/graphql?query={viewer{customerId%20isModerator}}", nil)
		if err != nil {
			t.Fatal(err)
		}
		body, got := do(t, request, map[string]string{"Authorization": header, "If-None-Match": "*"})
		if body == "" || got.Get("ETag") != "" {
			t.Errorf("%q is answered as %q: %s", header, got.Get("ETag"), body)
		}
		if caching := got.Get("Cache-Control"); caching != "private, no-store" || !strings.Contains(strings.Join(got.Values("Vary"), ", "), "Authorization") {
			t.Errorf("Cache-Control %q, Vary %q", caching, got.Values("Vary"))
		}
	}
}
