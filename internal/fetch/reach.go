package fetch

import (
	"net/netip"
	"slices"
	"syscall"
)

// special are networks that the internet does not lead to, or that hide an address of another kind,
// beside those that package netip knows:
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

// shared are the addresses of carriers, which clusters of Kubernetes have for their own, too.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// metadata are where machines of AWS and of Alibaba Cloud ask for their credentials, within private networks.
// Others do so at link-local addresses.
var metadata = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200")}

// plain returns an address in its only form: no prefix contains an address with a zone.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// Control returns what a net.Dialer asks before it connects, and refuses addresses that are not allowed, by
// an error about each. It sees what a name resolved to for this very connection, so a name that resolves
// otherwise each time gains nothing.
func Control(allowed func(netip.Addr) bool, refused func(netip.Addr) error) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && !allowed(to.Addr()) {
			err = refused(to.Addr())
		}
		return err
	}
}

// Public reports whether an address is a machine on the internet.
func Public(a netip.Addr) bool {
	a = plain(a)
	return a.IsGlobalUnicast() && !a.IsPrivate() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// PublicOrInside reports whether an address is a machine on the internet, on a private network, or
// this machine. Machines tell their own credentials at link-local addresses, which are neither.
func PublicOrInside(a netip.Addr) bool {
	a = plain(a)
	inside := a.IsLoopback() || a.IsPrivate() || shared.Contains(a)
	return inside && !slices.Contains(metadata, a) || Public(a)
}
