package episode

import (
	"io"
	"math"
	"net"
	"net/http"
	"net/url"

	"github.com/talkback/talkback/internal/faulttest"
)

// To returns a proxy to an engine, for processes and for clients that need real connections. A call
// that is refused or loses its answer sees its connection reset. One that is never answered waits
// until its caller leaves.
func (n *Network) To(engine *url.URL) http.Handler { return Proxy(patient{n}, engine) }

// patient is a network whose callers decide themselves when to give up.
type patient struct{ *Network }

// Do implements faulttest.HTTPClient.
func (p patient) Do(request *http.Request) (*http.Response, error) {
	return p.do(request, math.MaxInt64)
}

// Proxy returns a proxy that forwards calls to an engine through a client. If the client fails, the
// proxy resets the connection.
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
			w.Header().Del("Content-Length") // of the original body
		}
		w.WriteHeader(response.StatusCode)
		if _, err := io.Copy(w, response.Body); err != nil {
			panic(http.ErrAbortHandler) // so that the caller sees that the answer is cut
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
		_ = tcp.SetLinger(0) // closing then sends a reset instead of a FIN
	}
	_ = connection.Close()
}
