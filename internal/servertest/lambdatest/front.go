package lambdatest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// URL hands requests over as a function URL and an HTTP API do.
func (l *Lambda) URL() http.Handler { return Invoke(l.Invoke).URL() }

// Balancer hands requests over as an application load balancer does: see Invoke.Balancer.
func (l *Lambda) Balancer() http.Handler { return Invoke(l.Invoke).Balancer() }

// Invoke hands an event to a function, wherever that runs, and returns its answer.
type Invoke func(ctx context.Context, payload []byte) ([]byte, error)

// URL hands requests over as a function URL and an HTTP API do.
func (i Invoke) URL() http.Handler {
	return i.front(func(r *http.Request, source, body string, inBase64 bool) any {
		event := events.APIGatewayV2HTTPRequest{
			Version: "2.0", RawPath: r.URL.EscapedPath(), RawQueryString: r.URL.RawQuery,
			Headers: map[string]string{}, Cookies: r.Header.Values("Cookie"), Body: body, IsBase64Encoded: inBase64,
		}
		event.RequestContext.DomainName = r.Host
		event.RequestContext.HTTP.Method, event.RequestContext.HTTP.SourceIP = r.Method, source
		for name, values := range r.Header {
			if name != "Cookie" {
				event.Headers[strings.ToLower(name)] = strings.Join(values, ",")
			}
		}
		return event
	})
}

// Balancer hands requests over as an application load balancer does whose target group has
// multi-value headers.
func (i Invoke) Balancer() http.Handler {
	return i.front(func(r *http.Request, _, body string, inBase64 bool) any {
		event := events.ALBTargetGroupRequest{
			HTTPMethod: r.Method, Path: r.URL.EscapedPath(), MultiValueHeaders: map[string][]string{}, MultiValueQueryStringParameters: map[string][]string{},
			Body: body, IsBase64Encoded: inBase64, RequestContext: events.ALBTargetGroupRequestContext{ELB: events.ELBContext{TargetGroupArn: "arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/talkback"}},
		}
		for name, values := range r.Header {
			event.MultiValueHeaders[strings.ToLower(name)] = values
		}
		for pair := range strings.SplitSeq(r.URL.RawQuery, "&") {
			if name, value, _ := strings.Cut(pair, "="); pair != "" {
				event.MultiValueQueryStringParameters[name] = append(event.MultiValueQueryStringParameters[name], value)
			}
		}
		return event
	})
}

// response has what both forms of answers have.
type response struct {
	StatusCode        int
	Headers           map[string]string
	MultiValueHeaders map[string][]string
	Cookies           []string
	Body              string
	IsBase64Encoded   bool
}

// front answers requests by the function. As in front of Lambda, a function that fails is a 502.
func (i Invoke) front(event func(r *http.Request, source, body string, inBase64 bool) any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		source, _, _ := net.SplitHostPort(r.RemoteAddr)
		r.Header.Add("X-Forwarded-For", source)
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("Host", r.Host)
		body, inBase64 := string(raw), !utf8.Valid(raw)
		if inBase64 {
			body = base64.StdEncoding.EncodeToString(raw)
		}
		payload, err := json.Marshal(event(r, source, body, inBase64))
		if err == nil {
			payload, err = i(r.Context(), payload)
		}
		var answer response
		if err == nil {
			err = json.Unmarshal(payload, &answer)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		for name, value := range answer.Headers {
			w.Header().Set(name, value)
		}
		for name, values := range answer.MultiValueHeaders {
			w.Header()[name] = values
		}
		for _, cookie := range answer.Cookies {
			w.Header().Add("Set-Cookie", cookie)
		}
		content := []byte(answer.Body)
		if answer.IsBase64Encoded {
			if content, err = base64.StdEncoding.DecodeString(answer.Body); err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(content) // its client may be gone
	})
}
