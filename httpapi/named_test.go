package httpapi_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
)

const (
	echoA  = `query A { echo }`
	change = `mutation M { change }`
)

// hashOf is the SHA-256 of a text, in hexadecimal digits.
func hashOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// hashed is Apollo's extension for a text.
func hashed(text string) string {
	return fmt.Sprintf(`{"persistedQuery": {"version": 1, "sha256Hash": %q}}`, hashOf(text))
}

// A registered query is found by its hash, by POST and by GET. A query that cannot run is not
// registered.
func TestAutomaticPersistedQueries(t *testing.T) {
	server := newServer(t, func(o *httpapi.Options) { o.Automatic = httpapi.NewAutomaticQueries(1<<20, nil) })
	const pair = `query P { echo(text: "\uD83D\uDE00") }`
	for i, row := range []struct{ query, extensions, code, want, reason string }{
		{"", hashed(echoA), "PERSISTED_QUERY_NOT_FOUND", `"PersistedQueryNotFound"`, "the words that clients look for"},
		{echoA, hashed(echoA), "", `"echo":"A"`, "it is registered"},
		{"", hashed(echoA), "", `"echo":"A"`, "and found"},
		{echoA, hashed("{ other }"), "PERSISTED_QUERY_HASH_MISMATCH", "SHA-256", "another hash"},
		{"query B { unknown }", hashed("query B { unknown }"), "GRAPHQL_VALIDATION_FAILED", "unknown", "it does not fit the schema"},
		{"", hashed("query B { unknown }"), "PERSISTED_QUERY_NOT_FOUND", "", "so it is not remembered"},
		{pair, hashed(pair), "", "😀", "the hash is that of the text as it was sent"},
		{"", hashed(pair), "", "😀", "and the text is read as if it had been sent"},
		{"", `{"persistedQuery": {"version": 2, "sha256Hash": "x"}}`, "BAD_REQUEST", "version", "another version"},
		{"", `{"persistedQuery": "x"}`, "BAD_REQUEST", "version", "no object"},
		{"", `{"persistedQuery": null}`, "BAD_REQUEST", `or the id of a trusted document as \"documentId\"`, "null counts as absent"},
		{"", hashed(change), "PERSISTED_QUERY_NOT_FOUND", "", "a change that is not known"},
		{change, hashed(change), "", `"data"`, "a change is registered"},
	} {
		body := fmt.Sprintf(`{"query": %q, "extensions": %s}`, row.query, row.extensions)
		if row.query == "" {
			body = fmt.Sprintf(`{"extensions": %s}`, row.extensions)
		}
		if strings.Contains(row.query, `\u`) {
			body = fmt.Sprintf(`{"query": "%s", "extensions": %s}`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(row.query), row.extensions)
		}
		got := post(t, server, body)
		if code := got.code(t); code != row.code || !strings.Contains(got.body, row.want) {
			t.Errorf("%d, %s: %d %s, want %q and %s", i, row.reason, got.status, got.body, row.code, row.want)
		}
	}
	for _, row := range []struct {
		extensions string
		status     int
		cached     bool
	}{
		{hashed(echoA), 200, true},
		{hashed("{ never }"), 400, false},
		{hashed(change), 405, false},
	} {
		got := get(t, server, "extensions="+url.QueryEscape(row.extensions), "Accept: application/graphql-response+json")
		if got.status != row.status || (got.header.Get("ETag") != "") != row.cached {
			t.Errorf("GET %s: %d %s %v", row.extensions, got.status, got.body, got.header)
		}
	}
}

// manifest writes a file, and returns its name.
func manifest(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "manifest.json")
	must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// A server with trusted documents finds them by all their names, and registers nothing that clients
// send. If it runs only these, it refuses everything else before parsing it, except for its own
// pages.
func TestTrustedDocuments(t *testing.T) {
	names := manifest(t, fmt.Sprintf(`{"mine": %q, "change": %q}`, echoA, change))
	for _, only := range []bool{false, true} {
		var api http.Handler
		server := newServer(t, func(o *httpapi.Options) {
			o.Automatic = httpapi.NewAutomaticQueries(1<<20, nil)
			o.Pages = func(inside http.Handler) http.Handler { api = inside; return http.NotFoundHandler() }
			o.Trusted = must.Get(httpapi.OpenTrustedDocuments([]string{names}, nil, only, httpapi.DocumentCheck(*o)))(t)
		})
		sent, broken := "", "GRAPHQL_PARSE_FAILED"
		unknown := "PERSISTED_QUERY_NOT_SUPPORTED"
		if only {
			sent, broken, unknown = "DOCUMENT_NOT_TRUSTED", "DOCUMENT_NOT_TRUSTED", "DOCUMENT_NOT_FOUND"
		}
		for _, row := range []struct{ body, code, reason string }{
			{`{"documentId": "mine"}`, "", "by the id of the manifest"},
			{`{"documentId": "mine", "query": null}`, "", "null counts as absent"},
			{`{"documentId": "mine", "query": ""}`, "", "and so does an empty text"},
			{`{"documentId": "sha256:` + hashOf(echoA) + `"}`, "", "by the hash of its text"},
			{`{"extensions": ` + hashed(echoA) + `}`, "", "as Apollo's clients send the hash"},
			{`{"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "mine"}}}`, "", "as they send ids that are none"},
			{`{"query": "` + echoA + `"}`, "", "its text, to the byte"},
			{`{"query": "` + echoA + `", "extensions": ` + hashed(echoA) + `}`, "", "both"},
			{`{"documentId": "mine", "query": "{ echo }"}`, "BAD_REQUEST", "two documents"},
			{`{"documentId": "mine", "extensions": ` + hashed(echoA) + `}`, "", "two names of one document"},
			{`{"documentId": "mine", "extensions": ` + hashed(change) + `}`, "BAD_REQUEST", "names of two documents"},
			{`{"documentId": "mine", "extensions": ` + hashed("{ secret }") + `}`, "BAD_REQUEST", "a hash of none beside an id"},
			{`{"documentId": 7}`, "BAD_REQUEST", "no text"},
			{`{"documentId": "secret"}`, "DOCUMENT_NOT_FOUND", "an unknown id"},
			{`{"documentId": "mine", "operationName": "B"}`, "GRAPHQL_VALIDATION_FAILED", "it has no such operation"},
			{`{"extensions": ` + hashed("{ echo }") + `}`, unknown, "a hash of nothing that is trusted"},
			{`{"query": "{ echo } ", "extensions": ` + hashed("{ echo } ") + `}`, sent, "a text that is not trusted"},
			{`{"extensions": ` + hashed("{ echo } ") + `}`, unknown, "which is not remembered"},
			{`{"query": "{ secret"}`, broken, "what is refused is not parsed"},
		} {
			got := post(t, server, row.body)
			if code := got.code(t); code != row.code || (code == "BAD_REQUEST") != (got.status == http.StatusBadRequest) || strings.Contains(got.body, "secret") && code != "GRAPHQL_PARSE_FAILED" {
				t.Errorf("only %v, %s: %d %s, want %q", only, row.reason, got.status, got.body, row.code)
			}
		}
		if got := get(t, server, "documentId=mine"); got.status != 200 || got.header.Get("ETag") == "" {
			t.Errorf("GET: %d %s", got.status, got.body)
		}
		if got := get(t, server, "documentId=change"); got.status != 405 {
			t.Errorf("a change by GET: %d %s", got.status, got.body)
		}
		if api == nil {
			t.Fatal("no API for pages")
		}
		if got := inside(api, `{"query": "{ echo(text: \"page\") }"}`); !strings.Contains(got, `"echo":"page"`) {
			t.Errorf("a page of the server is answered %s", got)
		}
	}
	if got := post(t, newServer(t, nil), `{"documentId": "mine"}`); got.code(t) != "DOCUMENT_NOT_FOUND" {
		t.Errorf("without documents: %s", got.body)
	}
	if got := post(t, newServer(t, nil), `{"extensions": `+hashed(echoA)+`}`); got.code(t) != "PERSISTED_QUERY_NOT_SUPPORTED" {
		t.Errorf("without a memory: %s", got.body)
	}
}

// inside sends a request to the API as a page of the server does.
func inside(api http.Handler, body string) string {
	w := httptest.NewRecorder()
	api.ServeHTTP(w, posted(body))
	return w.Body.String()
}

// A document that cannot run is found before the first client asks.
func TestDocumentsAreChecked(t *testing.T) {
	check := httpapi.DocumentCheck(options(func(o *httpapi.Options) { o.MaxQuery = 5000 }))
	for text, want := range map[string]string{
		`query A { echo } mutation B { change }`: "",
		``:                                       "no operation",
		`fragment F on Query { echo }`:           "no operation",
		`{ echo `:                                "Expected Name",
		`{ echo(text: "a) }`:                     "1:19: Unterminated string",
		`{ price }`:                              "price",
		`{ ... @defer { echo } }`:                "defer",
		`{ echo(text: "\uD83D") }`:               "surrogate",
		`{ echo } #` + strings.Repeat("x", 5000): "--max-query",
		strings.Repeat(`a `, 2000):               "tokens",
	} {
		err := check(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
