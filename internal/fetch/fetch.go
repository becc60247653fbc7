// Package fetch reads the URLs and files that operators configure. It bounds the size of both, and
// the time and the machines that a URL may lead to.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// maxRedirects bounds the redirects of one fetch.
const maxRedirects = 3

// maxHeaderBytes bounds the headers of an answer.
const maxHeaderBytes = 256 << 10

// Client fetches URLs. It is safe for concurrent use.
type Client struct {
	HTTP *http.Client
	// MaxBytes bounds an answer, after decompression.
	MaxBytes int64
}

// New returns a client with a timeout. It connects only to machines that allowed accepts, or to any
// if that is nil. It calls allowed after resolving names, so a name cannot lead where an address
// may not. With allowed it ignores the environment's proxy, which would resolve names itself.
func New(timeout time.Duration, maxBytes int64, allowed func(netip.Addr) bool) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes, transport.HTTP2 = maxHeaderBytes, Pings(timeout)
	if allowed != nil {
		transport.Proxy = nil
		dialer := net.Dialer{Timeout: timeout, Control: Control(allowed, func(to netip.Addr) error {
			return fmt.Errorf("it leads to %s, which is not a public address", to)
		})}
		transport.DialContext = dialer.DialContext
	}
	return &Client{&http.Client{Timeout: timeout, Transport: transport, CheckRedirect: CheckRedirect}, maxBytes}
}

// Pings returns settings that close an HTTP/2 connection which fell silent, some time after the
// requests on it timed out. Without them, all further requests would use it. A host that is busy
// for as long as the timeout does not count as silent.
func Pings(timeout time.Duration) *http.HTTP2Config {
	return &http.HTTP2Config{SendPingTimeout: timeout, PingTimeout: timeout}
}

// CheckRedirect allows redirects within the URL's origin. Redirects to another origin would extend
// trust to everyone who can create redirects on the host, and with plain HTTP to everyone on the
// network path.
func CheckRedirect(next *http.Request, before []*http.Request) error {
	first := before[0].URL
	switch {
	case next.URL.Scheme != first.Scheme || next.URL.Host != first.Host:
		return errElsewhere
	case len(before) > maxRedirects:
		return errOnAndOn
	}
	return nil
}

var (
	errElsewhere = errors.New("the address redirects to another host or scheme: give the address that it redirects to, if that is right")
	errOnAndOn   = errors.New("the address redirects too often: give the address at the end of the redirects")
)

// Answer is the answer to a fetch.
type Answer struct {
	Body        []byte
	ContentType string
	// Address is the URL of the answer, after redirects.
	Address *url.URL
}

// Get fetches a URL with headers. Errors do not contain the URL, which may hold a password.
func (c *Client) Get(ctx context.Context, address string, header http.Header) (Answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Answer{}, errors.New("it is no address")
	}
	if header != nil {
		request.Header = header
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Answer{}, withoutURL(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return Answer{}, fmt.Errorf("the answer is %d", response.StatusCode)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, response.Body, c.MaxBytes))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return Answer{}, fmt.Errorf("the answer has more than %d bytes, which is all that is read", c.MaxBytes)
	}
	if err != nil {
		return Answer{}, err
	}
	return Answer{body, response.Header.Get("Content-Type"), response.Request.URL}, nil
}

// withoutURL returns why a request got no answer; the error of net/http holds the URL too.
func withoutURL(err error) error {
	if asked, ok := errors.AsType[*url.Error](err); ok {
		err = asked.Err
	}
	for _, own := range []error{errElsewhere, errOnAndOn, context.Canceled} {
		if errors.Is(err, own) {
			return own
		}
	}
	var timeouts interface{ Timeout() bool }
	if errors.As(err, &timeouts) && timeouts.Timeout() {
		return err // it says how long that took
	}
	return errors.New(Failure(err))
}

// maxReason bounds the reason of a failed connection, in bytes. A certificate may name a thousand
// hosts.
const maxReason = 250

// Failure returns why a connection failed, without data from the other side: errors of net/http may
// contain the whole head of an answer.
func Failure(err error) string {
	reason := "its answer is not HTTP, or has too large a head"
	var connection *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &connection):
		reason = connection.Error()
	case errors.As(err, &certificate):
		reason = certificate.Error()
	case errors.Is(err, http.ErrSchemeMismatch):
		reason = "it speaks HTTP without TLS"
	case strings.Contains(err.Error(), "http2: client connection lost"): // this error has no type
		reason = "it fell silent"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		reason = "it closed the connection"
	}
	return strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
}
