package httpapi_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/httpapi"
)

const (
	graphQL = "application/graphql-response+json; charset=utf-8"
	plain   = "application/json; charset=utf-8"
)

// Values of Accept, and the type of the answer. No value leads to a 406.
var accepts = []struct{ accept, want, reason string }{
	{"", plain, "Relay's fetch and others that say nothing"},
	{"*/*", plain, "curl, fetch in browsers and Node"},
	{"application/*", plain, "any of ours"},
	{"application/json", plain, "the type of before"},
	{"APPLICATION/JSON", plain, "types have no case"},
	{"application/graphql-response+json", graphQL, "the type of today"},
	{"application/graphql-response+json; charset=utf-8", graphQL, "with a charset"},
	{"application/graphql-response+json, application/json;q=0.9", graphQL, "our explorer; what the draft recommends"},
	{"application/json, application/graphql-response+json;q=0.9", plain, "rather the type of before"},
	{"application/graphql-response+json;q=0.5, application/json;q=0.4, */*;q=0.9", graphQL, "names count, not what the star says"},
	{"application/graphql-response+json;q=0.1, */*", plain, "it would rather have anything else"},
	{"application/graphql-response+json, */*", graphQL, "a name says more than a star"},
	{"multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json", graphQL, "Apollo Kotlin 4, on every call"},
	{"multipart/mixed; deferSpec=20220824, application/json", plain, "Apollo Kotlin 3"},
	{"multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json", graphQL, "Apollo iOS 2"},
	{"multipart/mixed;boundary=\"graphql\";deferSpec=20220824,application/json", plain, "Apollo iOS 1"},
	{"multipart/mixed;deferSpec=20220824, */*", plain, "a stream beside anything"},
	{"application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed", graphQL, "urql"},
	{"application/json, text/event-stream, multipart/mixed", plain, "urql of before"},
	{"application/graphql-response+json,application/json;q=0.9", graphQL, "Apollo Client 4"},
	{"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", plain, "a browser's address bar"},
	{"text/html", plain, "only what there is not: better an answer than a refusal"},
	{"multipart/mixed", plain, "only a stream, for an operation that does not stream"},
	{"text/event-stream", plain, "likewise"},
	{"application/json;q=0", plain, "all of ours refused: better an answer than a refusal"},
	{"application/json;q=0, */*", graphQL, "anything but the type of before"},
	{"application/graphql-response+json;q=0, application/json", plain, "refused by name"},
	{"application/json;q=nonsense", plain, "a weight that cannot be read"},
	{",;=,,/", plain, "noise"},
}

func TestAnswerTypes(t *testing.T) {
	server := newServer(t, nil)
	const query = `query Named { echo }`
	for _, test := range accepts {
		for _, got := range []reply{
			post(t, server, `{"query": "`+query+`"}`, "Accept: "+test.accept),
			get(t, server, "query="+url.QueryEscape(query), "Accept: "+test.accept),
		} {
			if got.status != 200 || got.header.Get("Content-Type") != test.want || got.body != `{"data":{"echo":"Named"}}` {
				t.Errorf("Accept %q: %d %q %s, want 200 %q: %s", test.accept, got.status, got.header.Get("Content-Type"), got.body, test.want, test.reason)
			}
			if vary := strings.Join(got.header.Values("Vary"), ", "); vary != "Accept, Authorization, Accept-Encoding" {
				t.Errorf("Accept %q: Vary %q would confuse a cache", test.accept, vary)
			}
		}
	}
}

// The draft's statuses for requests that could be read, for both types.
func TestStatuses(t *testing.T) {
	server := newServer(t, nil)
	for _, test := range []struct {
		body, want, reason string
		asJSON, asGraphQL  int
	}{
		{`{"query": "{"}`, `"errors"`, "not GraphQL", 200, 400},
		{`{"query": ""}`, `"errors"`, "an empty document", 200, 400},
		{`{"query": "fragment F on Query { echo }"}`, `"no operation provided"`, "no operation", 200, 400},
		{`{"query": "{ nothing }"}`, `"errors"`, "no such field", 200, 400},
		{`{"query": "query($n: Number!) { echo(number: $n) }", "variables": {"n": null}}`, `"errors"`, "a variable of another type", 200, 400},
		{`{"query": "query($s: String, $t: String) { s: echo(text: $s) t: echo(text: $t) }", "variables": {"s": 1, "t": 2}}`, `{"errors":[{"message":"Variable \"$s\" got invalid value 1: String cannot represent a number.","locations":[{"line":1,"column":7}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}},{"message":"Variable \"$t\" got invalid value 2: String cannot represent a number.","locations":[{"line":1,"column":19}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}`, "two wrong variables, both of which are told", 200, 400},
		{`{"query": "query A { echo } query B { echo }"}`, `"the query has 2 operations: name the one to run as \"operationName\""`, "which of the two?", 200, 400},
		{`{"query": "query A { echo }", "operationName": "B"}`, `"the query has no operation \"B\": send the name of one as \"operationName\""`, "none of the name", 200, 400},
		{`{"query": "query A { echo } query B { echo }", "operationName": "C"}`, `"errors"`, "neither of the two", 200, 400},
		{`{"query": "{ fails }"}`, `"data":{"fails":null}`, "data with an error beside it", 200, 200},
		{`{"query": "mutation { change }"}`, `"data":{"change":""}`, "a mutation", 200, 200},
		{`{"query": "{ panics }"}`, `"errors"`, "a fault of ours", 500, 500},
	} {
		for accept, status := range map[string]int{plain: test.asJSON, graphQL: test.asGraphQL} {
			got := post(t, server, test.body, "Accept: "+accept)
			if got.status != status || !strings.Contains(got.body, test.want) || got.header.Get("Content-Type") != accept {
				t.Errorf("%s, as %s: %d %q %s; want %d", test.reason, accept, got.status, got.header.Get("Content-Type"), got.body, status)
			}
			if status != 500 && strings.Contains(got.body, `"data"`) != strings.Contains(test.want, `"data"`) {
				t.Errorf("%s: %s; data is there when the operation was run, and only then", test.reason, got.body)
			}
			if strings.Contains(got.body, "secret") {
				t.Errorf("%s: the client is told what is inside: %s", test.reason, got.body)
			}
		}
	}
}

// Of a panic, the log gets where it began and not its value, which may be what a customer wrote.
func TestValueOfAPanicIsKept(t *testing.T) {
	var told error
	server := newServer(t, func(o *httpapi.Options) {
		o.ErrorPresenter = func(ctx context.Context, err error) *gqlerror.Error {
			told = err
			return hideFaults(ctx, err)
		}
	})
	post(t, server, `{"query": "{ panics }"}`)
	if told == nil || !strings.Contains(told.Error(), "server_test.go") || strings.Contains(told.Error(), "secret") {
		t.Errorf("it says %v", told)
	}
}
