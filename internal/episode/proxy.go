package episode

import (
	"io"
	"math"
	"net"
	"net/http"
	"net/url"

	"github.com/talkback/talkback/internal/faulttest"
)

// To returns a proxy to an engine, for processes and for clients whose transport is to meet real
// connections: calls that are refused or lose their answers see theirs reset, and those that are
// never answered wait as long as they will.
func (n *Network) To(engine *url.URL) http.Handler { return Proxy(patient{n}, engine) }

// patient is a network whose callers give up by themselves.
type patient struct{ *Network }

// Do implements faulttest.HTTPClient.
func (p patient) Do(request *http.Request) (*http.Response, error) {
	return p.do(request, math.MaxInt64)
}

// Proxy returns a proxy to an engine that makes its calls by a client. Where that fails, the
// connection is reset.
func Proxy(client faulttest.HTTPClient, engine *url.URL) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = engine.Scheme, engine.Host, ""
		response, err := client.Do(out)
		if err != nil {
			reset(w)
			return
		}
		defer func() { _ = response.Body.Close() }() // it was read, or the caller has left
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		if response.ContentLength < 0 {
			w.Header().Del("Content-Length") // it was another body's
		}
		w.WriteHeader(response.StatusCode)
		if _, err := io.Copy(w, response.Body); err != nil {
			panic(http.ErrAbortHandler) // so that the caller sees that it is not whole
		}
	})
}

// reset breaks the connection of a caller without an answer.
func reset(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	connection, _, err := hijacker.Hijack()
	if err != nil {
		return // it is broken already
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset, where closing would send an end
	}
	_ = connection.Close()
}
