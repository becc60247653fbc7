package auth

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// FromHere reports whether this machine sent a request to itself, as far as the request tells.
func FromHere(r *http.Request) bool { return notHere(r) == "" }

// notHere returns why a request counts as one from elsewhere, or "" for one that this machine sent
// to itself. The sender's address alone is not enough: a proxy on this machine passes on requests
// from anywhere, and a browser on it sends those of other sites' pages, under host names of their
// own.
func notHere(r *http.Request) string {
	sender, err := netip.ParseAddrPort(r.RemoteAddr)
	switch {
	case err != nil || !sender.Addr().Unmap().IsLoopback():
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

// isForwarded reports whether a header says that a proxy passed the request on. Not all proxies do:
// see docs/design/auth.md.
func isForwarded(header http.Header) bool {
	for name := range header { // in canonical form
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// isLoopbackHost reports whether a host, perhaps with a port, means this machine: localhost,
// 127.0.0.0/8 or [::1].
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
