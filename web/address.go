package web

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"sync"
)

// usualAddress is the address of a server if the request does not have it.
const usualAddress = "http://localhost:8080"

// addressOf returns the address by which a request reached the server. A Host header that is no
// valid host is replaced by the address of the connection.
func addressOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get(forwardedProto) == "https" {
		scheme = "https"
	}
	if isHost(r.Host) {
		return scheme + "://" + r.Host
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && isHost(local.String()) {
		return scheme + "://" + local.String()
	}
	return usualAddress
}

// forwardedProto is the header by which a proxy that ends TLS passes on the scheme of a request.
const forwardedProto = "X-Forwarded-Proto"

// hostForm is a host, perhaps with a port: a name or an IPv4 address, or an IPv6 address in
// brackets.
var hostForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[([0-9A-Fa-f:.]+)\])(?::([0-9]{1,5}))?$`) // takes 0.3 ms
})

// isHost reports whether a text is a host that a quoted word of a shell command can hold as it is.
func isHost(text string) bool {
	parts := hostForm().FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	if ip := parts[1]; ip != "" {
		if _, err := netip.ParseAddr(ip); err != nil {
			return false
		}
	}
	_, err := strconv.ParseUint(parts[2], 10, 16)
	return parts[2] == "" || err == nil
}
