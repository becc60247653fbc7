package fetch

import (
	"net/netip"
	"slices"
	"syscall"
)

// special are networks that are not on the internet, or that embed an address of another kind, in
// addition to those that package netip knows:
// https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-.
var special = func() (all []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}()

// shared is the address range of carriers, which Kubernetes clusters also use internally.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// metadata are the addresses of metadata services of AWS and Alibaba Cloud inside private networks.
// Other services have link-local addresses.
var metadata = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200")}

// plain returns an address in its canonical form, without a zone: no prefix contains an address
// with one.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// Control returns a function for net.Dialer.Control that rejects addresses that are not allowed,
// with the error that refused returns. It checks the address resolved for this very connection, so
// a name that changes its address cannot bypass it.
func Control(allowed func(netip.Addr) bool, refused func(netip.Addr) error) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && !allowed(to.Addr()) {
			err = refused(to.Addr())
		}
		return err
	}
}

// Public reports whether an address belongs to a machine on the internet.
func Public(a netip.Addr) bool {
	a = plain(a)
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// PublicOrInside reports whether an address belongs to a machine on the internet or a private
// network, or to this machine. Link-local addresses, at which machines get their credentials, are
// neither.
func PublicOrInside(a netip.Addr) bool {
	a = plain(a)
	inside := a.IsLoopback() || a.IsPrivate() || shared.Contains(a)
	return inside && !slices.Contains(metadata, a) || Public(a)
}
