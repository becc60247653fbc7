package episode

import (
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
)

// To returns a proxy to an engine, for processes and for clients whose transport is to meet real
// connections: calls that are refused or lose their answers see theirs reset, and those that are
// never answered wait as long as they will.
func (n *Network) To(engine *url.URL) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = engine.Scheme, engine.Host, ""
		response, err := n.do(out, math.MaxInt64)
		if err != nil {
			reset(w)
			return
		}
		defer func() { _ = response.Body.Close() }() // it was read, or the caller has left
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.StatusCode)
		_, _ = io.Copy(w, response.Body) // as far as the caller reads
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
