package auth

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/talkback/talkback/comment"
)

// notHere is why a request counts as one from elsewhere, or empty for one that this machine sent to itself. Where it comes from
// does not suffice: a proxy on this machine passes on what comes from anywhere, and a page of another site reaches this
// machine under a name of its own from a browser that runs here.
func notHere(r *http.Request) string {
	switch {
	case !isLoopbackAddress(r.RemoteAddr):
		return "this request comes from another"
	case !isLoopbackHost(r.Host):
		return "this request asks for it by another name"
	case isForwarded(r.Header):
		return "a proxy passed this request on"
	case !r.ProtoAtLeast(1, 1):
		return "this request is HTTP/1.0, as proxies send it" // nginx does by default, and then adds no header
	}
	return ""
}

// isForwarded tells whether a proxy says that it passed a request on. Not all do: see docs/design/auth.md.
func isForwarded(header http.Header) bool {
	for name := range header { // in canonical form
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip", strings.HasPrefix(name, "X-Forwarded-"):
			return true
		}
	}
	return false
}

// isLoopbackAddress tells whether "127.0.0.1:1234" or the like is of this machine.
func isLoopbackAddress(address string) bool {
	parsed, err := netip.ParseAddrPort(address)
	return err == nil && parsed.Addr().Unmap().IsLoopback()
}

// isLoopbackHost tells whether a host, perhaps with a port, means this machine: localhost, 127.0.0.0/8 or [::1].
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if inside, bracketed := strings.CutPrefix(host, "["); bracketed {
		host = strings.TrimSuffix(inside, "]")
	}
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// refuseElsewhere is the error for a request that is not from here.
func refuseElsewhere(why string) error {
	return comment.Errorf(comment.Forbidden, "without tokens, only this machine may write, and %s: give the server tokens to accept (--moderator-token, or --jwt-algorithm with a key), or ask http://localhost itself", why)
}
