package httpapi_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/talkback/talkback/httpapi"
)

func TestBodies(t *testing.T) {
	server := newServer(t, nil)
	const query = `"query": "query A($s: String) { echo(text: $s) }"`
	for _, test := range []struct{ body, code, want, reason string }{
		{`{` + query + `}`, "", `{"data":{"echo":null}}`, "nothing but a query"},
		{`{` + query + `, "variables": {"s": "Grüße 🏃"}}`, "", `Grüße 🏃`, "UTF-8"},
		{"\xef\xbb\xbf{" + query + "}", "", `"data"`, "a byte order mark before it"},
		{" \r\n{" + query + "}\n", "", `"data"`, "space around it"},
		{`{` + query + `, "variables": null, "operationName": null, "extensions": null}`, "", `"data"`, "null counts as absent"},
		{`{` + query + `, "operationName": "A", "extensions": {"any": 1}}`, "", `"data"`, "all members"},
		{`{` + query + `, "id": 1, "id": 2, "persistedQuery": [true]}`, "", `"data"`, "unknown members are ignored"},
		{`{"query": "query A($n: Number) { echo(number: $n) }", "variables": {"n": 12345678901234567.0}}`, "", `12345678901234567.0`, "a number keeps its digits"},
		{`{"query": "{ echo(text: \"\\uD83D\\uDE00\") }"}`, "", `"😀"`, "a pair in the text of the query"},
		{`{` + query + `, "variables": {"s": "\uD83D\uDE00"}}`, "", `"😀"`, "a pair in JSON"},
		{`{` + query + `, "variables": {"s": "\\uD83D"}}`, "", `"\\uD83D"`, "a backslash in JSON"},
		{`{"query": "{ echo(text: \"\\uD83D\") }"}`, "BAD_REQUEST", "half of a surrogate pair", "half a pair in the text of the query"},
		{`{` + query + `, "variables": {"s": "\uDE00\uD83D"}}`, "BAD_REQUEST", "half of a surrogate pair", "two wrong halves in JSON"},
		{"", "BAD_REQUEST", "", "nothing at all"},
		{`{"query": "secret`, "BAD_REQUEST", "", "cut off"},
		{`{` + query + `} secret`, "BAD_REQUEST", "", "something after the end"},
		{`null`, "BAD_REQUEST", "", "null"},
		{`{` + query + `, "query": "{ secret }"}`, "BAD_REQUEST", "", "a member twice: a proxy may have checked the other"},
		{`{` + query + `, "variables": {"s": "secret", "s": "b"}}`, "BAD_REQUEST", "more than once", "a variable twice, likewise"},
		{`{` + query + `, "extensions": {"any": [{"secret": 1, "secret": 1}]}}`, "BAD_REQUEST", "more than once", "a name twice within an extension"},
		{`{` + query + `, "variables": {"s": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`, "BAD_REQUEST", "nested", "JSON that is nested too deep to be read"},
		{`{` + query + `, "any": ` + strings.Repeat(`{"a":`, 10_000) + `1` + strings.Repeat("}", 10_000) + `}`, "BAD_REQUEST", "nested", "an unknown member, likewise"},
		{`{"Query": "{ echo }"}`, "BAD_REQUEST", "", "a name in another case is another name"},
		{`{}`, "BAD_REQUEST", "", "no query"},
		{`{"query": null}`, "BAD_REQUEST", "", "null for a query"},
		{`{"query": ["secret"]}`, "BAD_REQUEST", "", "a list for a query"},
		{`{` + query + `, "operationName": 7}`, "BAD_REQUEST", "", "a number for a name"},
		{`{` + query + `, "variables": "secret"}`, "BAD_REQUEST", "", "text for variables"},
		{`{` + query + `, "variables": ["secret"]}`, "BAD_REQUEST", "", "a list for variables"},
		{`{` + query + `, "extensions": false}`, "BAD_REQUEST", "", "false for extensions"},
		{"{\"query\": \"{ echo(text: \\\"\xff\\\") }\"}", "BAD_REQUEST", "UTF-8", "not UTF-8"},
		{"\xff\xfe{\x00}\x00", "BAD_REQUEST", "UTF-8", "UTF-16, as some shells of Windows write it"},
		{`[{` + query + `}]`, "BATCH_NOT_ALLOWED", "", "a batch"},
		{` []`, "BATCH_NOT_ALLOWED", "", "an empty batch"},
	} {
		got := post(t, server, test.body)
		status := 200
		if test.code != "" {
			status = 400
		}
		if code := got.code(t); got.status != status || code != test.code || !strings.Contains(got.body, test.want) {
			t.Errorf("%s: %d %s, want %d %s %s", test.reason, got.status, got.body, status, test.code, test.want)
		}
		if strings.Contains(got.body, "secret") {
			t.Errorf("%s: the body is echoed: %s", test.reason, got.body)
		}
	}
}

func TestContentTypes(t *testing.T) {
	server := newServer(t, nil)
	for _, test := range []struct {
		contentType string
		status      int
		reason      string
	}{
		{"application/json", 200, "as it should be"},
		{"application/json; charset=utf-8", 200, "with what is the rule anyway"},
		{`Application/JSON;charset="UTF-8"`, 200, "names have no case"},
		{"application/json; charset=iso-8859-1", 415, "another charset"},
		{"", 415, "none: a browser sends that across sites without asking"},
		{"text/plain", 415, "likewise"},
		{"application/x-www-form-urlencoded", 415, "a form, likewise"},
		{"application/graphql", 415, "the text alone, which some servers take"},
		{"application/graphql-response+json", 415, "a type of answers"},
		{"text/plain; application/json", 415, "the right word in the wrong place"},
		{"application/json/", 415, "no type"},
	} {
		got := post(t, server, `{"query": "{ echo }"}`, "Content-Type: "+test.contentType)
		if got.status != test.status {
			t.Errorf("Content-Type %q: %d, want %d: %s", test.contentType, got.status, test.status, test.reason)
		}
		if refused := test.status == 415; refused && (got.code(t) != "UNSUPPORTED_MEDIA_TYPE" || got.header.Get("Accept-Post") == "") {
			t.Errorf("Content-Type %q: Accept-Post %q, %s", test.contentType, got.header.Get("Accept-Post"), got.body)
		}
	}
	got := post(t, server, "\x1f\x8b", "Content-Encoding: gzip")
	if got.status != 415 || got.header.Get("Accept-Encoding") != "identity" {
		t.Errorf("a packed body: %d, Accept-Encoding %q, want 415 and what is taken", got.status, got.header.Get("Accept-Encoding"))
	}
}

func TestParameters(t *testing.T) {
	server := newServer(t, nil)
	const query = "query=query+A($s:String){echo(text:$s)}"
	for _, test := range []struct {
		parameters, code, want string
		status                 int
		reason                 string
	}{
		{query, "", `{"data":{"echo":null}}`, 200, "nothing but a query"},
		{query + `&variables={"s":"Gr%C3%BC%C3%9Fe"}&operationName=A&extensions={}`, "", "Grüße", 200, "all parameters"},
		{query + `&variables=&operationName=&extensions=`, "", `"data"`, 200, "empty fields of a form"},
		{query + `&variables=null`, "", `"data"`, 200, "null counts as absent"},
		{query + `&utm_source=mail&utm_source=web`, "", `"data"`, 200, "unknown parameters are ignored"},
		{"", "BAD_REQUEST", "", 400, "someone who opens the address in a browser"},
		{query + `&variables=secret`, "BAD_REQUEST", "", 400, "no JSON"},
		{query + `&variables=["secret"]`, "BAD_REQUEST", "", 400, "no object"},
		{query + `&variables={}+secret`, "BAD_REQUEST", "", 400, "something after the end"},
		{query + `&extensions="secret"`, "BAD_REQUEST", "", 400, "no object"},
		{query + `&` + query, "BAD_REQUEST", "", 400, "a parameter twice"},
		{query + `&variables={"s":"secret","s":"b"}`, "BAD_REQUEST", "more than once", 400, "a variable twice"},
		{query + `&variables={}&variables={}`, "BAD_REQUEST", "more than once", 400, "variables twice"},
		{"query=%zz", "BAD_REQUEST", "", 400, "no percent-encoding"},
		{"query={echo(text:%22%ff%22)}", "BAD_REQUEST", "", 400, "not UTF-8"},
		{"query=mutation{change}", "METHOD_NOT_ALLOWED", "", 405, "a mutation"},
		{"query=mutation+M{change}query+Q{echo}&operationName=M", "METHOD_NOT_ALLOWED", "", 405, "a mutation among queries"},
		{"query=mutation+M{change}query+Q{echo}&operationName=Q", "", `"data"`, 200, "a query beside a mutation"},
		{"query=mutation{nothing}", "METHOD_NOT_ALLOWED", "", 405, "a mutation that is wrong in itself"},
		{"query=subscription{echo}", "GRAPHQL_VALIDATION_FAILED", "", 200, "a subscription to what is none"},
		{"query={", "GRAPHQL_PARSE_FAILED", "", 200, "not GraphQL"},
		{"query={echo(text:%22%C3%A9)}", "GRAPHQL_PARSE_FAILED", "Unterminated string", 200, "a string without an end"},
		{"query={%C2%A0echo}", "GRAPHQL_PARSE_FAILED", `unexpected character \"\\u00a0\" (U+00A0)`, 200, "a space of a web page"},
		{"query={echo(text:-%E2%80%93)}", "GRAPHQL_PARSE_FAILED", `got: \"–\" (U+2013)`, 200, "a number with a dash"},
		{"query={echo(text:%22%5C%C3%A9%22)}", "GRAPHQL_PARSE_FAILED", `sequence: \\\"é\" (U+00E9)`, 200, "no escape"},
		{"query={echo(text:%E2%80%9Ca%E2%80%9D)}", "GRAPHQL_PARSE_FAILED", `unexpected character \"“\" (U+201C)`, 200, "quotes of a web page"},
	} {
		got := get(t, server, strings.NewReplacer(`"`, "%22", "{", "%7B", "}", "%7D", "$", "%24").Replace(test.parameters))
		if code := got.code(t); got.status != test.status || code != test.code || !strings.Contains(got.body, test.want) {
			t.Errorf("%s: %d %s, want %d %s %s", test.reason, got.status, got.body, test.status, test.code, test.want)
		}
		if test.status == 405 && got.header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow %q, want POST", test.reason, got.header.Get("Allow"))
		}
		if strings.Contains(got.body, "secret") {
			t.Errorf("%s: the address is echoed: %s", test.reason, got.body)
		}
	}
}

// HEAD is answered like GET, without the body.
func TestHead(t *testing.T) {
	server := newServer(t, nil)
	for _, parameters := range []string{"query={echo}", "query={long}", "query={nothing}", "query=mutation{change}", ""} {
		got, want := send(t, "HEAD", server.URL+"/graphql?"+parameters, ""), get(t, server, parameters)
		if got.status != want.status || len(got.raw) > 0 || got.header.Get("ETag") != want.header.Get("ETag") || got.header.Get("Content-Length") != want.header.Get("Content-Length") {
			t.Errorf("%s: %d %v with %d bytes; GET: %d %v", parameters, got.status, got.header, len(got.raw), want.status, want.header)
		}
	}
}

// A header that must occur once is refused when it occurs twice, even with the same value: two
// readers could use different ones.
func TestHeadersGivenTwice(t *testing.T) {
	server := newServer(t, nil)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Content-Encoding": "identity", "Sec-Fetch-Site": "same-origin", "Authorization": "Bearer secret", "Origin": server.URL,
	} {
		request := newPost(t, server, strings.NewReader(`{"query": "{ echo }"}`))
		request.Header[name] = []string{value}
		if once := do(t, request, http.DefaultTransport); once.status != 200 {
			t.Errorf("%s once: %d %s", name, once.status, once.body)
		}
		request.Body = io.NopCloser(strings.NewReader(`{"query": "{ echo }"}`))
		request.Header[name] = []string{value, value}
		if twice := do(t, request, http.DefaultTransport); twice.status != 400 || twice.code(t) != "BAD_REQUEST" || !strings.Contains(twice.body, name) || strings.Contains(twice.body, "secret") {
			t.Errorf("%s twice: %d %s, want 400 that names it", name, twice.status, twice.body)
		}
	}
}

func TestMethods(t *testing.T) {
	server := newServer(t, nil)
	for _, method := range []string{"PUT", "PATCH", "DELETE", "PROPFIND"} {
		got := send(t, method, server.URL+"/graphql?query={echo}", "", isJSON)
		if got.status != 405 || got.header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
			t.Errorf("%s: %d, Allow %q; want 405 and what is served", method, got.status, got.header.Get("Allow"))
		}
	}
	got := send(t, "OPTIONS", server.URL+"/graphql", "")
	if got.status != 204 || got.header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
		t.Errorf("OPTIONS: %d, Allow %q; want 204 and what is served", got.status, got.header.Get("Allow"))
	}
}

// Each bound accepts the exact size, refuses one byte more, and names itself.
func TestBounds(t *testing.T) {
	server := newServer(t, func(o *httpapi.Options) { o.MaxBody, o.MaxQuery = 300, 100 })
	filled := func(before string, size int, after string) string {
		return before + strings.Repeat(" ", size-len(before)-len(after)) + after
	}
	body := func(size int) string { return filled(`{"query": "{ echo }"`, size, `}`) }
	text := func(size int) string { return `{"query": "` + filled("{ echo", size, "}") + `"}` }
	address := func(size int) string {
		return strings.ReplaceAll(filled("query=", size, url.QueryEscape("{echo}")), " ", "+")
	}
	chunked := func(body string) reply { // it does not say its size
		return do(t, newPost(t, server, struct{ io.Reader }{strings.NewReader(body)}), http.DefaultTransport)
	}
	for _, test := range []struct {
		got    reply
		status int
		code   string
		reason string
	}{
		{post(t, server, body(300)), 200, "", "a body that just fits"},
		{post(t, server, body(301)), 413, "BODY_TOO_LARGE", "a body of one byte more"},
		{chunked(body(301)), 413, "BODY_TOO_LARGE", "a body that does not say its size"},
		{chunked(body(300)), 200, "", "likewise, and it just fits"},
		{post(t, server, text(100)), 200, "", "an operation that just fits"},
		{post(t, server, text(101)), 413, "QUERY_TOO_LONG", "an operation of one byte more"},
		{get(t, server, address(100)), 200, "", "an address that just fits"},
		{get(t, server, address(101)), 414, "QUERY_TOO_LONG", "an address of one byte more"},
	} {
		if code := test.got.code(t); test.got.status != test.status || code != test.code {
			t.Errorf("%s: %d %s, want %d %s", test.reason, test.got.status, test.got.body, test.status, test.code)
		}
	}
}
