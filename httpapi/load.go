package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// withBody reads the body of a POST before anything is set aside for the request. So a client that sends a byte at a time
// holds no place among the requests in flight, and the time of the operation does not begin before it can be read.
func (o Options) withBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, refused := o.readAll(w, r)
		if refused != nil {
			refused.write(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// readAll reads a body up to the bound. One that says beforehand that it is larger is not begun.
func (o Options) readAll(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if r.ContentLength > int64(o.MaxBody) {
		return nil, bodyTooLarge.with(o.MaxBody)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(o.MaxBody)))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, bodyTooLarge.with(o.MaxBody)
	case err != nil:
		return nil, badEnd
	}
	return body, nil
}

// withPlace gives each request a place, or refuses it at once when none is free: a request that waits costs memory, and whoever
// sent it gives up before it is answered.
func (o Options) withPlace(next http.Handler) http.Handler {
	places := make(chan struct{}, o.MaxInFlight)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			next.ServeHTTP(w, r)
		default:
			overloaded.write(w)
		}
	})
}
