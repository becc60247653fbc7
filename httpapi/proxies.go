package httpapi

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxy is the address or the network of proxies that are trusted. A client can send any header, so
// the server believes only what these proxies added.
type Proxy netip.Prefix

// UnmarshalText accepts an address or a network, such as 10.0.0.7 or 10.0.0.0/8. It refuses a
// network of all addresses: every client could then choose the address that it is taken for.
func (p *Proxy) UnmarshalText(text []byte) error {
	prefix, err := parseNetwork(string(text))
	if err != nil {
		return fmt.Errorf("%q is not an address or a network: give one such as 10.0.0.7 or 10.0.0.0/8", text)
	}
	if prefix.Bits() == 0 {
		return fmt.Errorf("%s is every address, and each client could choose its own: give the addresses of your proxies", text)
	}
	*p = Proxy(prefix)
	return nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		address, err := netip.ParseAddr(text)
		address = canonical(address)
		return netip.PrefixFrom(address, address.BitLen()), err
	}
	prefix, err := netip.ParsePrefix(text)
	if inSix := 128 - 32; err == nil && prefix.Addr().Is4In6() && prefix.Bits() >= inSix {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-inSix)
	}
	return prefix.Masked(), err
}

// String returns the network as UnmarshalText accepts it.
func (p Proxy) String() string { return netip.Prefix(p).String() }

// canonical returns an IPv4 address in IPv6 as IPv4, and drops the zone: addresses of other
// machines have none.
func canonical(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// Proxies are those whose X-Forwarded-For is believed. It may be empty.
type Proxies []Proxy

func (p Proxies) contain(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(n Proxy) bool { return netip.Prefix(n).Contains(a) })
}

// forwardedFor lists the addresses that a request came through: each proxy appends the one that it
// was asked from.
const forwardedFor = "X-Forwarded-For"

// Client returns the address of the client that sent a request: the last one that is no trusted
// proxy. A client may have made up everything before it in the header. Where the header ends, or
// has no address, the client is the last address before that. The result is invalid if the
// connection has no address, as with a Unix socket; the header is then ignored.
//
// The Forwarded header of RFC 7239 is ignored: a proxy that appends to one of the two headers
// passes the other on as the client wrote it.
func (p Proxies) Client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	last := canonical(peer.Addr())
	for _, hop := range slices.Backward(strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")) {
		if !p.contain(last) {
			break
		}
		address, err := parseHop(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		last = address
	}
	return last
}

// Unnamed reports whether a proxy that is not trusted may have sent a request: all its clients then
// count as one.
func (p Proxies) Unnamed(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && r.Header.Get(forwardedFor) != "" && !p.contain(canonical(peer.Addr()))
}

// parseHop parses an address. Some proxies add the port, and put IPv6 in brackets.
func parseHop(text string) (netip.Addr, error) {
	if withPort, err := netip.ParseAddrPort(text); err == nil {
		return canonical(withPort.Addr()), nil
	}
	if inside, bracketed := strings.CutPrefix(text, "["); bracketed {
		text = strings.TrimSuffix(inside, "]")
	}
	address, err := netip.ParseAddr(text)
	return canonical(address), err
}
