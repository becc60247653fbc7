package gateway

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// The largest answers, as JSON, that Lambda and a load balancer take.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
const (
	lambdaBytes   = 6 << 20
	balancerBytes = 1 << 20
)

// form is a form of events, and of the answers to them.
type form struct {
	request  func(payload []byte) (*http.Request, error)
	response func(*answer) any
	limit    int
}

// formOf returns the form of an event, or the error that it holds no HTTP request.
func formOf(payload []byte) (form, error) {
	var event struct {
		Version           string
		HTTPMethod        string
		MultiValueHeaders json.RawMessage
		RequestContext    struct {
			ELB  json.RawMessage
			HTTP struct{ Method string }
		}
	}
	err := json.Unmarshal(payload, &event)
	switch lists := len(event.MultiValueHeaders) > 0 && string(event.MultiValueHeaders) != "null"; {
	case err != nil:
		return form{}, noRequest(payload)
	case event.RequestContext.ELB != nil:
		return form{balanced, func(a *answer) any { return a.balanced(lists) }, balancerBytes}, nil
	case event.RequestContext.HTTP.Method != "":
		return form{requested, func(a *answer) any { return a.requested() }, lambdaBytes}, nil
	case event.HTTPMethod != "": // of a REST API, or of an HTTP API with format 1.0
		old := func([]byte) (*http.Request, error) { return nil, oldForm }
		return form{old, func(a *answer) any { return a.old() }, lambdaBytes}, nil
	}
	return form{}, noRequest(payload)
}

// requested is the request of a function URL, or of an HTTP API of API Gateway.
func requested(payload []byte) (*http.Request, error) {
	var event events.APIGatewayV2HTTPRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	r, err := newRequest(event.RequestContext.HTTP.Method, event.RawPath, event.RawQueryString, event.Body, event.IsBase64Encoded)
	if err != nil {
		return nil, err
	}
	r.Host = event.RequestContext.DomainName
	setHeaders(r, event.Headers)
	if len(event.Cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(event.Cookies, "; "))
	}
	hops := hopsOf(r.Header)
	source := event.RequestContext.HTTP.SourceIP
	if n := len(hops); n > 0 && hops[n-1] == source {
		hops = hops[:n-1]
	}
	arrive(r, source, hops)
	r.TLS = &tls.ConnectionState{} // there is no other way to these two
	return r, nil
}

// balanced is the request of a load balancer.
func balanced(payload []byte) (*http.Request, error) {
	var event events.ALBTargetGroupRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	r, err := newRequest(event.HTTPMethod, event.Path, rawQuery(event), event.Body, event.IsBase64Encoded)
	if err != nil {
		return nil, err
	}
	setHeaders(r, event.Headers)
	for name, values := range event.MultiValueHeaders {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	source, hops := "", hopsOf(r.Header)
	if n := len(hops); n > 0 {
		source, hops = hops[n-1], hops[:n-1]
	}
	arrive(r, source, hops)
	if r.Header.Get("X-Forwarded-Proto") == "https" {
		r.TLS = &tls.ConnectionState{}
	}
	return r, nil
}

// newRequest makes a request, without headers, as net/http does that read it from a connection.
func newRequest(method, path, query, body string, inBase64 bool) (*http.Request, error) {
	raw := []byte(body)
	if inBase64 {
		var err error
		if raw, err = base64.StdEncoding.DecodeString(body); err != nil {
			return nil, badBody
		}
	}
	address := escaped(path)
	if query != "" {
		address += "?" + query
	}
	target, err := url.ParseRequestURI(address)
	if err != nil {
		return nil, badHead
	}
	r, err := http.NewRequest(method, "/", bytes.NewReader(raw))
	if err != nil {
		return nil, badHead
	}
	r.URL, r.RequestURI = target, address
	return r, nil
}

// setHeaders gives a request headers of one value each. Lambda joined those that were given twice.
func setHeaders(r *http.Request, headers map[string]string) {
	for name, value := range headers {
		r.Header.Set(name, value)
	}
}

// rawQuery joins the parameters that a load balancer cut apart, and did not unescape. It keeps no
// order among their names.
func rawQuery(event events.ALBTargetGroupRequest) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(event.QueryStringParameters)) {
		pairs = append(pairs, name+"="+event.QueryStringParameters[name])
	}
	for _, name := range slices.Sorted(maps.Keys(event.MultiValueQueryStringParameters)) {
		for _, value := range event.MultiValueQueryStringParameters[name] {
			pairs = append(pairs, name+"="+value)
		}
	}
	return strings.Join(pairs, "&")
}

// escaped is a path as an address has it. Some gateways unescape it.
func escaped(path string) string {
	path = "/" + strings.TrimPrefix(path, "/")
	if _, err := url.PathUnescape(path); err != nil {
		return (&url.URL{Path: path}).EscapedPath()
	}
	return strings.NewReplacer("?", "%3F", "#", "%23").Replace(path)
}

const forwardedFor = "X-Forwarded-For"

// hopsOf lists the addresses that a request came through, the last one as the gateway wrote it.
func hopsOf(header http.Header) []string {
	lines := header.Values(forwardedFor)
	if len(lines) == 0 {
		return nil
	}
	hops := strings.Split(strings.Join(lines, ","), ",")
	for i := range hops {
		hops[i] = strings.TrimSpace(hops[i])
	}
	return hops
}

// nobody is the address of a client whose gateway tells none. All of them share one limit.
const nobody = "0.0.0.0:0"

// arrive lets a request look as if it came over a connection from the source: with that as its
// address, its host in its place, and in X-Forwarded-For what proxies in front of the gateway told.
func arrive(r *http.Request, source string, hops []string) {
	r.RemoteAddr = nobody
	if _, err := netip.ParseAddrPort(source); err == nil {
		r.RemoteAddr = source
	} else if address, err := netip.ParseAddr(strings.Trim(source, "[]")); err == nil {
		r.RemoteAddr = netip.AddrPortFrom(address, 0).String()
	}
	r.Header.Del(forwardedFor)
	if len(hops) > 0 {
		r.Header.Set(forwardedFor, strings.Join(hops, ", "))
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	r.Header.Del("Host")
}

// requested is the answer for a function URL or an HTTP API.
func (a *answer) requested() events.APIGatewayV2HTTPResponse {
	body, inBase64 := a.text()
	cookies := a.header.Values("Set-Cookie")
	joined := a.joined()
	delete(joined, "Set-Cookie")
	return events.APIGatewayV2HTTPResponse{StatusCode: a.status, Headers: joined, Body: body, IsBase64Encoded: inBase64, Cookies: cookies}
}

// old is the answer for a REST API, which takes no fields but these.
func (a *answer) old() events.APIGatewayProxyResponse {
	body, inBase64 := a.text()
	return events.APIGatewayProxyResponse{StatusCode: a.status, Headers: a.joined(), Body: body, IsBase64Encoded: inBase64}
}

// balanced is the answer for a load balancer, with lists of headers if the request had those: it
// ignores the other kind.
func (a *answer) balanced(lists bool) events.ALBTargetGroupResponse {
	body, inBase64 := a.text()
	response := events.ALBTargetGroupResponse{
		StatusCode: a.status, StatusDescription: fmt.Sprint(a.status, " ", http.StatusText(a.status)), Body: body, IsBase64Encoded: inBase64,
	}
	if lists {
		response.MultiValueHeaders = a.header
	} else {
		response.Headers = a.joined()
	}
	return response
}
