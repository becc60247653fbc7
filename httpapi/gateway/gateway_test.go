package gateway_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/httpapi/gateway"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// invoke passes an event to a gateway.
func invoke(t *testing.T, handler http.HandlerFunc, event string) (response, error) {
	t.Helper()
	out, err := gateway.New(handler, slog.New(slog.DiscardHandler)).Invoke(t.Context(), []byte(event))
	var got response
	if err == nil {
		must.Do(t, json.Unmarshal(out, &got))
	}
	return got, err
}

type response struct {
	StatusCode        int
	StatusDescription string
	Headers           map[string]string
	MultiValueHeaders map[string][]string
	Cookies           []string
	Body              string
	IsBase64Encoded   bool
}

// A handler sees the same request in an event as over a connection.
func TestRequests(t *testing.T) {
	const (
		url      = `{"version": "2.0", "rawPath": "/graphql", "requestContext": {"domainName": "api.example", "http": {"method": "POST", "sourceIp": "192.0.2.7"}}`
		balancer = `{"httpMethod": "GET", "path": "/graphql", "requestContext": {"elb": {"targetGroupArn": "arn"}}`
	)
	for _, row := range []struct{ event, want, why string }{
		{url + `, "body": "{}"}`, `POST https://api.example/graphql from 192.0.2.7:0: {}`, "a function URL"},
		{url + `, "body": "/w==", "isBase64Encoded": true}`, "POST https://api.example/graphql from 192.0.2.7:0: \xff", "a binary body"},
		{url + `, "rawPath": "/products/a%2Fb%3F", "rawQueryString": "x=%7B&y=+"}`, `POST https://api.example/products/a%2Fb%3F?x=%7B&y=+ from 192.0.2.7:0: `, "escapes stay"},
		{url + `, "rawPath": "/products/50% off"}`, `POST https://api.example/products/50%25%20off from 192.0.2.7:0: `, "a path that the gateway unescaped"},
		{url + `, "headers": {"host": "shop.example", "x-forwarded-for": "198.51.100.1,192.0.2.7"}}`, `POST https://shop.example/graphql from 192.0.2.7:0 for 198.51.100.1: `, "a proxy in front"},
		{url + `, "headers": {"x-forwarded-for": "198.51.100.1"}}`, `POST https://api.example/graphql from 192.0.2.7:0 for 198.51.100.1: `, "a header that only the proxy wrote"},
		{url + `, "headers": {"accept": "a,b"}, "cookies": ["c=1", "d=2"]}`, `POST https://api.example/graphql from 192.0.2.7:0 Accept [a,b] Cookie [c=1; d=2]: `, "several values"},
		{strings.Replace(url, "192.0.2.7", "2001:db8::1", 1) + `}`, `POST https://api.example/graphql from [2001:db8::1]:0: `, "IPv6"},
		{strings.Replace(url, "192.0.2.7", "", 1) + `, "headers": {"x-forwarded-for": "127.0.0.1"}}`, `POST https://api.example/graphql from 0.0.0.0:0 for 127.0.0.1: `, "no address"},
		{balancer + `, "headers": {"host": "shop.example", "x-forwarded-for": "127.0.0.1, 192.0.2.7", "x-forwarded-proto": "https"}, "queryStringParameters": {"query": "%7Ba%7D"}}`,
			`GET https://shop.example/graphql?query=%7Ba%7D from 192.0.2.7:0 for 127.0.0.1: `, "a load balancer; its own client comes last"},
		{balancer + `, "multiValueHeaders": {"host": ["shop.example"], "accept": ["a", "b"], "x-forwarded-for": ["192.0.2.7:4711"]}, "multiValueQueryStringParameters": {"b": ["2", "%26"], "a": ["1"]}}`,
			`GET http://shop.example/graphql?a=1&b=2&b=%26 from 192.0.2.7:4711 Accept [a b]: `, "one with lists, by plain HTTP"},
		{balancer + `, "headers": {"host": "shop.example"}}`, `GET http://shop.example/graphql from 0.0.0.0:0: `, "a health check"},
		{balancer + `, "headers": {"host": "shop.example", "x-forwarded-for": "192.0.2.7, unknown"}}`, `GET http://shop.example/graphql from 0.0.0.0:0 for 192.0.2.7: `, "no address"},
	} {
		got := ""
		_, err := invoke(t, func(_ http.ResponseWriter, r *http.Request) { got = described(t, r) }, row.event)
		if err != nil || got != row.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", row.why, err, got, row.want)
		}
	}
}

// described is what a handler sees of a request.
func described(t *testing.T, r *http.Request) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	scheme, proxies := "http", ""
	if r.TLS != nil {
		scheme = "https"
	}
	if before := r.Header.Get("X-Forwarded-For"); before != "" {
		proxies = " for " + before
	}
	out := fmt.Sprintf("%s %s://%s%s from %s%s", r.Method, scheme, r.Host, r.RequestURI, r.RemoteAddr, proxies)
	for _, name := range []string{"Accept", "Cookie"} {
		if values := r.Header.Values(name); values != nil {
			out += fmt.Sprint(" ", name, " ", values)
		}
	}
	return out + ": " + string(body)
}

// An event that is no request of a known form is refused. The invoker of the function gets an
// error, or an answer if it is an HTTP client.
func TestRefusals(t *testing.T) {
	const asked = `"requestContext": {"http": {"method": "POST"}}`
	for _, row := range []struct {
		event  string
		status int
		want   string
	}{
		{`{}`, 0, "is no HTTP request: invoke"},
		{`"text"`, 0, "is no HTTP request: invoke"},
		{`{"Records": [{"eventSource": "aws:s3", "s3": {"object": {"key": "secret"}}}]}`, 0, `comes from "aws:s3"`},
		{`{"Records": [{"EventSource": "aws:sns"}]}`, 0, `comes from "aws:sns"`},
		{`{"Records": [{"eventSource": "aws:dynamodb"}]}`, 0, "TALKBACK_FUNCTION=count"},
		{`{"requestContext": {"connectionId": "c", "eventType": "CONNECT"}}`, 0, "is no HTTP request"},
		{`{"headers": ["secret"], ` + asked + `}`, 0, "is no HTTP request"},
		{`{"version": "1.0", "httpMethod": "GET", "path": "/graphql"}`, 500, "payload format 2.0"},
		{`{"resource": "/graphql", "httpMethod": "GET", "multiValueHeaders": {"host": ["h"]}}`, 500, "payload format 2.0"},
		{`{"body": "secret", "isBase64Encoded": true, ` + asked + `}`, 400, "not base64"},
		{`{"httpMethod": "POST", "body": "secret", "isBase64Encoded": true, "requestContext": {"elb": {}}}`, 400, "not base64"},
		{`{"requestContext": {"http": {"method": "G T"}}}`, 400, "cannot be read"},
	} {
		got, err := invoke(t, func(http.ResponseWriter, *http.Request) { t.Error("it is answered: " + row.event) }, row.event)
		said := got.Body
		if err != nil {
			said = err.Error()
		}
		if got.StatusCode != row.status || !strings.Contains(said, row.want) || strings.Contains(said, "secret") {
			t.Errorf("%s: %d %s, want %d with %q", row.event, got.StatusCode, said, row.status, row.want)
		}
		if balanced := strings.Contains(row.event, `"elb"`); err == nil && balanced != (got.StatusDescription != "") {
			t.Errorf("%s: the status is described as %q, which only a load balancer takes", row.event, got.StatusDescription)
		}
		if err == nil && (!strings.Contains(said, `"code":`) || got.Headers["Content-Type"] == "") {
			t.Errorf("%s: %v %s, want an error of GraphQL", row.event, got.Headers, said)
		}
	}
}

const (
	byURL      = `{"requestContext": {"http": {"method": "%s"}}}`
	byBalancer = `{"httpMethod": "%s", "headers": {"host": "h"}, "requestContext": {"elb": {}}}`
	byLists    = `{"httpMethod": "%s", "multiValueHeaders": {"host": ["h"]}, "requestContext": {"elb": {}}}`
)

// Answers leave as net/http would send them.
func TestAnswers(t *testing.T) {
	writes := func(set func(http.Header), status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if set != nil {
				set(w.Header())
			}
			if status != 0 {
				w.WriteHeader(status)
			}
			if body != "" {
				_, _ = io.WriteString(w, body)
			}
		}
	}
	twice := func(h http.Header) { h["Vary"], h["Set-Cookie"] = []string{"a", "b"}, []string{"c=1", "d=2"} }
	zipped := func(h http.Header) { h.Set("Content-Encoding", "gzip") }
	for _, row := range []struct {
		event   string
		handler http.HandlerFunc
		want    response
		why     string
	}{
		{fmt.Sprintf(byURL, "GET"), writes(nil, 0, "<p>"), response{StatusCode: 200, Headers: map[string]string{"Content-Type": "text/html; charset=utf-8", "Content-Length": "3"}, Body: "<p>"}, "a type is found"},
		{fmt.Sprintf(byURL, "GET"), writes(nil, 0, ""), response{StatusCode: 200, Headers: map[string]string{}}, "nothing"},
		{fmt.Sprintf(byURL, "GET"), writes(zipped, 0, "text"), response{StatusCode: 200, Headers: map[string]string{"Content-Encoding": "gzip", "Content-Length": "4"}, Body: "dGV4dA==", IsBase64Encoded: true}, "compressed"},
		{fmt.Sprintf(byURL, "GET"), writes(nil, 201, "\xff"), response{StatusCode: 201, Headers: map[string]string{"Content-Type": "text/plain; charset=utf-8", "Content-Length": "1"}, Body: "/w==", IsBase64Encoded: true}, "binary"},
		{fmt.Sprintf(byURL, "HEAD"), writes(nil, 0, "<p>"), response{StatusCode: 200, Headers: map[string]string{"Content-Type": "text/html; charset=utf-8", "Content-Length": "3"}}, "HEAD has no body"},
		{fmt.Sprintf(byURL, "OPTIONS"), writes(twice, 204, ""), response{StatusCode: 204, Headers: map[string]string{"Vary": "a, b"}, Cookies: []string{"c=1", "d=2"}}, "two values"},
		{fmt.Sprintf(byBalancer, "GET"), writes(twice, 404, ""), response{StatusCode: 404, StatusDescription: "404 Not Found", Headers: map[string]string{"Vary": "a, b", "Set-Cookie": "c=1, d=2"}}, "a balancer"},
		{fmt.Sprintf(byLists, "GET"), writes(twice, 404, ""), response{StatusCode: 404, StatusDescription: "404 Not Found", MultiValueHeaders: map[string][]string{"Vary": {"a", "b"}, "Set-Cookie": {"c=1", "d=2"}}}, "one with lists"},
	} {
		got, err := invoke(t, row.handler, row.event)
		if len(got.Cookies) == 0 {
			got.Cookies = nil
		}
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", row.why, err, got, row.want)
		}
	}
}

// An answer that cannot be sent is replaced by one that says so, which pages of other origins may
// read too. The gateway's size limit counts base64.
func TestLargestAnswers(t *testing.T) {
	const mb = 1 << 20
	for _, row := range []struct {
		event string
		body  []byte
		fits  bool
	}{
		{byURL, bytes.Repeat([]byte("a"), 5*mb), true},
		{byURL, bytes.Repeat([]byte("a"), 6*mb), false},
		{byURL, bytes.Repeat([]byte{0xff}, 4*mb), true},
		{byURL, bytes.Repeat([]byte{0xff}, 5*mb), false},
		{byBalancer, bytes.Repeat([]byte("a"), mb-1000), true},
		{byBalancer, bytes.Repeat([]byte("a"), mb), false},
	} {
		event := fmt.Sprintf(row.event, "GET")
		got, err := invoke(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "https://shop.example")
			w.Header().Set("ETag", `"a"`)
			_, _ = w.Write(row.body)
		}, event)
		must.Do(t, err)
		body := []byte(got.Body)
		if got.IsBase64Encoded {
			body, _ = base64.StdEncoding.DecodeString(got.Body)
		}
		if whole := bytes.Equal(body, row.body); whole != row.fits || (got.StatusCode == 200) != row.fits || got.Headers["Access-Control-Allow-Origin"] == "" {
			t.Errorf("%s, %d bytes: %d, the whole body: %v", event, len(row.body), got.StatusCode, whole)
		}
		if !row.fits && (!strings.Contains(got.Body, "ANSWER_TOO_LARGE") || got.Headers["Etag"] != "") {
			t.Errorf("%s: %v %.200s", event, got.Headers, got.Body)
		}
	}
}

// A panic is answered, and logged with its stack. Its value appears nowhere: it may be a customer's
// text.
func TestPanics(t *testing.T) {
	for _, row := range []struct {
		fault  any
		logged bool
	}{{"secret inside", true}, {http.ErrAbortHandler, false}} {
		var log bytes.Buffer
		panics := func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			panic(row.fault)
		}
		out, err := gateway.New(http.HandlerFunc(panics), slog.New(slog.NewTextHandler(&log, nil))).Invoke(t.Context(), fmt.Appendf(nil, byURL, "GET"))
		if err != nil || !bytes.Contains(out, []byte(`"statusCode":500`)) || bytes.Contains(out, []byte("secret")) || bytes.Contains(out, []byte("half")) {
			t.Errorf("%v: %v %s", row.fault, err, out)
		}
		if strings.Contains(log.String(), "gateway_test.TestPanics") != row.logged || strings.Contains(log.String(), "secret") {
			t.Errorf("%v: the log has %s", row.fault, log.String())
		}
	}
}

// A request's deadline is before that of its invocation, so that it can be answered.
func TestDeadline(t *testing.T) {
	end := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	var got time.Time
	handler := func(_ http.ResponseWriter, r *http.Request) { got, _ = r.Context().Deadline() }
	must.Get(gateway.New(http.HandlerFunc(handler), slog.New(slog.DiscardHandler)).Invoke(ctx, fmt.Appendf(nil, byURL, "GET")))(t)
	if left := end.Sub(got); left <= 0 || left > time.Second {
		t.Errorf("the request ends %v before its invocation", left)
	}
}
