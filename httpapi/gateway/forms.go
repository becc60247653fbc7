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
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// The largest answers, as JSON, that Lambda and a load balancer take.
// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html
const (
	lambdaBytes   = 6 << 20
	balancerBytes = 1 << 20
)

// form converts one form of events to requests, and answers to what Lambda returns for them.
type form struct {
	request  func(payload []byte) (*http.Request, error)
	response func(*answer) any
	limit    int
}

// formOf returns the form of an event, or the error that it holds no HTTP request.
func formOf(payload []byte) (form, error) {
	var event struct {
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

// requested returns the request in an event of a function URL, or of an HTTP API of API Gateway.
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
	r.TLS = &tls.ConnectionState{} // both accept HTTPS only
	return r, nil
}

// balanced returns the request in an event of a load balancer.
func balanced(payload []byte) (*http.Request, error) {
	var event events.ALBTargetGroupRequest
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	// The load balancer splits the parameters without unescaping them, and loses the order of their
	// names.
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(event.QueryStringParameters)) {
		pairs = append(pairs, name+"="+event.QueryStringParameters[name])
	}
	for _, name := range slices.Sorted(maps.Keys(event.MultiValueQueryStringParameters)) {
		for _, value := range event.MultiValueQueryStringParameters[name] {
			pairs = append(pairs, name+"="+value)
		}
	}
	r, err := newRequest(event.HTTPMethod, event.Path, strings.Join(pairs, "&"), event.Body, event.IsBase64Encoded)
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

// newRequest returns a request without headers, as net/http reads one from a connection.
func newRequest(method, path, query, body string, inBase64 bool) (*http.Request, error) {
	raw := []byte(body)
	if inBase64 {
		var err error
		if raw, err = base64.StdEncoding.DecodeString(body); err != nil {
			return nil, badBody
		}
	}
	address := "/" + strings.TrimPrefix(path, "/")
	if _, err := url.PathUnescape(address); err != nil { // some gateways unescape it
		address = (&url.URL{Path: address}).EscapedPath()
	} else {
		address = strings.NewReplacer("?", "%3F", "#", "%23").Replace(address)
	}
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

// setHeaders gives a request headers of one value each. Lambda joins the values of repeated
// headers.
func setHeaders(r *http.Request, headers map[string]string) {
	for name, value := range headers {
		r.Header.Set(name, value)
	}
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

// nobody is the address of all clients whose gateway passes none on. They share one limit.
const nobody = "0.0.0.0:0"

// arrive makes a request look as if it came over a connection from source. It sets the remote
// address and the host, and leaves the hops before the gateway in X-Forwarded-For.
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

// requested returns the answer in the form for a function URL or an HTTP API.
func (a *answer) requested() events.APIGatewayV2HTTPResponse {
	body, inBase64 := a.text()
	cookies := a.header.Values("Set-Cookie")
	joined := a.joined()
	delete(joined, "Set-Cookie")
	return events.APIGatewayV2HTTPResponse{StatusCode: a.status, Headers: joined, Body: body, IsBase64Encoded: inBase64, Cookies: cookies}
}

// old returns the answer in the form for a REST API, which takes no other fields.
func (a *answer) old() events.APIGatewayProxyResponse {
	body, inBase64 := a.text()
	return events.APIGatewayProxyResponse{StatusCode: a.status, Headers: a.joined(), Body: body, IsBase64Encoded: inBase64}
}

// balanced returns the answer in the form for a load balancer. It lists header values if the
// request did: the load balancer ignores the other form.
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

// answer collects an answer for Lambda. It implements [http.ResponseWriter] as net/http does over a
// connection.
type answer struct {
	header http.Header
	status int // 0 until it is known
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter]. The first status of 200 or more counts.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if _, typed := a.header["Content-Type"]; !typed && a.header.Get("Content-Encoding") == "" {
		a.header.Set("Content-Type", http.DetectContentType(p))
	}
	return a.body.Write(p)
}

// end completes an answer as net/http does: it adds headers, and drops a body that the method or
// the status forbids.
func (a *answer) end(method string) {
	a.WriteHeader(http.StatusOK)
	a.header.Del("Connection") // Lambda has none to a client
	if a.body.Len() > 0 && a.header.Get("Content-Length") == "" {
		a.header.Set("Content-Length", strconv.Itoa(a.body.Len()))
	}
	if method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		a.body.Reset()
	}
}

// refuse replaces the answer. It keeps the headers that let a page of another origin read it.
func (a *answer) refuse(r *refusal) {
	for name := range a.header {
		if name != "Vary" && name != "X-Request-Id" && !strings.HasPrefix(name, "Access-Control-") {
			a.header.Del(name)
		}
	}
	text, err := json.Marshal(map[string]any{"errors": []any{map[string]any{"message": r.message, "extensions": map[string]string{"code": r.code}}}})
	if err != nil {
		panic(err) // texts can always be encoded
	}
	a.header.Set("Content-Type", "application/json; charset=utf-8")
	a.header.Set("Cache-Control", "no-store")
	a.status = r.status
	a.body.Reset()
	a.body.Write(text)
}

// text returns the body as it is, or in base64 if it is compressed or not UTF-8.
func (a *answer) text() (body string, inBase64 bool) {
	if a.body.Len() == 0 || a.header.Get("Content-Encoding") == "" && utf8.Valid(a.body.Bytes()) {
		return a.body.String(), false
	}
	return base64.StdEncoding.EncodeToString(a.body.Bytes()), true
}

// joined returns the headers with one value each.
func (a *answer) joined() map[string]string {
	out := make(map[string]string, len(a.header))
	for name, values := range a.header {
		out[name] = strings.Join(values, ", ")
	}
	return out
}

// refusal is the answer to a request that no handler answers. It has the form of a GraphQL error.
type refusal struct {
	status        int
	code, message string
}

// Error implements error.
func (r *refusal) Error() string { return r.message }

var (
	badBody  = &refusal{http.StatusBadRequest, "BAD_REQUEST", "the body is not base64, though its event says so"}
	badHead  = &refusal{http.StatusBadRequest, "BAD_REQUEST", "the method or the address cannot be read: send a request of HTTP"}
	oldForm  = &refusal{http.StatusInternalServerError, "INTERNAL", "this function takes events of payload format 2.0: use a function URL, an HTTP API with that format, or an application load balancer"}
	panicked = &refusal{http.StatusInternalServerError, "INTERNAL", "something went wrong"}
	tooLarge = refusal{http.StatusInternalServerError, "ANSWER_TOO_LARGE", "the answer is larger than the %d MB that can be sent from here: ask for less at a time, such as smaller pages, and accept gzip"}
)

// noRequest is the error for an event that holds no HTTP request. It names the service that sent
// the event, if records of it do.
func noRequest(payload []byte) error {
	var event struct {
		Records []struct {
			Source string `json:"eventSource"`
		}
	}
	from := ""
	if err := json.Unmarshal(payload, &event); err == nil && len(event.Records) > 0 {
		from = fmt.Sprintf(" but comes from %.40q", event.Records[0].Source)
	}
	return fmt.Errorf("the event is no HTTP request%s: invoke this function by a function URL, by an HTTP API of API Gateway with payload format 2.0, or by an application load balancer; one that counts comments has TALKBACK_FUNCTION=count", from)
}
