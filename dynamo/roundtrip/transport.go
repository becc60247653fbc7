// Package roundtrip makes HTTP requests in the goroutine of their caller. net/http has two
// goroutines for each connection, which a request wakes and waits for.
package roundtrip

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"net/http"
	"net/url"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/sync/semaphore"
)

// Transport is an [http.RoundTripper] for HTTP/1.1 with the settings of an [http.Transport]. It
// leaves unusual requests to that: those through a proxy, and those whose body is large or cannot be
// sent twice. The body of an answer is read and closed by one goroutine at a time. It is safe for
// concurrent use.
type Transport struct {
	under *http.Transport
	tls   *tls.Config
	idle  *idle
	room  *semaphore.Weighted // for requests in progress
}

// largestBody is the largest body in bytes that is sent here. It fits into the buffers of a
// connection: a request is written before its answer is read, and a peer may answer early.
const largestBody = 64 << 10

// Of returns a transport with the settings of another one, or the other one itself if it dials in a
// way of its own or keeps no connections.
func Of(under *http.Transport) http.RoundTripper {
	if under.DialContext == nil || under.DialTLSContext != nil || under.DisableKeepAlives {
		return under
	}
	config := &tls.Config{}
	if under.TLSClientConfig != nil {
		config = under.TLSClientConfig.Clone()
	}
	config.NextProtos = []string{"http/1.1"}
	return &Transport{
		under: under, tls: config,
		idle: newIdle(cmp.Or(under.MaxIdleConnsPerHost, http.DefaultMaxIdleConnsPerHost), under.IdleConnTimeout),
		room: semaphore.NewWeighted(cmp.Or(int64(under.MaxConnsPerHost), math.MaxInt64)),
	}
}

// RoundTrip implements [http.RoundTripper]. As net/http does, it makes a request again only if the
// connection had closed while it was idle, and took nothing of the request.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !t.usual(request) {
		return t.under.RoundTrip(request)
	}
	if err := t.room.Acquire(request.Context(), 1); err != nil {
		_ = request.Body.Close() // never fails: it is in memory
		return nil, context.Cause(request.Context())
	}
	response, err := t.try(request)
	for errors.Is(err, errUnsent) {
		again := *request
		if again.Body, err = request.GetBody(); err == nil {
			response, err = t.try(&again)
		}
	}
	if err != nil {
		t.room.Release(1)
		return nil, err
	}
	return response, nil
}

// usual reports whether a request is made here. All others are net/http's to make or to refuse.
func (t *Transport) usual(request *http.Request) bool {
	if request.GetBody == nil || request.ContentLength <= 0 || request.ContentLength > largestBody ||
		request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return false
	}
	for name, values := range request.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return false
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return false
			}
		}
	}
	if t.under.Proxy == nil {
		return true
	}
	proxy, err := t.under.Proxy(request)
	return proxy == nil && err == nil
}

// try makes a request on one connection. The error is errUnsent if that was closed.
func (t *Transport) try(request *http.Request) (*http.Response, error) {
	ctx, to := request.Context(), placeOf(request.URL)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if c := t.idle.take(to); c != nil {
		return c.exchange(request)
	}
	c, err := t.connect(ctx, to)
	if err != nil {
		return nil, err
	}
	return c.exchange(request)
}

func placeOf(url *url.URL) place {
	switch {
	case url.Port() != "":
		return place{url.Scheme == "https", url.Host}
	case url.Scheme == "https":
		return place{true, net.JoinHostPort(url.Hostname(), "443")}
	}
	return place{false, net.JoinHostPort(url.Hostname(), "80")}
}

// connect makes a connection.
func (t *Transport) connect(ctx context.Context, to place) (*conn, error) {
	raw, err := t.under.DialContext(ctx, "tcp", to.address)
	if err != nil {
		return nil, err
	}
	c := &conn{to: to, timeout: t.under.ResponseHeaderTimeout, free: t.free, raw: raw, stream: raw, quiet: quietOf(raw)}
	if to.secure {
		c.below = &below{Conn: raw}
		if c.stream, err = t.handshake(ctx, c.below, to); err != nil {
			c.close()
			return nil, err
		}
	}
	c.reader = bufio.NewReaderSize(readingFrom{c}, cmp.Or(t.under.ReadBufferSize, usualBuffer))
	c.writer = bufio.NewWriterSize(writingTo{c}, cmp.Or(t.under.WriteBufferSize, usualBuffer))
	return c, nil
}

// free takes a connection back after a request. One that can be used again is kept.
func (t *Transport) free(c *conn, usable bool) {
	if usable {
		t.idle.put(c)
	} else {
		c.close()
	}
	t.room.Release(1)
}

// handshake makes a connection secure.
func (t *Transport) handshake(ctx context.Context, raw net.Conn, to place) (net.Conn, error) {
	config := t.tls
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(to.address)
		if err != nil {
			return nil, err
		}
		config = config.Clone()
		config.ServerName = host
	}
	if t.under.TLSHandshakeTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.under.TLSHandshakeTimeout)
		defer cancel()
	}
	secure := tls.Client(raw, config)
	return secure, secure.HandshakeContext(ctx)
}
