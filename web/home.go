package web

import (
	"bytes"
	"html"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"sync/atomic"
)

// usualAddress is the address in the commands of the home page as it is written, which each
// request's own replaces.
const usualAddress = "http://localhost:8080"

// home is the home page, whose commands name the server as the request does: what is copied from it
// works where it is read. Safe for concurrent use.
type home struct {
	content []byte
	last    atomic.Pointer[addressed] // nearly all ask by one address
}

// addressed is the home page for one address of the server.
type addressed struct {
	address string
	page    *asset
}

// at returns the page for a request.
func (h *home) at(r *http.Request) *asset {
	address := addressOf(r)
	if last := h.last.Load(); last != nil && last.address == address {
		return last.page
	}
	page, err := h.build(address)
	if err != nil {
		panic(err) // as little as at the start, when the page was built for the usual address
	}
	h.last.Store(&addressed{address, page})
	return page
}

func (h *home) build(address string) (*asset, error) {
	packed, err := pack(bytes.ReplaceAll(h.content, []byte(usualAddress), []byte(html.EscapeString(address))))
	if err != nil {
		return nil, err
	}
	page, err := newAsset("index.html", packed)
	if err != nil {
		return nil, err
	}
	page.policy, page.cache = homePolicy, mustAsk
	return page, nil
}

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

// forwardedProto is what a proxy that ends TLS says about the scheme that it was asked by.
const forwardedProto = "X-Forwarded-Proto"

// hostForm is a host, perhaps with a port: a name or an IPv4 address, or an IPv6 address in
// brackets.
var hostForm = regexp.MustCompile(`^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})|\[([0-9A-Fa-f:.]+)\])(?::([0-9]{1,5}))?$`)

// isHost tells whether a text is a host and can stand in a command as it is, quoted.
func isHost(text string) bool {
	parts := hostForm.FindStringSubmatch(text)
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
